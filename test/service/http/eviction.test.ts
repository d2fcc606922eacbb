/** Who leaves when there are too many connections. */
import { expect, test } from 'vitest';
import { whoLeaves } from '#src/service/http/eviction.ts';

/** Connections by name; those in capitals are at work. At most 4. */
function leaving(newcomers: string, guests: string): string {
  const rules = { countMax: 4, waitsForClient: (one: string) => one === one.toLowerCase() };
  return whoLeaves({ newcomers: new Set(newcomers), guests: new Set(guests) }, rules).join('');
}

test('nobody leaves while there is room', () => {
  expect(leaving('ab', 'cd')).toBe('');
  expect(leaving('', '')).toBe('');
});

test('those leave first that have waited longest, and none that is at work', () => {
  expect(leaving('abcdef', '')).toBe('ab');
  expect(leaving('AbCdef', '')).toBe('bd');
  expect(leaving('', 'abcdef')).toBe('ab');
});

test('newcomers above half of the limit leave before guests do', () => {
  expect(leaving('abc', 'xyz')).toBe('ax');
  expect(leaving('abcd', 'xy')).toBe('ab');
});

test('guests leave for newcomers that fill at most half of the limit', () => {
  expect(leaving('ab', 'wxyz')).toBe('wx');
  expect(leaving('a', 'wxyz')).toBe('w');
});

test('newcomers leave after all where the guests are at work', () => {
  expect(leaving('ab', 'WXYz')).toBe('za');
  expect(leaving('abc', 'XYZ')).toBe('ab');
});

test('where all are at work nobody leaves', () => {
  expect(leaving('ABC', 'XYZ')).toBe('');
});
