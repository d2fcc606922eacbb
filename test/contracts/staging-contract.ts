/** Staged records, what the file said before, and what a report tells. */
import { expect, test } from 'vitest';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { approvalOf } from '#src/ledger/rules/approval.ts';
import { emptyBitmap, enterBit } from '#src/ledger/rules/bitmap.ts';
import { changesPerRunMax, eventsPerRunMax, type RunEvent } from '#src/ledger/staging.ts';
import type { Row } from '#src/sources/row.ts';
import {
  applyingRun,
  createdAtMs,
  deadRow,
  ended,
  hash,
  lease,
  newRecord,
  pendingOf,
  saidOfKey,
  settleAs,
  settled,
  slice,
  stagingRun,
  wellEnd,
} from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

export function stagingContract(open: OpenLedger): void {
  /** A run of one key that is settled, and a newer one that found the key unchanged; a letter of the key is open. */
  async function unchangedAfter(ledger: Ledger) {
    const older = await applyingRun(ledger, 'r1', ['k1']);
    const [pending] = await pendingOf(ledger, older);
    if (pending === undefined) throw new Error('a record is staged');
    await settleAs(ledger, older, 'w1', [settled(pending)]);
    const newer = await stagingRun(ledger, 'r2');
    const dead = deadRow('k1', { class: 'refused', code: 'refused400' });
    await ledger.runs.stage(slice(newer, { dead: [dead] }));
    expect((await ledger.counts()).openLetters).toBe(1);
    const number = (await ledger.runs.saidOf('main', ['k1'])).get('k1')?.number ?? 0;
    const bits = emptyBitmap(number);
    enterBit(bits, number);
    await ledger.runs.confirm('r2', { unchanged: bits, met: bits });
    const found = async () => {
      const answer = await lease(ledger, 'w9', ['k1'], { sequence: older.sequence });
      await ledger.contacts.release('w9', ['k1']);
      await ledger.deadLetters.closeUnchanged('r2');
      return [answer.get('k1')?.kind, (await ledger.counts()).openLetters];
    };
    return { older, newer, found };
  }

  test('a key that a newer run of the feed found unchanged is not written by an older row any more, and its letters are closed', async () => {
    const { ledger } = await openForTest(open);
    const { found } = await unchangedAfter(ledger);
    expect(await found()).toEqual(['superseded', 0]);
  });

  test.each(['cancelling', 'failed'] as const)(
    'what a run found unchanged that becomes %s while it is read answers nothing',
    async (state) => {
      const { ledger } = await openForTest(open);
      const { found } = await unchangedAfter(ledger);
      await ledger.runs.move('r2', ['staging'], state, { atMs: createdAtMs });
      expect(await found()).toEqual(['leased', 1]);
      expect(await ledger.runs.confirmedSince('main', 0)).toEqual([]);
    },
  );

  test('what a stopped run found unchanged answers nothing until it is approved, then also where it is stopped or cancelled', async () => {
    const { ledger } = await openForTest(open);
    const { found } = await unchangedAfter(ledger);
    const reason = { code: 'guardMaxChange', message: 'too many', hint: null, facts: {} };
    const stop = (from: 'staging' | 'applying') =>
      ledger.runs.move('r2', [from], 'stopped', { atMs: createdAtMs, reason });
    await stop('staging');
    expect(await found()).toEqual(['leased', 1]);
    const approval = approvalOf(reason, { reason: null, atMs: createdAtMs });
    expect(await ledger.runs.approve('r2', approval), 'an older row may be on its way').toBe(false);
    await ledger.runs.move('r1', ['applying'], 'stopped', { atMs: createdAtMs, reason });
    expect(await ledger.runs.approve('r2', approval)).toBe(true);
    await stop('applying');
    expect((await ledger.runs.confirmedSince('main', 0)).length).toBe(1);
    await ledger.runs.move('r2', ['stopped'], 'cancelling', { atMs: createdAtMs });
    expect(await found()).toEqual(['superseded', 0]);
  });

  test('a stopped run that an older row of its feed has overtaken is not approved before it was read anew', async () => {
    const { ledger } = await openForTest(open);
    const other = await applyingRun(ledger, 'r0', ['k1']);
    const { newer } = await unchangedAfter(ledger);
    const reason = { code: 'guardMaxChange', message: 'too many', hint: null, facts: {} };
    await ledger.runs.move('r2', ['staging'], 'stopped', { atMs: createdAtMs, reason });
    const approve = () => ledger.runs.approve('r2', approvalOf(reason, { reason: null, atMs: createdAtMs }));
    expect([await ledger.runs.olderWrites('r2'), await approve()]).toEqual([{ kind: 'underWay', runId: 'r1' }, false]);
    await lease(ledger, 'w1', ['k1'], { sequence: newer.sequence });
    const [pending] = await pendingOf(ledger, other);
    if (pending === undefined) throw new Error('a record is staged');
    await settleAs(ledger, other, 'w1', [settled(pending)]);
    expect(await ledger.runs.olderWrites('r2')).toEqual({ kind: 'overtaken', count: 1 });
    expect([await approve(), (await ledger.runs.get('r2'))?.state]).toEqual([false, 'stopped']);
    await ledger.runs.move('r2', ['stopped'], 'queued', { atMs: createdAtMs });
    await ledger.runs.beginStaging('r2', createdAtMs);
    await ledger.runs.move('r2', ['staging'], 'stopped', { atMs: createdAtMs, reason });
    expect([await ledger.runs.olderWrites('r2'), await approve()]).toEqual([null, true]);
  });

  test('what a run found unchanged closes no letter of a newer row', async () => {
    const { ledger } = await openForTest(open);
    const { found } = await unchangedAfter(ledger);
    await ledger.runs.stage(slice(await stagingRun(ledger, 'r3'), { dead: [deadRow('k1')] }));
    expect(await found()).toEqual(['superseded', 1]);
  });

  test('a slice goes in whole: records, dead rows, events and counts', async () => {
    const { ledger, reopen } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const event: RunEvent = { kind: 'warning', line: 3, key: 'k2', code: 'unassigned', field: 'Phone', message: 'm' };
    const parts = { dead: [deadRow('k2')], events: [event] };
    const counts = { rows: 3, dead: 1, unchanged: 1 };
    await ledger.runs.stage(slice(run, { records: [newRecord('k1')], ...parts, counts }));
    const other = await reopen();
    expect((await other.runs.get('r1'))?.counts).toMatchObject({ ...counts, deadNew: 1 });
    expect((await other.runs.stagedAt('r1', [1, 2])).map(({ key }) => key)).toEqual(['k1']);
    expect(await other.runs.events('r1', 0, 10)).toEqual([{ ...event, ordinal: 1 }]);
    expect(await other.runs.deadRows('r1', 0, 10)).toMatchObject([{ ...deadRow('k2'), ordinal: 1 }]);
  });

  test('a staged record comes back as it went in, with run, feed and its place', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1', { feed: 'crm' });
    const wanted: DesiredContact = {
      key: 'Zoë “7”',
      scalars: { firstName: null, company: '=A1', sourceUrl: 'https://crm.example.com/7?a=b' },
      source: 'crm',
      emails: [{ slot: 'e-mail', items: [{ label: 'work', value: 'zoe@example.com' }] }],
      phones: [{ slot: 'phones', items: [] }],
      customFields: [
        { key: '__proto__', value: ['a', 'b'] },
        { key: 'seats', value: 2.5 },
        { key: 'vip', value: null },
      ],
    };
    const source: Row = { kind: 'object', line: 7, record: 6, object: { id: 7, more: { a: [null, '\u0000\n'] } } };
    const given = newRecord(wanted.key, { desired: wanted, row: source, line: 7, sequence: 3 });
    await ledger.runs.stage(slice(run, { records: [given] }));
    const [staged] = await ledger.runs.stagedAt('r1', [1]);
    expect(staged).toEqual({ ...given, runId: 'r1', feed: 'crm', position: 1, sent: false, attempts: 0 });
  });

  test('positions count on from slice to slice, and fill batches of rowsPerBatch', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const records = ['k1', 'k2', 'k3', 'k4', 'k5'].map((key) => newRecord(key));
    await ledger.runs.stage(slice(run, { records: records.slice(0, 3), rowsPerBatch: 2 }));
    await ledger.runs.stage(slice(run, { records: records.slice(3), rowsPerBatch: 2 }));
    await ledger.runs.move('r1', ['staging'], 'applying', { atMs: createdAtMs });
    const inBatch = async (batch: number) =>
      (await ledger.runs.pendingRecords('r1', batch, createdAtMs, 10)).map(({ position, key }) => [position, key]);
    expect(await inBatch(1)).toEqual([
      [1, 'k1'],
      [2, 'k2'],
    ]);
    expect(await inBatch(2)).toEqual([
      [3, 'k3'],
      [4, 'k4'],
    ]);
    expect(await inBatch(3)).toEqual([[5, 'k5']]);
    expect(await ledger.runs.pendingCount('r1')).toBe(5);
    expect(await ledger.runs.nextBatches(createdAtMs, 10)).toHaveLength(3);
  });

  test('a row that is withdrawn by its position is never written, and a dead one leaves a letter with its content', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const keys = ['k1', 'k2', 'k3'].map((key) => newRecord(key));
    expect(await ledger.runs.stage(slice(run, { records: keys.slice(0, 1), counts: { rows: 1 } }))).toEqual({
      first: 1,
      state: 'staging',
    });
    expect(await ledger.runs.stage(slice(run, { records: keys.slice(1), counts: { rows: 2 } }))).toEqual({
      first: 2,
      state: 'staging',
    });
    const problem = { code: 'duplicateKey', line: 2, field: null, value: 'k2', message: 'differs', hint: 'h' };
    const withdrawnRows = [
      { position: 1, end: { kind: 'skipped' } },
      { position: 2, end: { kind: 'dead', problem } },
    ] as const;
    expect(await ledger.runs.stage(slice(run, { withdrawnRows, counts: { skipped: 1, dead: 1 } }))).toEqual({
      first: 4,
      state: 'staging',
    });
    await ledger.runs.move('r1', ['staging'], 'applying', { atMs: createdAtMs });
    expect((await pendingOf(ledger, run)).map(({ key }) => key)).toEqual(['k3']);
    expect(await ledger.runs.pendingCount('r1')).toBe(1);
    // It is counted where its end was found.
    expect((await ledger.runs.countEnds('r1')).dead).toBe(0);
    expect((await ledger.runs.get('r1'))?.counts.dead).toBe(1);
    expect(await ledger.runs.deadRows('r1', 0, 10)).toMatchObject([
      { class: 'invalid', code: 'duplicateKey', line: 2, key: 'k2', problems: [problem], row: keys[1]?.row },
    ]);
  });

  test('what a run found unchanged is told to the runs of its feed before it, the newest first, until it is read again', async () => {
    const { ledger } = await openForTest(open);
    const first = await stagingRun(ledger, 'r1');
    const second = await stagingRun(ledger, 'r2');
    await stagingRun(ledger, 'r3', { feed: 'crm' });
    for (const [id, byte] of [
      ['r1', 1],
      ['r2', 6],
      ['r3', 8],
    ] as const) {
      await ledger.runs.confirm(id, { unchanged: Uint8Array.of(byte), met: Uint8Array.of(255) });
    }
    const since = async (sequence: number) =>
      (await ledger.runs.confirmedSince('main', sequence)).map((one) => [one.sequence, [...one.bits]]);
    expect(await since(0)).toEqual([
      [second.sequence, [6]],
      [first.sequence, [1]],
    ]);
    expect(await since(first.sequence)).toEqual([[second.sequence, [6]]]);
    await ledger.runs.beginStaging('r2', createdAtMs);
    expect(await since(first.sequence)).toEqual([]);
    await ledger.runs.move('r1', ['staging'], 'applying', { atMs: createdAtMs });
    await ledger.runs.confirm('r1', { unchanged: Uint8Array.of(9), met: Uint8Array.of(9) });
    expect(await since(0)).toEqual([[first.sequence, [1]]]);
  });

  test('what a feed has settled is found by key, and belongs to that feed', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2']);
    const [first, second] = await pendingOf(ledger, run);
    if (first === undefined || second === undefined) throw new Error('two records were staged');
    const failed = { said: saidOfKey('k2'), rowHash: null, fingerprint: null, mappingVersion: 'mapping-1', held: [] };
    await settleAs(ledger, run, 'w1', [settled(first), settled(second, { said: failed })]);
    const nothingWaits = { triedFingerprint: null, heldCount: 0 };
    expect(await ledger.runs.saidOf('main', ['k1', 'k2', 'k3'])).toEqual(
      new Map([
        [
          'k1',
          {
            ...{ ...nothingWaits, key: 'k1', number: 1, said: saidOfKey('k1') },
            ...{ rowHash: hash('row-k1'), fingerprint: hash('print-k1') },
          },
        ],
        ['k2', { ...nothingWaits, key: 'k2', number: 2, said: saidOfKey('k2'), rowHash: null, fingerprint: null }],
      ]),
    );
    expect(await ledger.runs.knownKeyCount('main')).toBe(2);
    expect(await ledger.runs.knownKeyCount('crm')).toBe(0);
    expect((await ledger.runs.saidOf('crm', ['k1'])).size).toBe(0);
  });

  test('what a run found unchanged for its feed answers no row, run or dead letter of another feed', async () => {
    const { ledger } = await openForTest(open);
    const crm = await applyingRun(ledger, 'r1', ['k1', 'k2'], { feed: 'crm' });
    const [written, died] = await pendingOf(ledger, crm);
    if (written === undefined || died === undefined) throw new Error('two records were staged');
    const dead = deadRow('k2', { class: 'refused', code: 'refused400' });
    await settleAs(ledger, crm, 'w1', [settled(written), ended(died, { outcome: 'dead', dead })]);
    const shop = await stagingRun(ledger, 'r2', { feed: 'shop' });
    await ledger.runs.confirm(shop.id, { unchanged: Uint8Array.of(0xff), met: Uint8Array.of(0xff) });
    expect((await ledger.counts()).openLetters).toBe(1);
    const answers = await lease(ledger, 'w9', ['k1', 'k2'], { feed: 'crm', sequence: crm.sequence });
    expect([...answers.values()].map(({ kind }) => kind)).toEqual(['leased', 'leased']);
  });

  test('the record of a row that was given up is no new change the next time', async () => {
    const { ledger } = await openForTest(open);
    const first = await applyingRun(ledger, 'r1', ['k1']);
    const [record] = await pendingOf(ledger, first);
    if (record === undefined) throw new Error('a record was staged');
    await settleAs(ledger, first, 'w1', [settled(record)]);
    const second = await stagingRun(ledger, 'r2');
    await ledger.runs.stage(slice(second, { records: [newRecord('k1', { fingerprint: hash('print-new') })] }));
    await ledger.runs.move('r2', ['staging'], 'applying', { atMs: createdAtMs });
    const [again] = await pendingOf(ledger, second);
    if (again === undefined) throw new Error('a record was staged');
    const dead = deadRow('k1', { class: 'refused', code: 'refused400' });
    const sequence = second.sequence;
    await settleAs(ledger, second, 'w1', [{ ...ended(again, { outcome: 'dead', dead }), sequence }]);
    const triedNow = async () => (await ledger.runs.saidOf('main', ['k1'])).get('k1')?.triedFingerprint;
    expect(await triedNow()).toBe(hash('print-new'));
    const third = await applyingRun(ledger, 'r3', ['k1']);
    const [settledAtLast] = await pendingOf(ledger, third);
    if (settledAtLast === undefined) throw new Error('a record was staged');
    await settleAs(ledger, third, 'w1', [settled(settledAtLast)]);
    expect(await triedNow()).toBeNull();
  });

  test('a refreshed row hash replaces the old one of that feed and key, and enters no new key', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).map((record) => settled(record)),
    );
    const rows = ['k1', 'k9'].map((key) => ({ key, rowHash: hash(`newer-${key}`), mappingVersion: 'mapping-2' }));
    await ledger.runs.stage(slice(run, { refreshed: rows }));
    await ledger.runs.stage(slice({ ...run, feed: 'crm' }, { refreshed: rows }));
    const said = await ledger.runs.saidOf('main', ['k1', 'k9']);
    expect([...said.values()].map(({ key, rowHash }) => [key, rowHash])).toEqual([['k1', hash('newer-k1')]]);
    expect(await ledger.runs.knownKeyCount('crm')).toBe(0);
  });

  test('a record is found by its position until it has an outcome', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2']);
    const [first] = await pendingOf(ledger, run);
    if (first === undefined) throw new Error('a record was staged');
    await settleAs(ledger, run, 'w1', [settled(first, { end: wellEnd('updated') })]);
    expect((await ledger.runs.stagedAt('r1', [1, 2, 3])).map(({ key }) => key)).toEqual(['k2']);
    expect(await ledger.runs.stagedAt('r2', [2])).toEqual([]);
  });

  test('all that is pending ends as skipped when the run is cancelled, and is counted once', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3']);
    const [first] = await pendingOf(ledger, run);
    if (first === undefined) throw new Error('a record was staged');
    await settleAs(ledger, run, 'w1', [settled(first)]);
    await ledger.runs.move('r1', ['applying'], 'cancelling', { atMs: createdAtMs });
    expect(await ledger.runs.skipPending('r1', 'cancelled', createdAtMs)).toBe(2);
    expect(await ledger.runs.skipPending('r1', 'cancelled', createdAtMs)).toBe(0);
    expect(await ledger.runs.pendingCount('r1')).toBe(0);
    expect(await ledger.runs.nextBatches(createdAtMs, 10)).toEqual([]);
    expect((await ledger.runs.get('r1'))?.counts).toMatchObject({ rows: 3, created: 1, skipped: 2 });
    expect(await ledger.runs.countEnds('r1')).toMatchObject({ created: 1, skipped: 2, dead: 0 });
    expect(await ledger.runs.events('r1', 0, 10)).toMatchObject([{ kind: 'skipped', code: 'cancelled' }]);
  });

  test('events and dead rows come page by page, in the order they happened', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const events = [1, 2, 3].map(
      (line): RunEvent => ({ kind: 'skipped', line, key: null, code: 'duplicate', field: null, message: `${line}` }),
    );
    await ledger.runs.stage(slice(run, { events: events.slice(0, 2), dead: [deadRow('k3'), deadRow('k1')] }));
    await ledger.runs.stage(slice(run, { events: events.slice(2), dead: [deadRow('k2')] }));
    const messages = async (after: number) =>
      (await ledger.runs.events('r1', after, 2)).map(({ ordinal, message }) => [ordinal, message]);
    expect(await messages(0)).toEqual([
      [1, '1'],
      [2, '2'],
    ]);
    expect(await messages(2)).toEqual([[3, '3']]);
    const keys = async (after: number) =>
      (await ledger.runs.deadRows('r1', after, 2)).map(({ ordinal, key }) => [ordinal, key]);
    expect(await keys(0)).toEqual([
      [1, 'k3'],
      [2, 'k1'],
    ]);
    expect(await keys(2)).toEqual([[3, 'k2']]);
  });

  test('changes take half of the room for events at most', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const event = (kind: RunEvent['kind'], line: number): RunEvent => ({
      ...{ kind, line, key: null, code: 'updated', field: null, message: `${line}` },
    });
    const changes = Array.from({ length: eventsPerRunMax }, (_, line) => event('changed', line));
    await ledger.runs.stage(slice(run, { events: [...changes, event('held', eventsPerRunMax)] }));
    const kept = await ledger.runs.events('r1', 0, eventsPerRunMax);
    expect(kept).toHaveLength(changesPerRunMax + 1);
    expect(kept.at(-1)).toMatchObject({ kind: 'held' });
  });

  test('events above the limit of a run are not kept; the counts go on', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1');
    const events = Array.from(
      { length: eventsPerRunMax + 5 },
      (_, index): RunEvent => ({ kind: 'warning', line: index, key: null, code: 'w', field: null, message: 'm' }),
    );
    await ledger.runs.stage(slice(run, { events, counts: { warnings: events.length } }));
    expect(await ledger.runs.events('r1', eventsPerRunMax - 3, 10)).toHaveLength(3);
    expect((await ledger.runs.get('r1'))?.counts.warnings).toBe(eventsPerRunMax + 5);
  });
}
