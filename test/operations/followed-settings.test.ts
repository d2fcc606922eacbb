/** What a running engine follows is compared with what is configured here: setting by setting, as far as it concerns the work at hand. */
import { describe, expect, it } from 'vitest';
import { configSchema } from '#src/config/schema.ts';
import type { FollowedSettings } from '#src/ledger/engine-presence.ts';
import { noOptions, type RunRecord } from '#src/ledger/runs.ts';
import {
  apartText,
  type DecidingStage,
  followedSettings,
  settingsApart,
  workOf,
} from '#src/operations/followed-settings.ts';

type Written = Parameters<typeof configSchema.parse>[0];
const followed = (written: Written): FollowedSettings => followedSettings(configSchema.parse(written));
const stages: readonly DecidingStage[] = ['take', 'read', 'guard', 'write'];

const apartOf = (engine: Written, here: Written, feed?: string, of = stages): readonly string[] =>
  settingsApart(followed(engine), followed(here), feed === undefined ? undefined : { feed, stages: of }).map(
    (one) => `${one.setting} ${one.engine} ${one.here}`,
  );

const loose = { guards: { updatesMax: '30%' } };
const tight = { guards: { updatesMax: '5%' } };

describe('the settings of a running engine', () => {
  it('are those that decide what is written or stopped, as they are written, and no secret of an address', () => {
    const take = 'https://files.example.com/crm.csv?token=s3cret';
    const settings = followed({ feeds: { crm: { take, guards: { deadMax: '2%' } }, quiet: {} }, download: {} });
    expect(settings.general).toMatchObject({
      ...{ 'guards.updatesMax': '30%', 'mapping.defaultCountry': null, 'upsert.itemRemoval': 'owned' },
    });
    expect(Object.keys(settings.general).some((key) => /^(?:service|page|notify|queue|ledger|data)\./.test(key))).toBe(
      false,
    );
    expect(settings.ofAnyFeed).toMatchObject({ take: null, kind: 'full', onMissing: 'report', adopt: false });
    expect(settings.ofFeeds).toEqual({
      crm: { take: 'https://files.example.com/crm.csv?********', 'guards.deadMax': '2%' },
    });
    expect(JSON.stringify(settings)).not.toContain('s3cret');
  });

  it('differ by setting, with both values; what nothing is decided by is left out', () => {
    expect(apartOf(loose, tight)).toEqual(['guards.updatesMax 30% 5%']);
    expect(apartOf(loose, { ...loose, page: { port: 81 }, log: { level: 'debug' } })).toEqual([]);
    expect(apartOf({ mapping: { defaultCountry: 'DE' } }, {})).toEqual(['mapping.defaultCountry DE null']);
    expect(apartOf({ upsert: { itemRemoval: 'none' } }, {})).toEqual(['upsert.itemRemoval none owned']);
    const [before, after] = ['report', 'clear role'].map((onMissing) => ({ feeds: { crm: { onMissing } } }));
    expect(apartOf(before ?? {}, after ?? {})).toEqual(['feeds.crm.onMissing report clear role']);
  });

  it('concern a feed as they count for it: its own limit takes the place of the general one', () => {
    const own = { feeds: { crm: { guards: { updatesMax: '10%' } }, constructor: {} } };
    expect(apartOf({ ...loose, ...own }, { ...tight, ...own }, 'crm')).toEqual([]);
    expect(apartOf({ ...loose, ...own }, { ...tight, ...own }, 'constructor')).toEqual(['guards.updatesMax 30% 5%']);
    expect(apartOf(loose, { ...loose, ...own }, 'crm')).toEqual(['feeds.crm.guards.updatesMax 30% 10%']);
    expect(apartOf(loose, { ...loose, ...own }, 'main')).toEqual([]);
    expect(apartOf({}, { mapping: { file: '/m.yaml' } }, 'main')).toEqual(['mapping.file null /m.yaml']);
    expect(apartOf({}, { mapping: { file: '/m.yaml' } }, 'crm')).toEqual([]);
  });

  it('concern a command as far as its work is not done by then', () => {
    const moved = {
      ...tight,
      mapping: { defaultCountry: 'DE' },
      feeds: { crm: { source: 'b', onGone: 'recreate' } },
    } as const;
    expect(apartOf(loose, moved, 'crm', ['write'])).toEqual(['feeds.crm.onGone skip recreate']);
    expect(apartOf(loose, moved, 'crm', ['guard'])).toEqual(['guards.updatesMax 30% 5%']);
    expect(apartOf(loose, moved, 'crm', ['take'])).toEqual(['feeds.crm.source null b']);
  });

  it('of an older or newer version are compared as far as both know them', () => {
    const here = followed(tight);
    const { 'guards.updatesMax': _, ...general } = followed(loose).general;
    const engine = {
      general: { ...general, 'guards.newMax': '1%' },
      ofAnyFeed: {},
      ofFeeds: { crm: { kind: 'delta' } },
    };
    expect(settingsApart(engine, here)).toEqual([{ setting: 'feeds.crm.kind', engine: 'delta', here: 'full' }]);
  });

  it('are said in one sentence, and a long list is cut, with a count', () => {
    expect(apartText([])).toBeNull();
    expect(apartText(settingsApart(followed(loose), followed(tight)))).toBe(
      'the running engine follows guards.updatesMax 30%, here it is 5%: restart it to follow the new one',
    );
    const many = { guards: { updatesMax: '5%', createsMax: '5%', deadMax: '1%' }, mapping: { defaultCountry: 'DE' } };
    expect(apartText(settingsApart(followed({}), followed(many)))).toMatch(
      /^the running engine follows .+; .+; .+; and 1 more: restart it to follow the new ones$/,
    );
  });
});

