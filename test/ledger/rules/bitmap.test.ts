/** Bitmaps hold the numbers that were entered, and no others. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countBits, countShared, emptyBitmap, enterBit, hasBit, union } from '#src/ledger/rules/bitmap.ts';

const numbers = fc.uniqueArray(fc.nat({ max: 300 }));
const bitmapOf = (entered: readonly number[], max = Math.max(0, ...entered)): Uint8Array => {
  const bits = emptyBitmap(max);
  for (const number of entered) enterBit(bits, number);
  return bits;
};

describe('bitmaps', () => {
  it('hold and count what was entered, and nothing beyond their end', () => {
    fc.assert(
      fc.property(numbers, (entered) => {
        const bits = bitmapOf(entered);
        const found = Array.from({ length: 320 }, (_, number) => number).filter((number) => hasBit(bits, number));
        expect(found).toEqual(entered.toSorted((a, b) => a - b));
        expect(countBits(bits)).toBe(entered.length);
        enterBit(bits, 4_000);
        expect(hasBit(bits, 4_000)).toBe(false);
      }),
    );
  });

  it('share and join as sets do, however long each is', () => {
    fc.assert(
      fc.property(numbers, numbers, (left, right) => {
        const [one, other] = [bitmapOf(left), bitmapOf(right)];
        expect(countShared(one, other)).toBe(left.filter((number) => right.includes(number)).length);
        const all = new Set([...left, ...right]);
        expect(countBits(union(one, other))).toBe(all.size);
        expect([...all].every((number) => hasBit(union(one, other), number))).toBe(true);
      }),
    );
  });
});
