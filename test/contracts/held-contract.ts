/** A person's decision about held fields: one transaction that moves base and stages what is to be written. */
import { describe, expect, test } from 'vitest';
import { emptySaid, type Said } from '#src/contacts/base.ts';
import type { HeldField } from '#src/contacts/outcome.ts';
import type { HeldDecision, HeldRecord, MovedSaid } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { SettledRecord } from '#src/ledger/staging.ts';
import {
  applyingRun,
  createdAtMs,
  horizonAt,
  lease,
  newRun,
  nobodyOwns,
  pendingOf,
  seenContact,
  settleAs,
  settled,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const role: HeldField = { field: 'role', said: 'X', ours: 'Z', theirs: 'Y' };
const company: HeldField = { field: 'company', said: 'A', ours: 'C', theirs: 'B' };

/** A run that has settled each key with these fields held. */
export async function settledHolds(
  ledger: Ledger,
  id: string,
  holds: Readonly<Record<string, readonly HeldField[]>>,
  feed = 'main',
): Promise<void> {
  const run = await applyingRun(ledger, id, Object.keys(holds), { feed, rowsPerBatch: 50 });
  const records = (await pendingOf(ledger, run)).map((record): SettledRecord => {
    const { position, line, key, sequence, rowHash, fingerprint, mappingVersion } = record;
    const held = holds[key] ?? [];
    const fields = held.map(({ field }) => field);
    const said = { scalars: { role: 'X', company: 'A' }, emails: [], phones: [], customFields: [], held: fields };
    return {
      ...{ position, line, key, sequence, others: [] },
      end: { outcome: 'updated', adopted: false, heldFields: held, removedValues: 0, warnings: [] },
      bound: {
        ...{ contactId: `id-of-${key}`, seen: seenContact(key), owned: nobodyOwns },
        ...{ agreed: [], stamps: [], writtenAtMs: null },
      },
      said: { said, rowHash, fingerprint, mappingVersion, held },
    };
  });
  for (const { key } of records) await lease(ledger, 'w0', [key], { feed, sequence: run.sequence });
  await ledger.runs.settle({ runId: id, feed, owner: 'w0', records, atMs: createdAtMs });
  await ledger.runs.move(id, ['applying'], 'done', { atMs: createdAtMs });
}

const heldOf = (ledger: Ledger, keys?: readonly string[]): Promise<readonly HeldRecord[]> =>
  ledger.contacts.held({ limit: 100, ...(keys === undefined ? {} : { keys }) });

const saidOf = async (ledger: Ledger, key: string, feed = 'main') => (await ledger.runs.saidOf(feed, [key])).get(key);

function decision(shown: readonly HeldRecord[], parts: Partial<HeldDecision> = {}): HeldDecision {
  const moment = { nowMs: 1_000, isOwnerDead: () => false };
  return { feed: 'main', shown, write: null, atMs: createdAtMs + 90, ...moment, ...parts };
}

const writing = (id: string, feed = 'main') => ({ run: newRun(id, { feed, kind: 'held' }), rowsPerBatch: 50 });

export function heldContract(open: OpenLedger): void {
  test('the app’s value stays: said moves, the field waits no more, and the row is still the settled one', async () => {
    const { ledger } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role, company] });
    const before = await saidOf(ledger, 'k1');
    const shown = (await heldOf(ledger)).filter(({ field }) => field === 'role');
    const { taken, run } = await ledger.contacts.decideHeld(decision(shown));
    expect({ taken, run }).toEqual({ taken: shown, run: null });
    expect(await heldOf(ledger)).toMatchObject([{ field: 'company' }]);
    expect(await saidOf(ledger, 'k1')).toEqual({
      ...before,
      said: { ...before?.said, scalars: { role: 'Z', company: 'A' }, held: ['company'] },
      heldCount: 1,
    });
    expect((await ledger.contacts.get(['k1'])).get('k1')).toMatchObject({
      // No agreement: the file's value is not to be put back.
      agreed: [{ feed: null, values: [{ field: 'role', value: 'Z' }], isTakenBack: true }],
      stamps: [],
    });
  });

  test('the file’s value is staged with its key and the taken fields alone, in a run at work', async () => {
    const { ledger, reopen } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role, company], k2: [role] });
    const shown = (await heldOf(ledger)).filter(({ field }) => field === 'role');
    const { run } = await ledger.contacts.decideHeld(decision(shown, { write: writing('h1') }));
    expect(run).toMatchObject({ id: 'h1', kind: 'held', state: 'applying', counts: { rows: 2 } });
    const other = await reopen();
    const found = await other.runs.get('h1');
    expect(found).toEqual(run);
    const records = found === null ? [] : await pendingOf(other, found);
    expect(records.map(({ key, desired }) => [key, desired.scalars, desired.emails])).toEqual([
      ['k1', { role: 'Z' }, []],
      ['k2', { role: 'Z' }, []],
    ]);
    expect(await saidOf(other, 'k1')).toMatchObject({
      said: { scalars: { role: 'X' }, held: ['company'] },
      rowHash: null,
      fingerprint: null,
      heldCount: 1,
    });
    expect((await other.contacts.get(['k1'])).get('k1')).toMatchObject({
      agreed: [{ feed: 'main', values: [{ field: 'role', value: 'Y' }] }],
      stamps: [{ feed: 'main', sequence: run?.sequence, fields: ['role'] }],
    });
  });

  test('what is staged is as new as what the feed said last: it is no newer than a row of the feed that waits', async () => {
    const { ledger } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role] });
    const waiting = await applyingRun(ledger, 'r2', ['k1']);
    const shown = await heldOf(ledger);
    const { run } = await ledger.contacts.decideHeld(decision(shown, { write: writing('h1') }));
    const [staged] = run === null ? [] : await pendingOf(ledger, run);
    const lease1 = await lease(ledger, 'w1', ['k1'], { feed: 'main', sequence: staged?.sequence ?? 0 });
    expect(lease1.get('k1')?.kind).toBe('leased');
    await ledger.contacts.release('w1', ['k1']);
    expect((await lease(ledger, 'w1', ['k1'], { feed: 'main', sequence: waiting.sequence })).get('k1')?.kind).toBe(
      'leased',
    );
    expect(staged?.sequence).toBeLessThan(waiting.sequence);
  });

  test('a field that has changed since it was shown is left alone, and no run is entered for it', async () => {
    const { ledger } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role] });
    const shown = await heldOf(ledger);
    await settledHolds(ledger, 'r2', { k1: [{ ...role, theirs: 'Y2' }] });
    for (const write of [null, writing('h1')]) {
      const decided = await ledger.contacts.decideHeld(decision(shown, { write }));
      expect(decided).toEqual({ taken: [], moved: shown, busy: [], run: null });
    }
    expect(await ledger.runs.get('h1')).toBeNull();
    expect(await heldOf(ledger)).toMatchObject([{ theirs: 'Y2' }]);
  });

  test('deciding twice decides once', async () => {
    const { ledger } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role] });
    const shown = await heldOf(ledger);
    await ledger.contacts.decideHeld(decision(shown, { write: writing('h1') }));
    const again = await ledger.contacts.decideHeld(decision(shown, { write: writing('h2') }));
    expect(again).toEqual({ taken: [], moved: shown, busy: [], run: null });
    expect(await ledger.runs.get('h2')).toBeNull();
  });

  test('a key that somebody is at work on is left for later; the lease of a dead process is none', async () => {
    const { ledger } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role], k2: [role] });
    await lease(ledger, 'w1', ['k1'], { feed: 'main', sequence: 99 });
    const shown = await heldOf(ledger);
    const first = await ledger.contacts.decideHeld(decision(shown, { write: writing('h1') }));
    expect(first.taken).toMatchObject([{ key: 'k2' }]);
    expect(first.busy).toMatchObject([{ key: 'k1' }]);
    expect((await heldOf(ledger)).map(({ key }) => key)).toEqual(['k1']);
    const isOwnerDead = (owner: string) => owner === 'w1';
    const later = await ledger.contacts.decideHeld(decision(first.busy, { write: writing('h2'), isOwnerDead }));
    expect(later).toMatchObject({ taken: [{ key: 'k1' }], busy: [], run: { id: 'h2' } });
  });

  test('held fields are chosen by the run that met them last', async () => {
    const { ledger } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role] });
    await settledHolds(ledger, 'r2', { k2: [role, company] });
    const keysOf = async (runId: string) => (await ledger.contacts.held({ runId, limit: 9 })).map(({ key }) => key);
    expect([await keysOf('r1'), await keysOf('r2'), await keysOf('r3')]).toEqual([['k1'], ['k2', 'k2'], []]);
    expect(await ledger.contacts.heldCount({ runId: 'r2', field: 'role' })).toBe(1);
  });

  test('a hold belongs to its feed: what is decided for one leaves the other’s', async () => {
    const { ledger } = await openForTest(open);
    await settledHolds(ledger, 'r1', { k1: [role] });
    await settledHolds(ledger, 'r2', { k1: [role] }, 'crm');
    const shown = (await heldOf(ledger)).filter(({ feed }) => feed === 'crm');
    await ledger.contacts.decideHeld(decision(shown, { feed: 'crm', write: writing('h1', 'crm') }));
    expect(await heldOf(ledger)).toMatchObject([{ feed: 'main', field: 'role' }]);
    expect(await saidOf(ledger, 'k1')).toMatchObject({ said: { held: ['role'] }, heldCount: 1 });
  });

  describe('what another feed said moves, and its holds with it', () => {
    const moved: MovedSaid = { feed: 'shop', said: emptySaid, looksAgain: true, sequence: null };
    const withHolds = async () => {
      const { ledger } = await openForTest(open);
      await settledHolds(ledger, 'r1', { k1: [role, company], k2: [role] }, 'shop');
      await settledHolds(ledger, 'r2', { k1: [company] }, 'crm');
      return ledger;
    };
    const left = [
      { feed: 'crm', key: 'k1', field: 'company' },
      { feed: 'shop', key: 'k2', field: 'role' },
    ];

    test('as its contact is made again', async () => {
      const ledger = await withHolds();
      const run = await applyingRun(ledger, 'r3', ['k1'], { feed: 'main' });
      const records = (await pendingOf(ledger, run)).map((record) => settled(record, { others: [moved] }));
      await settleAs(ledger, run, 'w1', records);
      expect(await heldOf(ledger)).toMatchObject(left);
      expect(await ledger.contacts.heldCount({ feed: 'shop' })).toBe(1);
      expect(await saidOf(ledger, 'k1', 'shop')).toMatchObject({ said: emptySaid, heldCount: 0 });
    });

    test('as a claim is resolved that takes the place of an earlier one', async () => {
      const ledger = await withHolds();
      const run = await applyingRun(ledger, 'r3', ['k1'], { feed: 'main' });
      await lease(ledger, 'w1', ['k1'], { sequence: run.sequence });
      const said: Said = { ...emptySaid, held: ['company'] };
      const resolved = { agreed: [], stamps: [], saids: [{ ...moved, said }], journal: null };
      const contacts = [{ key: 'k1', owned: nobodyOwns, position: 1, claim: null, resolved }];
      const horizon = horizonAt(4_000);
      await ledger.contacts.claimItems({ contacts, owner: 'w1', runId: 'r3', atMs: createdAtMs, horizon });
      expect(await heldOf(ledger)).toMatchObject([
        ...left.slice(0, 1),
        { feed: 'shop', key: 'k1', field: 'company' },
        ...left.slice(1),
      ]);
    });
  });
}
