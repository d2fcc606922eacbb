/** How the history of the phone numbers is kept and forgotten, without a database. */
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isForgotten, readRuns, showNumbers, writeRuns } from '#src/ledger/rules/snapshots.ts';

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

test('a snapshot is forgotten by its age or by its place; the newest never is', () => {
  const of = (parts: { readonly keepMax?: number; readonly beforeMs?: number }): readonly number[] =>
    [10, 20, 30, 40].filter((takenAtMs, index) =>
      isForgotten(takenAtMs, index, { count: 4, keepMax: 100, beforeMs: 0, ...parts }),
    );
  expect(of({})).toEqual([]);
  expect(of({ beforeMs: 30 })).toEqual([10, 20]);
  expect(of({ keepMax: 3 })).toEqual([10]);
  expect(of({ keepMax: 1, beforeMs: 20 })).toEqual([10, 20, 30]);
  expect(of({ keepMax: 0, beforeMs: 99 })).toEqual([10, 20, 30]);
});

describe('the history of phone numbers', () => {
  it('ends versions that are not shown any more, and begins those that are new', () => {
    const [same, other, fresh] = [{ id: 'a' }, { id: 'b', name: 'new' }, { id: 'd' }];
    const open = new Map([
      ['a', { numberKey: 1, document: JSON.stringify(same) }],
      ['b', { numberKey: 2, document: '{"id":"b"}' }],
      ['c', { numberKey: 3, document: '{"id":"c"}' }],
    ]);
    expect(showNumbers([other, same, fresh], open)).toEqual({
      shown: [
        { id: 'b', knownKey: 2, newDocument: '{"id":"b","name":"new"}' },
        { id: 'a', knownKey: 1, newDocument: null },
        { id: 'd', knownKey: null, newDocument: '{"id":"d"}' },
      ],
      endedKeys: [2, 3],
    });
  });
});
