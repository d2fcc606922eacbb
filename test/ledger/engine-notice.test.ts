/** Which workers are there is told by their last sign of life and by whether their process lives. */
import { expect, it } from 'vitest';
import { liveWorkers } from '#src/ledger/engine-notice.ts';

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
