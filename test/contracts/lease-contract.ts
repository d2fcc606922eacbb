/** Leases: one piece of work at a time on a key (`docs/rules.md`, "One contact per key", step 1). */
import { expect, test } from 'vitest';
import type { LeaseResult } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { emptyBitmap, enterBit } from '#src/ledger/rules/bitmap.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { SettledRecord } from '#src/ledger/staging.ts';
import {
  applyingRun,
  boundTo,
  lease,
  leaseMs,
  nobodyOwns,
  pendingOf,
  saidOfKey,
  settleAs,
  settled,
  stagingRun,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const kinds = (results: ReadonlyMap<string, LeaseResult>) =>
  Object.fromEntries([...results].map(([key, result]) => [key, result.kind]));

async function settleFirst(ledger: Ledger, run: RunRecord, parts: Partial<SettledRecord> = {}): Promise<void> {
  const [record] = await pendingOf(ledger, run);
  if (record === undefined) throw new Error('a record was staged');
  await settleAs(ledger, run, 'w1', [settled(record, parts)]);
}

export function leaseContract(open: OpenLedger): void {
  test('a key that nobody knows is leased, with nothing known of it', async () => {
    const { ledger } = await openForTest(open);
    expect(await lease(ledger, 'w1', ['k1'])).toEqual(
      new Map([
        [
          'k1',
          {
            kind: 'leased',
            contact: {
              key: 'k1',
              state: 'none',
              contactId: null,
              seen: null,
              owned: nobodyOwns,
              agreed: [],
              stamps: [],
              saids: [],
              writtenAtMs: null,
              attempts: 0,
              intentRun: null,
              claim: null,
              linkedTo: null,
            },
          },
        ],
      ]),
    );
    expect((await ledger.contacts.get(['k1', 'k2'])).get('k1')).toMatchObject({ state: 'lookup', contactId: null });
    expect((await ledger.contacts.get(['k1', 'k2'])).has('k2')).toBe(false);
  });

  test('every key of a request gets an answer of its own', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1']);
    expect(kinds(await lease(ledger, 'w2', ['k1', 'k2']))).toEqual({ k1: 'held', k2: 'leased' });
  });

  test('of two owners who ask at once, one gets each key', async () => {
    const { ledger, reopen } = await openForTest(open);
    const other = await reopen();
    const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
    const answers = await Promise.all([lease(ledger, 'w1', keys), lease(other, 'w2', keys.toReversed())]);
    for (const key of keys) {
      expect(answers.map((results) => results.get(key)?.kind).toSorted()).toEqual(['held', 'leased']);
    }
  });

  test('a held key says how long the lease still lasts, and the lease ends with monotonic time', async () => {
    const { ledger, reopen } = await openForTest(open);
    await lease(ledger, 'w1', ['k1'], { nowMs: 1_000 });
    const other = await reopen();
    const ask = async (nowMs: number) => (await lease(other, 'w2', ['k1'], { nowMs })).get('k1');
    expect(await ask(1_000)).toEqual({ kind: 'held', waitMs: leaseMs });
    expect(await ask(1_000 + leaseMs - 1)).toEqual({ kind: 'held', waitMs: 1 });
    expect(await ask(1_000 + leaseMs)).toMatchObject({ kind: 'leased' });
    expect((await lease(ledger, 'w1', ['k1'], { nowMs: 1_000 + leaseMs })).get('k1')).toMatchObject({
      kind: 'held',
    });
  });

  test('the holder may ask again, and the lease then lasts from that moment', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1'], { nowMs: 1_000 });
    expect(kinds(await lease(ledger, 'w1', ['k1'], { nowMs: 1_400 }))).toEqual({ k1: 'leased' });
    const held = (await lease(ledger, 'w2', ['k1'], { nowMs: 1_500 })).get('k1');
    expect(held).toEqual({ kind: 'held', waitMs: 1_400 + leaseMs - 1_500 });
  });

  test('a lease that is given back is free at once; only its holder can give it back', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'w1', ['k1', 'k2']);
    await ledger.contacts.release('w2', ['k1', 'k2']);
    expect(kinds(await lease(ledger, 'w2', ['k1']))).toEqual({ k1: 'held' });
    await ledger.contacts.release('w1', ['k1']);
    expect(kinds(await lease(ledger, 'w2', ['k1', 'k2']))).toEqual({ k1: 'leased', k2: 'held' });
  });

  test('the lease of a dead process is void at once', async () => {
    const { ledger } = await openForTest(open);
    await lease(ledger, 'dead#1', ['k1']);
    await lease(ledger, 'alive#1', ['k2']);
    const isOwnerDead = (owner: string) => owner === 'dead#1';
    expect(kinds(await lease(ledger, 'w2', ['k1', 'k2'], { isOwnerDead }))).toEqual({ k1: 'leased', k2: 'held' });
  });

  test('a key that a newer run of the feed has settled is superseded for an older one, whoever holds it', async () => {
    const { ledger } = await openForTest(open);
    const older = await applyingRun(ledger, 'r1', ['k1'], { feed: 'crm' });
    const newer = await applyingRun(ledger, 'r2', ['k1'], { feed: 'crm' });
    await settleFirst(ledger, newer);
    const ask = (owner: string, sequence: number) => lease(ledger, owner, ['k1'], { feed: 'crm', sequence });
    expect(kinds(await ask('w2', newer.sequence))).toEqual({ k1: 'leased' });
    expect(kinds(await ask('w3', older.sequence))).toEqual({ k1: 'superseded' });
    expect(kinds(await ask('w3', newer.sequence + 1))).toEqual({ k1: 'held' });
    const told = (sequence: number) => ledger.contacts.superseded({ feed: 'crm', keys: [{ key: 'k1', sequence }] });
    expect([...(await told(older.sequence))]).toEqual(['k1']);
    expect([...(await told(newer.sequence))]).toEqual([]);
  });

  test('a key that a newer run of the feed has found unchanged is superseded for an older row, and only that key', async () => {
    const { ledger } = await openForTest(open);
    for (const [id, key] of [
      ['r1', 'k1'],
      ['r2', 'k2'],
    ] as const) {
      await settleFirst(ledger, await applyingRun(ledger, id, [key], { feed: 'crm' }));
    }
    const older = await applyingRun(ledger, 'r3', ['k1', 'k2'], { feed: 'crm' });
    const newer = await stagingRun(ledger, 'r4', { feed: 'crm' });
    // The numbers of keys go up from 1 in the order in which they were settled first.
    const unchanged = emptyBitmap(2);
    enterBit(unchanged, 1);
    await ledger.runs.confirm(newer.id, { unchanged, met: unchanged });
    const ask = (owner: string, feed: string, sequence: number) =>
      lease(ledger, owner, ['k1', 'k2'], { feed, sequence });
    expect(kinds(await ask('w1', 'crm', older.sequence))).toEqual({ k1: 'superseded', k2: 'leased' });
    await ledger.contacts.release('w1', ['k1', 'k2']);
    expect(kinds(await ask('w2', 'crm', newer.sequence))).toEqual({ k1: 'leased', k2: 'leased' });
    await ledger.contacts.release('w2', ['k1', 'k2']);
    expect(kinds(await ask('w3', 'shop', older.sequence))).toEqual({ k1: 'leased', k2: 'leased' });
  });

  test('order is per feed: what another feed has settled later supersedes no row', async () => {
    const { ledger } = await openForTest(open);
    const older = await applyingRun(ledger, 'r1', ['k1'], { feed: 'crm' });
    const newer = await applyingRun(ledger, 'r2', ['k1'], { feed: 'shop' });
    await settleFirst(ledger, newer);
    const ask = (feed: string) => lease(ledger, 'w2', ['k1'], { feed, sequence: older.sequence });
    expect(kinds(await ask('crm'))).toEqual({ k1: 'leased' });
    expect(kinds(await ask('shop'))).toEqual({ k1: 'superseded' });
  });

  test('a lease tells what each feed said of the key', async () => {
    const { ledger } = await openForTest(open);
    for (const [id, feed] of [
      ['r1', 'crm'],
      ['r2', 'shop'],
    ] as const) {
      await settleFirst(ledger, await applyingRun(ledger, id, ['k1'], { feed }));
    }
    const answer = (await lease(ledger, 'w2', ['k1'], { feed: 'crm', sequence: 9 })).get('k1');
    const saids = answer?.kind === 'leased' ? answer.contact.saids : [];
    expect(saids.toSorted((left, right) => (left.feed < right.feed ? -1 : 1))).toEqual([
      { feed: 'crm', said: saidOfKey('k1') },
      { feed: 'shop', said: saidOfKey('k1') },
    ]);
  });

  test('when our last write was answered is told, also to whoever asks by an earlier instant', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await settleFirst(ledger, run, { bound: boundTo('k1', { writtenAtMs: 700 }) });
    const ask = async (owner: string, nowMs: number) => {
      const answer = (await lease(ledger, owner, ['k1'], { sequence: 9, nowMs })).get('k1');
      return answer?.kind === 'leased' ? answer.contact.writtenAtMs : answer?.kind;
    };
    expect(await ask('w2', 1_000)).toBe(700);
    await ledger.contacts.release('w2', ['k1']);
    expect(await ask('w3', 699)).toBe(700);
    // A settling that wrote nothing leaves it as it is.
    const again = await applyingRun(ledger, 'r2', ['k1']);
    await ledger.contacts.release('w3', ['k1']);
    await settleFirst(ledger, again);
    expect(await ask('w2', 1_000)).toBe(700);
  });
}
