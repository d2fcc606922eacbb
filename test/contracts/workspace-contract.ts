/** What the ledger knows of its workspace, the pause, and how processes notice each other. */
import { expect, test } from 'vitest';
import type { EngineRegistration } from '#src/ledger/engine-presence.ts';
import type { Pause, WorkspaceBinding } from '#src/ledger/port.ts';
import { until } from '#test/support/until.ts';
import { newRun } from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

const binding: WorkspaceBinding = {
  origin: 'https://api.example.com',
  keyHash: 'salted',
  phoneNumberIds: ['PN1', 'PN2'],
};

export function workspaceContract(open: OpenLedger): void {
  test('a new ledger is bound to no workspace, and no work waits', async () => {
    const { ledger } = await openForTest(open);
    expect(await ledger.binding()).toBeNull();
    expect(await ledger.pause()).toBeNull();
    expect(ledger.id).not.toBe('');
  });

  test('a binding is kept as it was given, also for the next process; a later one replaces it', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.bind(binding);
    const other = await reopen();
    expect(await other.binding()).toEqual(binding);
    await other.bind({ ...binding, phoneNumberIds: [] });
    expect(await ledger.binding()).toEqual({ ...binding, phoneNumberIds: [] });
  });

  test('every process finds the same ledger id', async () => {
    const { ledger, reopen } = await openForTest(open);
    expect((await reopen()).id).toBe(ledger.id);
  });

  test('a pause stands for every process until it is taken back', async () => {
    const { ledger, reopen } = await openForTest(open);
    const pause: Pause = { code: 'auth', message: 'the key is refused', sinceMs: 1_800_000_000_000 };
    const other = await reopen();
    await ledger.setPause(pause);
    expect(await other.pause()).toEqual(pause);
    await other.setPause(null);
    expect(await ledger.pause()).toBeNull();
  });

  test('when what is kept no longer was deleted last is known to every process, of each that deletes something', async () => {
    const { ledger, reopen } = await openForTest(open);
    expect(await ledger.expiredAtMs('ledger')).toBeNull();
    await ledger.noteExpired('ledger', 1_800_000_000_000);
    const other = await reopen();
    await other.noteExpired('ledger', 1_800_003_600_000);
    await other.noteExpired('files', 1_800_000_000_001);
    expect(await ledger.expiredAtMs('ledger')).toBe(1_800_003_600_000);
    expect(await ledger.expiredAtMs('files')).toBe(1_800_000_000_001);
  });

  test('the request that failed last is known to every process', async () => {
    const { ledger, reopen } = await openForTest(open);
    const failure = { code: 'serviceFailing', message: 'the last read failed: status 500', atMs: 1_800_000_000_000 };
    expect(await ledger.serviceFailure()).toBeNull();
    await ledger.noteServiceFailure(failure);
    const other = await reopen();
    await other.noteServiceFailure({ ...failure, atMs: failure.atMs + 1 });
    expect(await ledger.serviceFailure()).toEqual({ ...failure, atMs: failure.atMs + 1 });
  });

  test('jobs that end early are counted, by job, run and code, while it goes on', async () => {
    const { ledger, reopen } = await openForTest(open);
    const code = 'unexpected';
    const failure = { job: 'upsert-batch', runId: 'r1', code, message: 'datatype mismatch', atMs: 1_800_000_000_000 };
    expect(await ledger.jobFailures()).toEqual([]);
    await ledger.noteJobFailure(failure);
    const other = await reopen();
    const [sinceMs, atMs] = [failure.atMs, failure.atMs + 5_000];
    await other.noteJobFailure({ ...failure, runId: null, atMs: failure.atMs + 1_000 });
    await other.noteJobFailure({ ...failure, atMs });
    expect(await ledger.jobFailures()).toEqual([
      { ...failure, atMs, sinceMs, count: 2 },
      { ...failure, runId: null, atMs: sinceMs + 1_000, sinceMs: sinceMs + 1_000, count: 1 },
    ]);
    await ledger.noteJobFailure({ ...failure, code: 'folderUnusable', atMs: atMs + 1 });
    expect((await other.jobFailures())[0]).toMatchObject({ code: 'folderUnusable', count: 1 });
    await ledger.noteJobFailure({ ...failure, atMs: atMs + 60_001 });
    expect(await other.jobFailures(), 'what was a minute before is over').toMatchObject([
      { runId: 'r1', sinceMs: atMs + 60_001, count: 1 },
    ]);
  });

  test('a job that has ended well ends its failure, and no other', async () => {
    const { ledger } = await openForTest(open);
    const failure = { code: 'unexpected', message: 'datatype mismatch', atMs: 1_800_000_000_000 };
    for (const runId of ['r1', 'r2', null]) await ledger.noteJobFailure({ ...failure, job: 'finish-run', runId });
    await ledger.endJobFailure({ job: 'finish-run', runId: 'r1' });
    await ledger.endJobFailure({ job: 'import-file', runId: 'r2' });
    expect((await ledger.jobFailures()).map(({ runId }) => runId).toSorted()).toEqual([null, 'r2'].toSorted());
  });

  test("an engine's notice stands for every process, and only that engine takes it back", async () => {
    const { ledger, reopen } = await openForTest(open);
    expect((await ledger.registrations()).engine).toBeNull();
    const notice: EngineRegistration = {
      identity: 'host/boot/1/2#a',
      serviceOrigin: 'https://api.example.com',
      queue: { kind: 'socket', path: 'queue/valkey.sock' },
      startedAtMs: 1_800_000_000_000,
    };
    const other = await reopen();
    await ledger.register('engine', notice);
    expect((await other.registrations()).engine).toEqual(notice);
    const next: EngineRegistration = { ...notice, identity: 'host/boot/3/4#b', queue: { kind: 'redis' } };
    await other.register('engine', next);
    await ledger.unregister('engine', notice.identity);
    expect((await ledger.registrations()).engine).toEqual(next);
    await other.unregister('engine', next.identity);
    expect((await ledger.registrations()).engine).toBeNull();
  });

  test('workers are known by their last sign of life until they say goodbye', async () => {
    const { ledger, reopen } = await openForTest(open);
    const other = await reopen();
    const first = { identity: 'host/boot/5/6', startedAtMs: 1, seenAtMs: 1 };
    const second = { identity: 'host/boot/7/8', startedAtMs: 2, seenAtMs: 2 };
    await ledger.register('worker', first);
    await other.register('worker', second);
    await ledger.register('worker', { ...first, seenAtMs: 3 });
    expect((await other.registrations()).workers).toEqual([{ ...first, seenAtMs: 3 }, second]);
    await ledger.unregister('worker', first.identity);
    expect((await other.registrations()).workers).toEqual([second]);
    expect((await ledger.registrations()).engine).toBeNull();
  });

  test('the change count moves when another process commits, and rests when nobody does', async () => {
    const { ledger, reopen } = await openForTest(open);
    const other = await reopen();
    const before = await ledger.changeCount();
    expect(await ledger.changeCount()).toBe(before);
    await other.runs.create(newRun('r1'));
    const moved = (from: number) =>
      until('a change of the count', async () => {
        const count = await ledger.changeCount();
        return count !== from && { count };
      });
    const { count: after } = await moved(before);
    expect(await ledger.changeCount()).toBe(after);
    await other.setPause({ code: 'unreachable', message: 'no answer', sinceMs: 1 });
    await moved(after);
  });
}
