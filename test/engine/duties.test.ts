/** The duties of a sweep: each at its own pace, and none stops the others. */
import { describe, expect, it } from 'vitest';
import { createDuties } from '#src/engine/duties.ts';

const never = new AbortController().signal;

describe('the duties of a sweep', () => {
  it('are all done at the first sweep, then each at its own pace', async () => {
    const done: string[] = [];
    const sweep = createDuties([
      { everySweeps: 1, carryOut: async () => done.push('each') },
      { everySweeps: 3, carryOut: async () => done.push('third') },
    ]);
    for (let count = 0; count < 4; count += 1) await sweep(never);
    expect(done).toEqual(['each', 'third', 'each', 'each', 'each', 'third']);
  });

  it('are all tried, and the first failure is told', async () => {
    const done: string[] = [];
    const sweep = createDuties([
      { everySweeps: 1, carryOut: () => Promise.reject(new Error('first')) },
      { everySweeps: 1, carryOut: async () => done.push('second') },
    ]);
    await expect(sweep(never)).rejects.toThrow('first');
    expect(done).toEqual(['second']);
  });

  it('end with the signal: none is begun after it', async () => {
    const done: string[] = [];
    const stopping = new AbortController();
    const sweep = createDuties([
      { everySweeps: 1, carryOut: async () => stopping.abort() },
      { everySweeps: 1, carryOut: async () => done.push('second') },
    ]);
    await sweep(stopping.signal);
    expect(done).toEqual([]);
  });
});
