/** The job that takes a snapshot for a tick of the schedule. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { snapshotPhoneNumbers } from '#jobs/snapshot-phone-numbers.ts';
import { phoneNumbersSchedule, type TickRecord } from '#src/ledger/schedules.ts';
import { mountSmallDisk } from '#test/support/small-disk.ts';
import { numbers } from './support/numbers.ts';
import { openSnapshotBench, type SnapshotBench, startMs, startNumberService } from './support/snapshot-bench.ts';

const never = new AbortController().signal;

async function askFor({ ledger }: SnapshotBench, id: string, user: string | null = null): Promise<void> {
  const name = phoneNumbersSchedule;
  await ledger.schedules.put({ name, work: 'snapshot', rule: null, dueAtMs: null, createdAtMs: startMs });
  await ledger.schedules.request({ id, schedule: name, trigger: 'request', user, dueAtMs: startMs });
}

async function work({ parts, ledger }: SnapshotBench, tickId: string, signal = never): Promise<TickRecord | null> {
  await snapshotPhoneNumbers.process(
    { tickId },
    { snapshots: parts, schedules: { ...parts, underWay: new Set() } },
    signal,
  );
  return ledger.schedules.tick(tickId);
}

test('a tick ends with the instant of its snapshot', async () => {
  const service = await startNumberService(numbers(2));
  const bench = await openSnapshotBench(service.origin);
  await askFor(bench, 't1', 'USann');
  expect(await work(bench, 't1')).toMatchObject({ state: 'ended', outcome: 'snapshot', takenAtMs: startMs });
  expect(await bench.ledger.snapshots.at('USann')).toMatchObject({ takenAtMs: startMs, count: 2 });
  expect(service.seen[0]?.url).toBe('/v1/phone-numbers?userId=USann');
});

test('what goes wrong ends the tick as failed with its code, and the next one tries again', async () => {
  const service = await startNumberService(numbers(2));
  const bench = await openSnapshotBench(service.origin);
  service.before = (_page, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"message":"Unauthorized"}');
    return true;
  };
  await askFor(bench, 't1');
  expect(await work(bench, 't1')).toMatchObject({ state: 'ended', outcome: 'failed', code: 'keyRefused' });
  service.before = () => false;
  await askFor(bench, 't2');
  expect(await work(bench, 't2')).toMatchObject({ outcome: 'snapshot' });
});

test('a folder that cannot be written ends the tick at once, with what to do', async () => {
  const service = await startNumberService(numbers(2));
  const bench = await openSnapshotBench(service.origin);
  mkdirSync(join(bench.folder, '..', '..'), { recursive: true });
  writeFileSync(join(bench.folder, '..'), '');
  await askFor(bench, 't1');
  const ended = { state: 'ended', outcome: 'failed', code: 'snapshotFolderUnusable', attempts: 1 };
  expect(await work(bench, 't1')).toMatchObject({ ...ended, hint: expect.stringContaining('Check the rights') });
  rmSync(join(bench.folder, '..'));
  await askFor(bench, 't2');
  expect(await work(bench, 't2')).toMatchObject({ outcome: 'snapshot' });
});

const disk = mountSmallDisk(1);
afterAll(() => disk?.close());

test.runIf(disk !== null)('a full disk ends the tick at once, too', async () => {
  const service = await startNumberService(numbers(2));
  const folder = join(disk?.folder ?? '', 'snapshots', 'phone-numbers');
  const bench = await openSnapshotBench(service.origin, { folder });
  disk?.fill();
  await askFor(bench, 't1');
  const ended = { state: 'ended', outcome: 'failed', code: 'diskFull' };
  expect(await work(bench, 't1')).toMatchObject({ ...ended, hint: expect.stringContaining('Free space') });
});

test('a job that is stopped in the middle leaves the tick to the next engine', async () => {
  const service = await startNumberService(numbers(4));
  service.pageSize = 2;
  const bench = await openSnapshotBench(service.origin);
  const stop = new AbortController();
  service.before = (page) => {
    if (page === 2) stop.abort();
    return page === 2 && stop.signal.aborted;
  };
  await askFor(bench, 't1');
  expect(await work(bench, 't1', stop.signal)).toMatchObject({ state: 'waiting', outcome: null });
  service.before = () => false;
  expect(await work(bench, 't1')).toMatchObject({ state: 'ended', outcome: 'snapshot' });
});
