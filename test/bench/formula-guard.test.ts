/** The guard against formulas takes time in proportion to the text, in processor time of this thread. */
import { describe, expect, it } from 'vitest';
import { guardFormulas, unguardFormulas } from '#src/sources/csv-writer.ts';

describe('guarding formulas', () => {
  it.each([' ', "'", '"', '=', "'=", ' =', '+1', ',+'])('is linear in a text of many %j', (piece) => {
    const millisecondsFor = (chars: number, times: number): number => {
      const text = piece.repeat(chars / piece.length);
      const before = process.threadCpuUsage();
      for (let time = 0; time < times; time += 1) unguardFormulas(guardFormulas(text));
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1_000;
    };
    // As much text in one piece as in sixteen: a quadratic way takes 16 times as long for it. In turn, so that both meet
    // the same machine; the least of several, since nothing makes code faster than it is.
    const rounds = Array.from(
      { length: 9 },
      () => [millisecondsFor(65_536, 16), millisecondsFor(1_048_576, 1)] as const,
    );
    const least = (which: 0 | 1): number => Math.min(...rounds.map((round) => round[which]));
    // Where the system counts in steps of milliseconds, the least may be none.
    expect(least(1)).toBeLessThan(8 * Math.max(least(0), 5));
  });
});
