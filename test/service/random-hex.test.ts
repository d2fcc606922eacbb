/** Random digits for ids. */
import { expect, test } from 'vitest';
import { randomHex } from '#src/service/text-schemas.ts';

test('no two of ten thousand are equal, however many bytes were taken in between', () => {
  const taken = Array.from({ length: 10_000 }, (_, index) => {
    randomHex((index % 64) + 1);
    return randomHex(12);
  });
  expect(new Set(taken).size).toBe(taken.length);
  expect(taken.every((digits) => /^[0-9a-f]{24}$/.test(digits))).toBe(true);
});
