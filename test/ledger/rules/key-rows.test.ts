/** What changes of a key mean for its rows, without a database. */
import { describe, expect, it } from 'vitest';
import { nobodyOwns } from '#src/contacts/base.ts';
import { bound } from '#src/ledger/rules/contact.ts';
import {
  atHand,
  changed,
  changedKnown,
  contactRecord,
  journalRow,
  type KeyAtHand,
  memoryOf,
  withMovedSaid,
  withSaid,
  writesOf,
} from '#src/ledger/rules/key-rows.ts';
import type { KeyRows } from '#src/ledger/tables/keys.ts';
import { boundTo, claimBy, hash, owned, saidOfKey } from '#test/contracts/support/build.ts';

const lease = { owner: 'w1', untilMs: 500 };
const horizon = { atMs: 900, spanMs: 400 };
const settledSaid = { rowHash: hash('row'), fingerprint: hash('print'), mappingVersion: 'm1', held: [] };

/** As they are read again after they were written. */
function written(after: KeyAtHand, before: KeyRows | undefined = undefined): KeyRows {
  const writes = writesOf(new Map(before === undefined ? [] : [[after.key, before]]), [after]);
  const flight = writes.landed.length > 0 ? null : (writes.flights[0] ?? before?.flight ?? null);
  const feeds = new Set(writes.known.map(({ feed }) => feed));
  const kept = (before?.known ?? []).filter(({ feed }) => !feeds.has(feed));
  return { contact: writes.contacts[0] ?? before?.contact ?? null, flight, known: [...kept, ...writes.known] };
}

const settledKey = (): KeyRows => {
  const answered = bound(boundTo('k1', { owned: owned('+1') }), { runSequence: 3, atMs: 7 }, null);
  const end = changed(changed(atHand('k1', undefined), { lease }), { ...answered, lease: null });
  return written(withSaid(end, 'crm', 3, { ...settledSaid, said: saidOfKey('k1') }));
};

describe('a key', () => {
  it('that is leased and given back leaves no row', () => {
    const leased = written(changed(atHand('k1', undefined), { lease }));
    expect(leased).toMatchObject({ contact: null, flight: { owner: 'w1', leaseUntilMs: 500 } });
    const given = changed(atHand('k1', leased), { lease: null });
    expect(writesOf(new Map([['k1', leased]]), [given])).toMatchObject({ contacts: [], flights: [], landed: ['k1'] });
  });

  it('flies on as long as a write of it may land, whoever holds it', () => {
    const intent = { state: 'intent', horizon, intentRun: 'r1', owned: owned('+1'), claim: claimBy('crm', 3) } as const;
    const intended = changed(changed(atHand('k1', undefined), { lease }), intent);
    const doubtful = written(changed(intended, { lease: null }));
    expect(doubtful).toMatchObject({ contact: null, flight: { owner: null, horizonAtMs: 900, horizonSpanMs: 400 } });
    expect(contactRecord(atHand('k1', doubtful))).toMatchObject({ state: 'intent', owned: owned('+1') });
  });

  it('is at rest once it is settled: its contact has all, and only what the feed needs is known', () => {
    const rows = settledKey();
    expect(rows.flight).toBeNull();
    expect(rows.contact).toMatchObject({ state: 'bound', contactId: 'id-of-k1', boundRun: 3, boundAtMs: 7 });
    expect(rows.known).toEqual(
      [...[{ feed: 'crm', key: 'k1', rowHash: hash('row'), fingerprint: hash('print'), tried: null }]].map((known) => ({
        ...known,
        sequence: 3,
        spoken: 3,
        heldCount: 0,
      })),
    );
    expect(memoryOf(atHand('k1', rows))).toMatchObject({ owned: owned('+1'), saids: [{ feed: 'crm' }] });
  });

  it('owns what a write claimed only when that has landed', () => {
    const before = settledKey();
    const claim = { lease, owned: owned('+1', '+2'), claim: claimBy('crm', 4), horizon };
    const flying = written(changed(atHand('k1', before), claim), before);
    expect(contactRecord(atHand('k1', flying)).owned).toEqual(owned('+1', '+2'));
    expect(memoryOf(atHand('k1', flying)).owned).toEqual(owned('+1'));
    const taken = changed(atHand('k1', flying), { owned: owned('+1'), claim: null, horizon: null });
    const rest = changed(taken, { lease: null });
    // Nothing is written of a contact that is as it was.
    expect(writesOf(new Map([['k1', flying]]), [rest])).toMatchObject({ contacts: [], landed: ['k1'] });
  });

  it('that counts a doubt flies on without an owner', () => {
    const doubted = changed(changed(atHand('k1', undefined), { lease }), { attempts: 1 });
    expect(changed(doubted, { lease: null }).flight).toMatchObject({ owner: null, attempts: 1 });
    expect(changed(doubted, { lease: null, attempts: 0 }).flight).toBeNull();
  });
});

describe('what a feed knows', () => {
  it('keeps its hashes where another feed’s write moved what it said, unless its row must be looked at again', () => {
    const rows = atHand('k1', settledKey());
    const moved = { feed: 'crm', said: saidOfKey('moved'), sequence: null };
    expect(withMovedSaid(rows, { ...moved, looksAgain: false }).known).toMatchObject([
      { rowHash: hash('row'), sequence: 3 },
    ]);
    const again = withMovedSaid(rows, { ...moved, looksAgain: true, sequence: 9 });
    expect(again.known).toMatchObject([{ rowHash: null, fingerprint: null, sequence: 9, spoken: 9 }]);
    expect(memoryOf(again).saids).toEqual([{ feed: 'crm', said: saidOfKey('moved') }]);
  });

  it('never goes back to an older run', () => {
    const rows = withSaid(atHand('k1', settledKey()), 'crm', 2, { ...settledSaid, said: saidOfKey('old') });
    expect(rows.known).toMatchObject([{ sequence: 2, spoken: 3 }]);
  });

  it('is not made by a row that was given up', () => {
    expect(changedKnown(atHand('k1', undefined), 'crm', { tried: hash('tried') }).known).toEqual([]);
    expect(changedKnown(atHand('k1', settledKey()), 'crm', { tried: hash('tried') }).known).toMatchObject([
      { tried: hash('tried') },
    ]);
  });
});

it('a key of which nothing is known has nobody’s items', () => {
  expect(contactRecord(atHand('k1', undefined))).toMatchObject({ state: 'none', seen: null, owned: nobodyOwns });
});

describe('a write in the journal that another run sent', () => {
  const runOf = (kind: 'create' | 'patch' | 'link', sentBy: string | null, atWork: readonly string[]) =>
    journalRow({ runId: 'r2', atMs: 1 }, 'k1', { runId: sentBy, contactId: 'c1', kind, changes: [] }, new Set(atWork))
      .runId;

  it('is that run’s while its rows are still to be counted; a contact that was made or linked is of the run that finds it', () => {
    expect(runOf('patch', 'r1', ['r1'])).toBe('r1');
    expect(runOf('patch', 'r1', [])).toBe('r2');
    expect(runOf('create', 'r1', ['r1'])).toBe('r2');
    expect(runOf('link', 'r1', ['r1'])).toBe('r2');
    expect(runOf('patch', null, ['r1'])).toBe('r2');
  });
});
