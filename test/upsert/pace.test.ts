import { describe, expect, test } from 'vitest';
import { createPace } from '#src/rate/rate-share.ts';

describe('the pace under a shared rate', () => {
  test('halves while writes come too late, never below one key, and grows by one while they come in time', () => {
    const pace = createPace(12);
    const after = (lateCount: number): number => {
      pace.ended(lateCount);
      return pace.keysPerChunk();
    };
    expect(pace.keysPerChunk()).toBe(12);
    expect([3, 1, 1, 1, 1].map(after)).toEqual([6, 3, 1, 1, 1]);
    expect([0, 0, 0].map(after)).toEqual([2, 3, 4]);
    for (let chunk = 0; chunk < 20; chunk += 1) pace.ended(0);
    expect(pace.keysPerChunk()).toBe(12);
  });
});
