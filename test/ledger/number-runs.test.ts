import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRuns, writeRuns } from '#src/ledger/sqlite/snapshots.ts';

test.each([
  [[], ''],
  [[7], '7'],
  [[1, 2, 3, 4], '1-4'],
  [[1, 2, 3, 9, 7, 6, 5, 5], '1-3,9,7-5,5'],
])('%j is written as %j', (keys, text) => {
  expect(writeRuns(keys)).toBe(text);
  expect(readRuns(text)).toEqual(keys);
});

test('any order of keys is read as it was written', () => {
  void fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 30 }), (keys) => {
      expect(readRuns(writeRuns(keys))).toEqual(keys);
    }),
  );
});

test('a thousand numbers in their order are a few characters, and one that is gone costs a few more', () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => index + 1);
  expect(writeRuns(keys)).toBe('1-1000');
  expect(writeRuns(keys.filter((key) => key !== 500))).toBe('1-499,501-1000');
});
