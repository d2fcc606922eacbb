/** Batches: which is next, what is pending in it, and how it is put back. */
import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { applyingRun, createdAtMs, ended, pendingOf, settleAs, settled } from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const nowMs = createdAtMs + 1_000;
const laterMs = nowMs + 5_000;

const next = async (ledger: Ledger, atMs: number, limit = 10) =>
  (await ledger.runs.nextBatches(atMs, limit)).map(({ runId, batch }) => `${runId}/${batch}`);

async function putOff(ledger: Ledger, run: RunRecord, positions: readonly number[], untilMs: number): Promise<void> {
  const records = positions.map((position) => ({ position, notBeforeMs: untilMs, burnAttempt: false }));
  await ledger.runs.defer(run.id, records);
}

export function batchContract(open: OpenLedger): void {
  test('batches come in the order of their runs, and those that are due now before those that wait', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['a1', 'a2', 'a3']);
    await applyingRun(ledger, 'r2', ['b1'], { feed: 'crm' });
    expect(await next(ledger, nowMs)).toEqual(['r1/1', 'r1/2', 'r2/1']);
    expect(await next(ledger, nowMs, 2)).toEqual(['r1/1', 'r1/2']);
    await putOff(ledger, run, [1, 2], laterMs);
    expect(await ledger.runs.releaseBatch('r1', 1, 0, 0)).toBe(false);
    expect(await next(ledger, nowMs)).toEqual(['r1/2', 'r2/1', 'r1/1']);
    expect(await next(ledger, laterMs)).toEqual(['r1/1', 'r1/2', 'r2/1']);
  });

  test.each(['stopped', 'cancelling', 'done'] as const)('a run that is %s has no batch to work on', async (state) => {
    const { ledger } = await openForTest(open);
    await applyingRun(ledger, 'r1', ['k1']);
    await ledger.runs.move('r1', ['applying'], state, { atMs: nowMs });
    expect(await next(ledger, nowMs)).toEqual([]);
  });

  test('a batch that is put back has the next generation and is due with its next record', async () => {
    const { ledger, reopen } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2']);
    expect(await ledger.runs.batch('r1', 1)).toEqual({ runId: 'r1', batch: 1, generation: 0, dueAtMs: 0 });
    await putOff(ledger, run, [1], laterMs + 7);
    await putOff(ledger, run, [2], laterMs);
    expect(await ledger.runs.releaseBatch('r1', 1, 0, 0)).toBe(false);
    const other = await reopen();
    expect(await other.runs.batch('r1', 1)).toEqual({ runId: 'r1', batch: 1, generation: 1, dueAtMs: laterMs });
    expect(await other.runs.releaseBatch('r1', 1, 1, laterMs + 99)).toBe(false);
    expect(await ledger.runs.batch('r1', 1)).toMatchObject({ generation: 2, dueAtMs: laterMs + 99 });
  });

  test('an earlier generation of a batch does not move it', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await putOff(ledger, run, [1], laterMs);
    await ledger.runs.releaseBatch('r1', 1, 0, 0);
    expect(await ledger.runs.releaseBatch('r1', 1, 0, laterMs * 2)).toBe(false);
    expect(await ledger.runs.batch('r1', 1)).toMatchObject({ generation: 1, dueAtMs: laterMs });
  });

  test('a batch without pending records is done', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3']);
    const [first, second] = await pendingOf(ledger, run);
    if (first === undefined || second === undefined) throw new Error('records were staged');
    await settleAs(ledger, run, 'w1', [settled(first), ended(second, { outcome: 'skipped', reason: 'gone' })]);
    expect(await ledger.runs.releaseBatch('r1', 1, 0, 0)).toBe(true);
    expect(await ledger.runs.batch('r1', 1)).toBeNull();
    expect(await next(ledger, nowMs)).toEqual(['r1/2']);
    expect(await ledger.runs.pendingCount('r1')).toBe(1);
  });

  test('pending records come in the order of the file, as many as asked for', async () => {
    const { ledger } = await openForTest(open);
    await applyingRun(ledger, 'r1', ['z', 'y', 'x'], { rowsPerBatch: 5 });
    const keys = async (limit: number) =>
      (await ledger.runs.pendingRecords('r1', 1, nowMs, limit)).map((record) => record.key);
    expect(await keys(10)).toEqual(['z', 'y', 'x']);
    expect(await keys(2)).toEqual(['z', 'y']);
  });

  test('a record that is put off rests until its time, and lets the others go first; an attempt is burned only where one is named', async () => {
    const { ledger } = await openForTest(open);
    await applyingRun(ledger, 'r1', ['k1', 'k2', 'k3'], { rowsPerBatch: 5 });
    await ledger.runs.defer('r1', [
      { position: 1, notBeforeMs: laterMs, burnAttempt: true },
      { position: 2, notBeforeMs: laterMs, burnAttempt: false },
    ]);
    const attempts = async (atMs: number) =>
      (await ledger.runs.pendingRecords('r1', 1, atMs, 10)).map((record) => [record.key, record.attempts]);
    expect(await attempts(laterMs - 1)).toEqual([['k3', 0]]);
    expect(await attempts(laterMs)).toEqual([
      ['k3', 0],
      ['k1', 1],
      ['k2', 0],
    ]);
    expect(await ledger.runs.pendingCount('r1')).toBe(3);
  });

  test('a record with an outcome is not put off', async () => {
    const { ledger } = await openForTest(open);
    const run = await applyingRun(ledger, 'r1', ['k1']);
    await settleAs(
      ledger,
      run,
      'w1',
      (await pendingOf(ledger, run)).map((record) => settled(record)),
    );
    await ledger.runs.defer('r1', [{ position: 1, notBeforeMs: laterMs, burnAttempt: true }]);
    expect(await ledger.runs.pendingCount('r1')).toBe(0);
    expect(await ledger.runs.releaseBatch('r1', 1, 0, 0)).toBe(true);
  });
}
