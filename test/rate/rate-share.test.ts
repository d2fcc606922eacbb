/** Leases are taken only as fast as the rate can serve them (`docs/rules.md`, "One contact per key", step 1). */
import { describe, expect, it } from 'vitest';
import { batchesAtOnceMax, shareOfRate } from '#src/rate/rate-share.ts';

const rates = [0.5, 1, 3, 8, 10, 25, 50, 200, 1_000];

describe('the batches that share a rate', () => {
  it('are as many as the processes take where there is no limit', () => {
    expect(batchesAtOnceMax(null)).toBe(null);
    expect(shareOfRate(null, 1_000)).toEqual({ requestsPerSecondEach: null, startGuardMs: 1_000 });
  });

  it('are two at least, so that one sends while the other waits, and never get more than the rate in all', () => {
    for (const rate of rates) {
      const { requestsPerSecondEach } = shareOfRate(rate, 1_000);
      const batchesMax = batchesAtOnceMax(rate);
      expect(batchesMax).toBeGreaterThanOrEqual(2);
      expect((batchesMax ?? 0) * (requestsPerSecondEach ?? 0)).toBeCloseTo(rate);
    }
  });

  it('have a start guard in which each gets eight requests through the line, and never less than a second', () => {
    for (const rate of rates) {
      const { startGuardMs, requestsPerSecondEach } = shareOfRate(rate, 1_000);
      expect(startGuardMs).toBeGreaterThanOrEqual(1_000);
      expect(((requestsPerSecondEach ?? 0) * startGuardMs) / 1_000).toBeGreaterThanOrEqual(8);
    }
  });
});
