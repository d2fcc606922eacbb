/** A cell that only a spreadsheet damaged counts as unchanged (`docs/rules.md`, "Dead letters"). */
import { expect, it } from 'vitest';
import { isSameButForDamage } from '#src/runs/spreadsheet-damage.ts';

it.each([
  ['007', '7'],
  ['+14155550101', '14155550101'],
  ['+14155550101', '1.41556E+10'],
  ['+4915112345678', '4,91511E+12'],
  ['1234567890123456789', '1234567890123450000'],
  ['1234567890123456789', '1.23457E+18'],
  ['999999999999999999', '1E+18'],
  ['1e5', '100000'],
  ['1e5', '1.00E+05'],
  ['1.50', '1,5'],
  ['-0.10', '-0.1'],
  ['000', '0'],
  ['true', 'TRUE'],
  ["'007", '007'],
  [' Ann ', 'Ann'],
  ['a\r\nb', 'a\nb'],
  ['Łukasz', '?ukasz'],
  ['2026-11-21', '21/11/2026'],
  ['2026-11-21', '11/21/26'],
  ['2026-11-21', '21. Nov 26'],
  ['2026-11-21T14:05:30Z', '21.11.2026 14:05'],
  ['2026-11-21 14:05', '11/21/2026 2:05 PM'],
  ['1/2/2026', '01/02/2026'],
  ['1-2', '02-Jan'],
  ['3/4', '03. Apr'],
])('%j came back as %j: a spreadsheet did that', (original, found) => {
  expect(isSameButForDamage(original, found)).toBe(true);
});

it.each([
  ['14155550101', '+14155550101'],
  ['7', '007'],
  ['4.15555E+09', '4155550132'],
  ['1.2E+11', '120000000123'],
  ['4155550101', '4155550102'],
  ['call me', '+14155550101'],
  ['11/02/2026', '2026-02-11'],
  ['11/02/2026', '02/11/2026'],
  ['2026-11-21', '2026-11-22'],
  ['2026-11-21 14:05', '21.11.2026 14:06'],
  ['1/2', '2/1'],
  ['', '0'],
  ['0', ''],
  ['JOHN', 'John'],
  ['Ann?', 'Anne'],
  ['Lukasz', 'Łukasz'],
  ['+', '-'],
  ['5', '-5'],
])('%j came back as %j: somebody did that', (original, found) => {
  expect(isSameButForDamage(original, found)).toBe(false);
});

it.each(['0', '9', ' ', "'", '1-', '1.', '+1'])('is linear in cells of many %j', (piece) => {
  const millisecondsFor = (chars: number): number => {
    const text = piece.repeat(chars / piece.length);
    const before = performance.now();
    isSameButForDamage(text, `${text}x`);
    isSameButForDamage(`${text}5`, `${text}6`);
    return performance.now() - before;
  };
  millisecondsFor(16_384);
  const [small, large] = [16_384, 262_144].map((chars) => Math.min(...[1, 2, 3, 4].map(() => millisecondsFor(chars))));
  // 16 times the text: a quadratic way would take 256 times as long.
  expect((large ?? 0) / Math.max(small ?? 0, 1)).toBeLessThan(100);
});
