import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, test } from 'vitest';
import { liveWorkers, takeEngineLock } from '#src/ledger/engine-presence.ts';
import { startChild } from './support/child-process.ts';
import { tempFolder } from './support/temp-ledger.ts';

const holder = new URL('./support/lock-process.ts', import.meta.url);

/** Given back when the test ends. */
function take(file: string) {
  const lock = takeEngineLock(file);
  if (lock !== null) onTestFinished(() => lock.release());
  return lock;
}

test('the first process gets the lock, also in a folder that is not there yet', () => {
  expect(take(join(tempFolder(), 'data', 'engine.lock'))).not.toBeNull();
});

test('a second process gets nothing while the first one holds the lock', async () => {
  const file = join(tempFolder(), 'engine.lock');
  const first = startChild(holder, file);
  expect(await first.nextLine()).toBe('held');
  expect(take(file)).toBeNull();
  const second = startChild(holder, file);
  expect(await second.nextLine()).toBe('taken');
});

test('the same process gets the lock once', () => {
  const file = join(tempFolder(), 'engine.lock');
  expect(take(file)).not.toBeNull();
  expect(take(file)).toBeNull();
});

test('a lock that is given back is free', async () => {
  const file = join(tempFolder(), 'engine.lock');
  const first = startChild(holder, file);
  expect(await first.nextLine()).toBe('held');
  first.tell('release');
  expect(await first.nextLine()).toBe('released');
  expect(take(file)).not.toBeNull();
});

test('a killed holder leaves the lock free', async () => {
  const file = join(tempFolder(), 'engine.lock');
  const first = startChild(holder, file);
  expect(await first.nextLine()).toBe('held');
  expect(take(file)).toBeNull();
  await first.kill();
  expect(take(file)).not.toBeNull();
});

test('two data folders have two locks', () => {
  expect(take(join(tempFolder(), 'engine.lock'))).not.toBeNull();
  expect(take(join(tempFolder(), 'engine.lock'))).not.toBeNull();
});

test('a data folder that cannot be used is a usage error that names it', () => {
  const folder = join(tempFolder(), 'data');
  writeFileSync(folder, 'a file in its place');
  expect(() => takeEngineLock(join(folder, 'engine.lock'))).toThrow(
    expect.objectContaining({
      kind: 'usage',
      code: 'dataFolderUnusable',
      message: expect.stringContaining(folder),
      hint: expect.stringContaining('--data'),
    }),
  );
});

test('a file in the lock’s place that is no database is a usage error, not a lock', () => {
  const file = join(tempFolder(), 'engine.lock');
  writeFileSync(file, 'not a database, and longer than its header. '.repeat(50));
  expect(() => takeEngineLock(file)).toThrow(expect.objectContaining({ kind: 'usage', code: 'dataFolderUnusable' }));
});

/** Which workers are there is told by their last sign of life and by whether their process lives. */
const nowMs = 1_800_000_000_000;
const worker = (identity: string, silentMs: number) => ({
  identity,
  startedAtMs: nowMs - 60_000,
  seenAtMs: nowMs - silentMs,
});

it('counts a worker that gave a sign of life of late, and none that was silent for long or whose process is dead', () => {
  const notices = [worker('fresh', 0), worker('late', 14_999), worker('silent', 15_000), worker('killed', 1_000)];
  const live = liveWorkers(notices, nowMs, (identity) => identity === 'killed');
  expect(live.map((one) => one.identity)).toEqual(['fresh', 'late']);
});
