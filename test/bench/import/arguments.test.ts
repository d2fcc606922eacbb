import { describe, expect, test } from 'vitest';
import { readArguments } from './arguments.ts';

const names = ['new', 'unchanged'];

describe('the arguments of the benchmark', () => {
  test('are a million rows, five rounds and all cases without any', () => {
    expect(readArguments([], names)).toEqual({
      ...{ cases: [], rows: 1_000_000, applied: 20_000, rounds: 5, against: null, keep: null },
    });
  });

  test('name cases and sizes', () => {
    const words = ['unchanged', '--rows', '10000', '--rounds', '3', '--against', '../other', 'new'];
    const read = { cases: ['unchanged', 'new'], rows: 10_000, rounds: 3, against: '../other' };
    expect(readArguments(words, names)).toMatchObject(read);
  });

  test.each([
    [['old'], 'no case is called “old”'],
    [['--rows', '1'], '--rows is a number'],
    [['--rows', 'many'], '--rows is a number'],
    [['--rounds', '4'], '--rounds is an odd number'],
    [['--rounds'], '--rounds needs a value'],
    [['--sizes', '1'], 'there is no option --sizes'],
  ])('%j cannot be meant', (words, sentence) => {
    expect(readArguments(words, names)).toContain(sentence);
  });
});