describe('one value', () => {
  const ofFeed = (name: string, engine: unknown, here: unknown): readonly string[] =>
    apartOf({ feeds: { crm: { [name]: engine } } } as Written, { feeds: { crm: { [name]: here } } } as Written);

  it('is the same in whichever way it is written', () => {
    const hosts = (...names: string[]) => ({ download: { hosts: names } });
    expect(apartOf(hosts('a.example.com', 'b.example.com'), hosts('b.example.com', 'a.example.com'))).toEqual([]);
    expect(apartOf(hosts('a.example.com'), hosts('b.example.com'))).toHaveLength(1);
    expect(ofFeed('onMissing', 'clear role, phones', 'clear  phones,role')).toEqual([]);
    expect(ofFeed('onMissing', 'clear role', 'clear role, phones')).toHaveLength(1);
    expect(ofFeed('onMissing', 'tag role=left', 'tag role = left')).toEqual([]);
    expect(ofFeed('onMissing', 'tag role=left', 'tag role=gone')).toHaveLength(1);
    expect(ofFeed('take', 'https://h.example.com/x', 'HTTPS://H.example.com:443/x')).toEqual([]);
    expect(ofFeed('take', 'https://h.example.com/x', 'https://h.example.com/X')).toHaveLength(1);
    expect(ofFeed('take', 'drop/a.csv', 'drop/A.csv')).toHaveLength(1);
  });
});

describe('what decides about a run', () => {
  const work = (parts: Partial<RunRecord>, options: Partial<RunRecord['options']> = {}) =>
    workOf({
      feed: 'crm',
      kind: 'file',
      state: 'queued',
      mapping: null,
      options: { ...noOptions, ...options },
      ...parts,
    } as RunRecord);

  it('follows from what is still to be done of it', () => {
    expect(work({})).toMatchObject({ feed: 'crm', stages: ['read', 'guard', 'write'] });
    expect(work({}, { accept: true }).stages).toEqual(['read', 'write']);
    expect(work({ state: 'stopped' }).stages).toEqual(['write']);
    expect(work({ kind: 'held', state: 'applying' }).stages).toEqual(['write']);
    expect(work({ kind: 'undo' }).stages).toEqual(['guard', 'write']);
    expect(work({ kind: 'redrive' }, { remap: true }).stages).toEqual(['read', 'write']);
    expect(work({ kind: 'redrive' }).stages).toEqual(['write']);
  });

  const apartFor = (about: ReturnType<typeof work>, here: Written): readonly string[] =>
    settingsApart(followed({}), followed(here), about).map(({ setting }) => setting);

  it('is not what the command or the mapping says itself', () => {
    const here = {
      mapping: { defaultCountry: 'DE', onBlank: 'clear' },
      feeds: { crm: { onGone: 'recreate', adopt: true } },
      guards: { adoptionsMax: '1%' },
    } as const;
    expect(apartFor(work({}), here)).toHaveLength(5);
    const mappingGiven = { defaultCountry: 'DE', onBlank: 'clear' } as const;
    expect(apartFor(work({}, mappingGiven), here)).toEqual([
      'guards.adoptionsMax',
      'feeds.crm.adopt',
      'feeds.crm.onGone',
    ]);
    expect(apartFor(work({}, { ...mappingGiven, onGone: 'skip', adopt: true }), here)).toEqual([]);
    expect(apartFor(work({}, { ...mappingGiven, updateOnly: true, adopt: true }), here)).toEqual([]);
  });

  it('is no limit below the share that the command lets pass', () => {
    const here = { guards: { updatesMax: '60%', createsMax: '95%', deadMax: '8%', lossesMax: '10%' } };
    expect(apartFor(work({}), here)).toHaveLength(4);
    expect(apartFor(work({}, { maxChange: 0.9 }), here)).toEqual([
      'guards.createsMax',
      'guards.deadMax',
      'guards.lossesMax',
    ]);
    expect(apartFor(work({}, { maxChange: 0.95, maxDead: 0.2 }), here)).toEqual([]);
    expect(apartFor(work({}, { maxChange: 0.95, maxDead: 0.1 }), here)).toEqual(['guards.lossesMax']);
  });

  it('is no guard that asks nothing of it', () => {
    const guards = { rowsMin: '10%', keysFloor: 3, strangersRows: 5, olderRows: 7, deadMax: '1%', clearsFloor: 4 };
    const all = Object.keys(guards).map((name) => `guards.${name}`);
    const without = (...names: string[]) => all.filter((key) => !names.includes(key)).toSorted();
    const of = (about: ReturnType<typeof work>) => apartFor(about, { guards }).toSorted();
    expect(of(work({}))).toEqual(without('guards.olderRows'));
    expect(of(work({ feed: 'main' }))).toEqual(without('guards.rowsMin', 'guards.keysFloor'));
    expect(of(work({ kind: 'undo' }))).toEqual(['guards.clearsFloor']);
  });

  it('is what becomes of missing people where they are listed; a tag, also where people are back', () => {
    const here = (onMissing: string) => ({ feeds: { crm: { onMissing } } });
    expect(apartFor(work({}), here('clear role'))).toEqual(['feeds.crm.onMissing']);
    expect(apartFor(work({ kind: 'fixFile' }), here('clear role'))).toEqual([]);
    expect(apartFor(work({ kind: 'fixFile' }), here('tag role=left'))).toEqual(['feeds.crm.onMissing']);
    expect(apartFor(work({ kind: 'fixFile' }), { feeds: { crm: { kind: 'delta' } } })).toEqual([]);
    expect(apartFor(work({}), { feeds: { crm: { kind: 'delta' } } })).toEqual(['feeds.crm.kind']);
  });
});
