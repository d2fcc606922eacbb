/** Work that is done again and again, one at a time (`src/repeat.ts`). */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { every, oneAtATime } from '#src/repeat.ts';

/** Work that ends when the test lets it: counts how often it was begun, and how many were under way at most. */
function countedWork() {
  const gates: PromiseWithResolvers<void>[] = [];
  const seen = { begun: 0, underWay: 0, most: 0 };
  const work = async (): Promise<void> => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    seen.begun += 1;
    seen.underWay += 1;
    seen.most = Math.max(seen.most, seen.underWay);
    try {
      await gate.promise;
    } finally {
      seen.underWay -= 1;
    }
  };
  return { seen, work, end: () => gates.shift()?.resolve(), fail: () => gates.shift()?.reject(new Error('broken')) };
}

const unexpected = (error: unknown): never => {
  throw error;
};

describe('work that is asked for', () => {
  it('is done once more for all who ask while it is under way, and each of them waits for that', async () => {
    const { seen, work, end } = countedWork();
    const repeated = oneAtATime(work, unexpected);
    let done = 0;
    for (let asked = 0; asked < 3; asked += 1) void repeated.ask().then(() => (done += 1));
    end();
    await vi.waitFor(() => expect(seen.begun).toBe(2));
    expect(done).toBe(0);
    end();
    await vi.waitFor(() => expect(done).toBe(3));
    expect(seen).toEqual({ begun: 2, underWay: 0, most: 1 });
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'is done for one who asks %i microtasks after the last one ended',
    async (later) => {
      const { seen, work, end } = countedWork();
      const repeated = oneAtATime(work, unexpected);
      void repeated.ask();
      end();
      for (let microtask = 0; microtask < later; microtask += 1) await Promise.resolve();
      const second = repeated.ask();
      await vi.waitFor(() => expect(seen.begun).toBe(2));
      end();
      await second;
    },
  );

  it('goes on after a failure, which is reported', async () => {
    const { seen, work, end, fail } = countedWork();
    const errors: unknown[] = [];
    const repeated = oneAtATime(work, (error) => errors.push(error));
    const first = repeated.ask();
    fail();
    await first;
    const second = repeated.ask();
    end();
    await second;
    expect(errors).toEqual([new Error('broken')]);
    expect(seen.begun).toBe(2);
  });

  it('is over when it is stopped: what is under way is waited for, and what was asked meanwhile is not begun', async () => {
    const { seen, work, end } = countedWork();
    const repeated = oneAtATime(work, unexpected);
    void repeated.ask();
    void repeated.ask();
    let isStopped = false;
    const stopped = repeated.stop().then(() => (isStopped = true));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    expect(isStopped).toBe(false);
    end();
    await stopped;
    await repeated.ask();
    expect(seen).toEqual({ begun: 1, underWay: 0, most: 1 });
  });
});

it('at an interval it is left out while it is under way, and comes again after that', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { seen, work, end } = countedWork();
  const repeated = every(100, work, unexpected);
  expect(seen.begun).toBe(0);
  await vi.advanceTimersByTimeAsync(350);
  expect(seen).toEqual({ begun: 1, underWay: 1, most: 1 });
  end();
  await vi.advanceTimersByTimeAsync(100);
  expect(seen.begun).toBe(2);
  const stopped = repeated.stop();
  end();
  await stopped;
  await vi.advanceTimersByTimeAsync(500);
  expect(seen).toEqual({ begun: 2, underWay: 0, most: 1 });
});
