import { describe, expect, test } from 'vitest';
import { type Figure, isKept, median, tableOf } from './figures.ts';

const figure: Figure = {
  ...{ name: 'unchanged', baseline: '2.00 s', measured: '4.00 s', value: 0.5 },
  limit: { is: 'least', value: 0.4 },
};

describe('figures', () => {
  test('keep a limit that they reach exactly', () => {
    expect(isKept({ value: 0.4, limit: { is: 'least', value: 0.4 } })).toBe(true);
    expect(isKept({ value: 0.39, limit: { is: 'least', value: 0.4 } })).toBe(false);
    expect(isKept({ value: 1.31, limit: { is: 'most', value: 1.3 } })).toBe(false);
    expect(isKept({ value: 99, limit: null })).toBe(true);
  });

  test('that are no numbers keep none', () => {
    expect(isKept({ value: Number.NaN, limit: { is: 'most', value: 1 } })).toBe(false);
  });

  test('are lines of a table, with a verdict where there is a limit', () => {
    const lines = tableOf([figure, { ...figure, name: 'told', limit: null }], null).split('\n');
    expect(lines[2]).toMatch(/^\| unchanged \| 2\.00 s +\| 4\.00 s +\| 0\.50 +\| ≥ 0\.40 +\| ok +\|$/);
    expect(lines[3]).not.toMatch(/ok|short/);
  });

  test('stand beside those of another checkout, with their quotient', () => {
    const other = [{ ...figure, measured: '40.0 s', value: 0.05 }];
    const [, , first, second] = tableOf([figure, { ...figure, name: 'new' }], other).split('\n');
    expect(first).toContain('×10 ');
    expect(second).toContain('left out');
  });

  test('have the middle value for a median', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, Number.NaN, 5])).toBeNaN();
  });
});
