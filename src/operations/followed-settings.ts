/**
 * The settings that decide what is written and what is stopped. An engine follows those that it was started with; a command that hands work to
 * it, `status` and `doctor` compare them with their own, and say where they differ. Pure.
 *
 * What a command decides itself (the mapping and the label of the file that it hands over) is compared only where the engine takes the file.
 */
import { writtenIn } from '#src/config/document.ts';
import { isUrl, readOnMissing } from '#src/config/feed-schema.ts';
import { parsePercentage } from '#src/config/forms.ts';
import type { Config } from '#src/config/schema.ts';
import { feedGroup, type Setting, settings, settingsOf } from '#src/config/settings.ts';
import type { FollowedSettings, WrittenSettings } from '#src/ledger/engine-presence.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { namesCountry } from '#src/runs/supply.ts';

/** When a setting decides: which file is taken and how, how its rows are read, whether the run stops before its first write, what is written. */
export type DecidingStage = 'take' | 'read' | 'guard' | 'write';

/** Guards that watch a run while it is applied. */
const applyingGuards = ['guards.adoptionsMax', 'guards.adoptionsFloor', 'guards.refusalsMax'];

const ofAll: Readonly<Record<string, DecidingStage>> = {
  'mapping.defaultCountry': 'read',
  'mapping.onBlank': 'read',
  'mapping.file': 'take',
  'upsert.itemRemoval': 'write',
  'upsert.attemptsMax': 'write',
  'download.hosts': 'take',
  'download.privateAddresses': 'take',
  'download.bytesMax': 'take',
  'download.timeout': 'take',
};

const ofFeed: Readonly<Record<string, DecidingStage>> = {
  take: 'take',
  mapping: 'take',
  source: 'take',
  authorization: 'take',
  kind: 'read',
  onMissing: 'read',
  adopt: 'write',
  onGone: 'write',
};

/** @param name without its feed. Null: it decides nothing about contacts. */
function stageOf(name: string, stages: Readonly<Record<string, DecidingStage>>): DecidingStage | null {
  if (name.startsWith('guards.')) return applyingGuards.includes(name) ? 'write' : 'guard';
  return Object.hasOwn(stages, name) ? (stages[name] ?? null) : null;
}

/** What an engine that is started with this configuration follows. */
export function followedSettings(config: Config): FollowedSettings {
  const general = settings.filter(({ key }) => stageOf(key, ofAll) !== null);
  const ofAnyFeed = Object.fromEntries(
    settingsOfFeed('NAME').flatMap(([name, { defaultInput }]) => (isGuard(name) ? [] : [[name, defaultInput]])),
  );
  const ofFeeds = Object.keys(config.feeds).flatMap((feed) => {
    const own = settingsOfFeed(feed).flatMap(([name, setting]) => {
      const value = writtenIn(config, setting);
      const isDefault = !isGuard(name) && isSame(name, value, ofAnyFeed[name]);
      return value === undefined || isDefault ? [] : [[name, value] as const];
    });
    return own.length === 0 ? [] : [[feed, Object.fromEntries(own)] as const];
  });
  return {
    general: Object.fromEntries(general.map((setting) => [setting.key, writtenIn(config, setting) ?? null])),
    ofAnyFeed,
    ofFeeds: Object.fromEntries(ofFeeds),
  };
}

const isGuard = (name: string): boolean => name.startsWith('guards.');

function settingsOfFeed(feed: string): readonly (readonly [string, Setting])[] {
  return settingsOf(feedGroup(feed)).flatMap((setting) => {
    const name = setting.path.slice(2).join('.');
    return stageOf(name, ofFeed) === null ? [] : [[name, setting] as const];
  });
}

/** A setting of which the engine follows another value than the one that is configured here; both as they are written. */
export interface SettingApart {
  readonly setting: string;
  readonly engine: Value;
  readonly here: Value;
}

type Value = WrittenSettings[string];

