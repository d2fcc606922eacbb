/** A ledger that answers late, while intervals pass: what is done at intervals is done one at a time. */
import { expect, onTestFinished, vi } from 'vitest';

/** Calls of a ledger that are answered when the test lets them. */
export function heldCalls() {
  const gates: PromiseWithResolvers<void>[] = [];
  const seen = { begun: 0, underWay: 0, most: 0 };
  let isHolding = false;
  return {
    seen,
    hold: () => {
      isHolding = true;
    },
    letGo: () => {
      isHolding = false;
      for (const gate of gates.splice(0)) gate.resolve();
    },
    call: async (): Promise<void> => {
      if (!isHolding) return;
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      seen.begun += 1;
      seen.underWay += 1;
      seen.most = Math.max(seen.most, seen.underWay);
      await gate.promise;
      seen.underWay -= 1;
    },
  };
}

type Held = ReturnType<typeof heldCalls>;

export function fakeIntervals(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Several intervals pass while the ledger holds a call, and then it is stopped: the call is the only one, and is waited for. */
export async function expectOneAtATime(held: Held, stop: () => Promise<void>, intervalMs: number): Promise<void> {
  held.hold();
  await vi.advanceTimersByTimeAsync(3 * intervalMs);
  await vi.waitFor(() => expect(held.seen.begun).toBeGreaterThan(0));
  await vi.advanceTimersByTimeAsync(intervalMs);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  expect({ isStopped, most: held.seen.most }).toEqual({ isStopped: false, most: 1 });
  held.letGo();
  await stopped;
  expect(held.seen.underWay).toBe(0);
}
