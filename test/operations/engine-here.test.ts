/** Whether an engine runs is said of this data folder, whose files only its own engine takes; other hosts are named beside it. */
import { expect, it, onTestFinished } from 'vitest';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import type { HostRecord } from '#src/ledger/hosts.ts';
import { noEngineText, readEngine } from '#src/operations/hosts.ts';
import { readStatus } from '#src/operations/status.ts';
import { type DashboardBench, dashboardBench } from '#test/dashboard/dashboard-bench.ts';

const nothing = { diskFreeBytes: null, queueAnswers: null, troubles: [] };

/** A data folder that is the host `here`, and another host that is at work on the same ledger. */
async function besideHost(hereSeenMsAgo = 1_000): Promise<DashboardBench['parts']> {
  const { parts, ledger } = await dashboardBench();
  const seenAtMs = await ledger.nowMs(parts.clock);
  const record = (id: string, seenMsAgo = 0): HostRecord => ({
    ...{ id, name: `${id}:/srv/patchbay`, session: `${id}#1`, engine: null, leads: true, feeds: [], startedAtMs: 1 },
    ...{ queue: 'redis', isSandbox: false, runsSchedules: true, seenAtMs: seenAtMs - seenMsAgo, hasLeft: false },
  });
  const list = async () => [record('here', hereSeenMsAgo), record('there')];
  const hosts = { ...ledger.hosts, list };
  return { ...parts, host: { id: 'here', name: 'here:/srv/patchbay' }, ledger: { ...ledger, hosts } };
}

it('an engine that has died is not taken for running while its last sign is fresh, and another host is at work', async () => {
  const home = await besideHost();
  expect(await readEngine(home)).toEqual({ runs: false, elsewhere: ['there:/srv/patchbay'] });
  expect(await readStatus(home, nothing)).toMatchObject({
    engine: 'not running',
    hosts: [
      { host: 'here', isThis: true },
      { host: 'there', state: 'leads', isThis: false },
    ],
  });
});

it('one host leads, also while one that led and was killed is not away yet', async () => {
  const home = await besideHost(5_000);
  expect(await readStatus(home, nothing)).toMatchObject({
    hosts: [
      { host: 'here', state: 'works' },
      { host: 'there', state: 'leads' },
    ],
  });
});

it('an engine that holds the lock of this data folder runs', async () => {
  const home = await besideHost();
  const lock = takeEngineLock(home.folders.lockFile);
  onTestFinished(() => lock?.release());
  expect(await readEngine(home)).toMatchObject({ runs: true });
  expect(await readStatus(home, nothing)).toMatchObject({ engine: 'running' });
});

it('the words name who is at work elsewhere, and the command comes last', () => {
  expect(noEngineText([])).toBe('not running: patchbay start');
  expect(noEngineText(['h1:/srv/one', 'h3:/srv/three'])).toBe(
    'not running on this data folder, whose files wait (running elsewhere: h1:/srv/one, h3:/srv/three): patchbay start',
  );
});