/** Which settings count. Without it: all, of every feed. */
export interface WorkAtHand {
  readonly feed: string;
  readonly stages: readonly DecidingStage[];
  /** What the command says itself, by key; and what nothing asks of such work. */
  readonly given?: readonly string[];
  /** Shares that the command lets pass, by the key of the limit: what is below makes no difference. */
  readonly raised?: Readonly<Record<string, number>>;
  /** People who are missing are neither listed nor cleared; those who are back lose their tag all the same. */
  readonly isWithoutMissing?: boolean;
}

/** In the order of the configuration, those of feeds last. A setting that one of both versions does not know is no difference. */
export function settingsApart(
  engine: FollowedSettings,
  here: FollowedSettings,
  about?: WorkAtHand,
): readonly SettingApart[] {
  const counts = (name: string, stages: Readonly<Record<string, DecidingStage>>): boolean => {
    const stage = stageOf(name, stages);
    return (
      stage !== null && (about === undefined || (about.stages.includes(stage) && about.given?.includes(name) !== true))
    );
  };
  const general = Object.keys(here.general)
    // `mapping.file` is about `main`, and guards of a feed take the place of these.
    .filter((key) => counts(key, ofAll) && (key !== 'mapping.file' || (about?.feed ?? mainFeed) === mainFeed))
    .filter((key) => about === undefined || !isGuard(key) || !hasOwn(engine, here, about.feed, key))
    .flatMap((key) => apart(key, key, [engine.general[key], here.general[key]], about));
  const feeds =
    about === undefined ? [...new Set([engine, here].flatMap(({ ofFeeds }) => Object.keys(ofFeeds)))] : [about.feed];
  const ofOne = (feed: string) => apartOfFeed([engine, here], feed, (name) => counts(name, ofFeed), about);
  return [...general, ...feeds.flatMap(ofOne)];
}

function apartOfFeed(
  [engine, here]: readonly [FollowedSettings, FollowedSettings],
  feed: string,
  counts: (name: string) => boolean,
  about: WorkAtHand | undefined,
): readonly SettingApart[] {
  const valuesOf = (name: string) => [valueFor(engine, feed, name), valueFor(here, feed, name)] as const;
  const names = new Set([...Object.keys(here.ofAnyFeed), ...Object.keys(here.general).filter(isGuard)]);
  return [...names]
    .filter((name) => counts(name) && (!isGuard(name) || hasOwn(engine, here, feed, name)))
    .flatMap((name) => apart(`feeds.${feed}.${name}`, name, valuesOf(name), about));
}

/** Whether the feed says it itself, on one of both sides. */
function hasOwn(engine: FollowedSettings, here: FollowedSettings, feed: string, name: string): boolean {
  return [engine, here].some((side) => ownOf(side, feed)[name] !== undefined);
}

function valueFor(side: FollowedSettings, feed: string, name: string): Value | undefined {
  return ownOf(side, feed)[name] ?? (isGuard(name) ? side.general : side.ofAnyFeed)[name];
}

/** A feed may be called `constructor`. */
function ownOf({ ofFeeds }: FollowedSettings, feed: string): WrittenSettings {
  return Object.hasOwn(ofFeeds, feed) ? (ofFeeds[feed] ?? {}) : {};
}

/** @param name without its feed. */
function apart(
  setting: string,
  name: string,
  [engine, here]: readonly [Value | undefined, Value | undefined],
  about: WorkAtHand | undefined,
): readonly SettingApart[] {
  if (engine === undefined || here === undefined || isSame(name, engine, here)) return [];
  return about !== undefined && isSameFor(about, name, [engine, here]) ? [] : [{ setting, engine, here }];
}

/** Whether the work ends alike by both values. */
function isSameFor(
  { raised = {}, isWithoutMissing = false }: WorkAtHand,
  name: string,
  values: readonly Value[],
): boolean {
  const share = raised[name];
  if (share !== undefined) return values.every((value) => (parsePercentage(`${value}`) ?? 1) <= share);
  return name === 'onMissing' && isWithoutMissing && values.every((value) => readOnMissing(`${value}`)?.kind !== 'tag');
}

function isSame(name: string, left: Value | undefined, right: Value | undefined): boolean {
  return JSON.stringify(meaningOf(name, left)) === JSON.stringify(meaningOf(name, right));
}

/** One for all ways to write a value. */
function meaningOf(name: string, value: Value | undefined): unknown {
  if (Array.isArray(value)) return [...new Set(value)].toSorted();
  if (typeof value !== 'string') return value;
  if (name === 'take') return isUrl(value) ? (URL.parse(value)?.href ?? value) : value;
  if (name !== 'onMissing') return value;
  const rule = readOnMissing(value);
  return rule?.kind === 'clear' ? [...new Set(rule.fields)].toSorted() : (rule ?? value);
}

/** What decides about what a schedule takes: the engine takes the files, reads them and writes. */
export function workOfTake(feed: string): WorkAtHand {
  return { feed, stages: ['take', 'read', 'guard', 'write'], given: guardsNotAsked({ feed, kind: 'file' }) };
}

/** What decides about a run that was handed over, as it was entered or approved. */
export function workOf({ feed, kind, state, options, mapping }: RunRecord): WorkAtHand {
  const { accept, remap, defaultCountry, onBlank, onGone, updateOnly, adopt, maxChange, maxDead } = options;
  const isRead = state === 'queued' || state === 'staging';
  const isOfFile = kind === 'file' || kind === 'fixFile';
  const stages: readonly DecidingStage[] = [
    ...(isRead && (isOfFile || (kind === 'redrive' && remap)) ? (['read'] as const) : []),
    ...(isRead && !accept && (kind === 'file' || kind === 'undo') ? (['guard'] as const) : []),
    'write',
  ];
  const given = [
    ...(defaultCountry === null && !namesCountry(mapping) ? [] : ['mapping.defaultCountry']),
    ...(onBlank === null && mapping === null ? [] : ['mapping.onBlank']),
    ...(onGone === null && !updateOnly ? [] : ['onGone']),
    ...(adopt ? ['adopt', 'guards.adoptionsMax', 'guards.adoptionsFloor'] : []),
    ...(kind === 'file' ? [] : ['kind']),
    ...guardsNotAsked({ feed, kind }),
  ];
  const raised = { ...raisedTo(maxChange, changeLimits), ...raisedTo(maxDead, deadLimits) };
  return { feed, stages, given, raised, isWithoutMissing: kind !== 'file' };
}

const changeLimits = ['guards.updatesMax', 'guards.createsMax', 'guards.clearsMax'];
const deadLimits = ['guards.deadMax', 'guards.lossesMax'];

function raisedTo(share: number | null, limits: readonly string[]): Readonly<Record<string, number>> {
  return share === null ? {} : Object.fromEntries(limits.map((limit) => [limit, share]));
}

const comparisonGuards = ['guards.rowsMin', 'guards.rowsFloor', 'guards.keysMin', 'guards.keysFloor'];

/** Files of `main` are compared with no file before, and those of other feeds are older whatever their rows; an undo changes contacts, and has no file. */
function guardsNotAsked({ feed, kind }: Pick<RunRecord, 'feed' | 'kind'>): readonly string[] {
  if (kind === 'undo') {
    const isAsked = (key: string) => applyingGuards.includes(key) || /^guards\.(?:updates|creates|clears)/.test(key);
    return settings.flatMap(({ key }) => (isGuard(key) && !isAsked(key) ? [key] : []));
  }
  return feed === mainFeed ? comparisonGuards : ['guards.olderRows'];
}

const namedMax = 3;

/** What to say of them in one sentence; null where there are none. A long list is cut, with a count. */
export function apartText(all: readonly SettingApart[]): string | null {
  if (all.length === 0) return null;
  const named = all
    .slice(0, namedMax)
    .map(({ setting, engine, here }) => `${setting} ${settingText(engine)}, here it is ${settingText(here)}`);
  const more = all.length > namedMax ? [`and ${all.length - namedMax} more`] : [];
  const ones = all.length === 1 ? 'the new one' : 'the new ones';
  return `the running engine follows ${[...named, ...more].join('; ')}: restart it to follow ${ones}`;
}

export function settingText(value: Value): string {
  if (value === null || value === '') return 'none';
  if (typeof value !== 'object') return `${value}`;
  return value.length === 0 ? 'none' : value.join(', ');
}
