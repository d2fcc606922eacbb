/** A cell that only a spreadsheet damaged counts as unchanged (`docs/rules.md`, "Dead letters"). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CellPlace, isSameButForDamage } from '#src/runs/fix/spreadsheet-damage.ts';

/** Opened this year or the last, and saved as CSV. */
const table: CellPlace = { years: [2025, 2026], isWorkbook: false, isRejected: false };
const workbook: CellPlace = { ...table, isWorkbook: true };
const rejected: CellPlace = { ...table, isRejected: true };

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
  ['5.3.26', '05.03.2026'],
  ['05.03.26', '05.03.2026'],
  ['1.1.26', '01.01.2026'],
  ['1.2.3', '01.02.2003'],
  ['5.3.26 14:05', '05.03.2026 14:05'],
  ['1.10', '01. Okt'],
  ['1.2.', '01. Feb'],
  ['3/4', '03/04/26'],
  ['12/1985', 'Dez 85'],
  ['MARCH1', '1-Mar'],
  ['MARCH1', '01. Mrz'],
  ['SEP2', '2-Sep'],
  ['Oct-4', '4-Oct'],
  ['Dez 12', '12. Dez'],
  ['JAN2026', 'Jan 26'],
  ['MAR45', 'Mrz 45'],
  ['1 de marzo de 2026', '01/03/2026'],
  ['juil 4', '04-juil'],
  ['2026-11-21', '21 ноября 2026'],
  ['3月1日', '1-Mar'],
  ['12:30', '12:30:00'],
  ['1:2', '01:02'],
  ['2:05 PM', '14:05:00'],
  ['12:30:15', '12:30'],
  ['TRUE', 'WAHR'],
  ['false', 'FAUX'],
  ['wahr', 'TRUE'],
  ['(5)', '-5'],
  ['(1.234)', '-1234'],
  ['5-', '-5'],
  ['.5', '0.5'],
  ['1.234', '1234'],
  ['1 000', '1000'],
  ["1'000'000", '1000000'],
  ['1.234,5', '1234,5'],
  ['1,234.50', '1,234.5'],
  ['12,34,567', '1234567'],
  ['5%', '0.05'],
  ['€5', '€5.00'],
])('%j came back as %j: a spreadsheet did that', (original, found) => {
  expect(isSameButForDamage(original, found, table)).toBe(true);
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
  ['-5', '(5)'],
  ['12', '21'],
  ['0,5', '5'],
  ['1000', '1 000'],
  ['1234', '1.234'],
  ['1234567890123456', '1234567890123457'],
  ['5%', '5'],
  ['€5', '5'],
  ['true', 'false'],
  ['TRUE', 'FALSCH'],
  ['TRUE', '1'],
  ['Wahr', 'Wehr'],
  ['12:30', '12:31'],
  ['12:30', '12:30:01'],
  ['2026-11-21 14:05', '21.11.2026 02:05'],
  ['3-4', '3 bis 4'],
  ['1/2', '2 Tonnen'],
  ['3/4', '03/04/1985'],
  ['01.03.2026', '1-Mar'],
  ['March 1', 'April 1'],
  ['2026', '01.01.2026'],
  ['1', '1. Jan'],
  ['MAR-1', 'MAR-26'],
  ['1-3', '3-26'],
])('%j came back as %j: a person did that', (original, found) => {
  expect(isSameButForDamage(original, found, table)).toBe(false);
});

describe('in a workbook, where each date is an ISO date,', () => {
  it.each([
    ['3-4', '2026-04-03'],
    ['1/2', '2026-02-01'],
    ['1/2', '2026-01-02'],
    ['5.3.26', '2026-03-05'],
    ['5.3.26 14:00', '2026-03-05 14:00'],
    ['11/02/2026', '2026-02-11'],
    ['11/02/2026', '2026-11-02'],
    ['Dez 12', '2026-12-12'],
    ['MARCH1', '2026-03-01'],
    ['1.10', '2026-10-01'],
    ['1-26', '2026-01-26'],
    ['1-26', '2026-01-01'],
    ['1.2.3', '2003-02-01'],
    ['WAHR', 'TRUE'],
    ['00124', '124'],
  ])('%j came back as %j: a spreadsheet did that', (original, found) => {
    expect(isSameButForDamage(original, found, workbook)).toBe(true);
  });

  it.each([
    ['3-4', '2026-04-04'],
    ['3-4', '1985-04-03'],
    ['1/2', '2026-02-02'],
    ['call me', '2026-02-02'],
    ['11/02/2026', '2027-02-11'],
  ])('%j came back as %j: a person did that', (original, found) => {
    expect(isSameButForDamage(original, found, workbook)).toBe(false);
  });
});

describe('in a cell for which its row was rejected,', () => {
  it.each([
    ['1 000', '1000'],
    ['5.3.26', '05.03.2026'],
    ['2026-11-21', '21.11.2026'],
    ['WAHR', 'TRUE'],
    ['12:30', '12:30:00'],
    ['(5)', '-5'],
  ])('%j written as %j is a correction', (original, found) => {
    expect(isSameButForDamage(original, found, rejected)).toBe(false);
  });

  it.each([
    ['+49151123456789', '4.91511E+13'],
    ['4.15555E+09', '4155550000'],
    ['007', '7'],
    ['Łukasz', '?ukasz'],
  ])('%j that came back as %j has still lost what it lost', (original, found) => {
    expect(isSameButForDamage(original, found, rejected)).toBe(true);
  });
});

describe('whatever the value,', () => {
  const two = (number: number): string => `${number}`.padStart(2, '0');
  const short = ['Jan', 'Feb', 'Mrz', 'Apr', 'Mai', 'Jun', 'Jul', 'Aug', 'Sep', 'Okt', 'Nov', 'Dez'];
  const day = fc.record({
    y: fc.integer({ min: 1950, max: 2049 }),
    m: fc.integer({ min: 1, max: 12 }),
    d: fc.integer({ min: 1, max: 28 }),
  });
  type Day = typeof day extends fc.Arbitrary<infer One> ? One : never;
  const yy = ({ y }: Day) => two(y % 100);
  const written: readonly ((one: Day) => string)[] = [
    ({ y, m, d }) => `${d}.${m}.${y}`,
    (one) => `${one.d}.${one.m}.${yy(one)}`,
    (one) => `${two(one.d)}/${two(one.m)}/${yy(one)}`,
    ({ y, m, d }) => `${d}. ${short[m - 1]} ${y}`,
    ({ y, m, d }) => `${y}-${two(m)}-${two(d)}`,
  ];
  const shown: readonly ((one: Day) => string)[] = [
    ({ y, m, d }) => `${two(d)}.${two(m)}.${y}`,
    (one) => `${two(one.d)}.${two(one.m)}.${yy(one)}`,
    ({ y, m, d }) => `${d}/${m}/${y}`,
    (one) => `${one.d}. ${short[one.m - 1]} ${yy(one)}`,
  ];
  const iso = ({ y, m, d }: Day) => `${y}-${two(m)}-${two(d)}`;

  it('a date that a spreadsheet reads and shows is recognised, and another date never', () => {
    const form = fc.tuple(fc.constantFrom(...written), fc.constantFrom(...shown));
    fc.assert(
      fc.property(day, day, form, (one, other, [write, show]) => {
        expect(isSameButForDamage(write(one), show(one), table)).toBe(true);
        expect(isSameButForDamage(write(one), iso(one), workbook)).toBe(true);
        const isSameDay = one.m === other.m && one.d === other.d && (one.y - other.y) % 100 === 0;
        if (!isSameDay) expect(isSameButForDamage(write(one), show(other), table)).toBe(false);
      }),
    );
  });

  it('a number that a spreadsheet reads and shows is recognised, another never, and a sign that a person has added never', () => {
    const number = fc.integer({ min: 0, max: 99_999_999 });
    const write: readonly ((one: number) => string)[] = [
      (one) => `00${one}`,
      (one) => `+${one}`,
      (one) => `${one}`.replace(/\B(?=(\d{3})+$)/g, '.'),
      (one) => `${one}`.replace(/\B(?=(\d{3})+$)/g, ' '),
      (one) => `${one},00`,
    ];
    fc.assert(
      fc.property(number, number, fc.constantFrom(...write), (one, other, writeSo) => {
        expect(isSameButForDamage(writeSo(one), `${one}`, table)).toBe(true);
        // 1.234 is a number of its own in other countries.
        if (one !== other && one !== other * 1000)
          expect(isSameButForDamage(writeSo(one), `${other}`, table)).toBe(false);
        if (writeSo(one) !== `${one}`) expect(isSameButForDamage(`${one}`, `+${one}`, table)).toBe(false);
      }),
    );
  });

  it('what no spreadsheet reads as anything is unchanged only where it is the same', () => {
    const word = fc.stringMatching(/^[g-z]{3,8} [g-z]{3,8}$/);
    fc.assert(
      fc.property(word, fc.oneof(word, fc.integer().map(String), day.map(iso)), (original, found) => {
        expect(isSameButForDamage(original, found, workbook)).toBe(original === found);
      }),
    );
  });
});

it.each(['0', '9', ' ', "'", '1-', '1.', '+1'])('is linear in cells of many %j', (piece) => {
  const millisecondsFor = (chars: number): number => {
    const text = piece.repeat(chars / piece.length);
    const before = performance.now();
    isSameButForDamage(text, `${text}x`, table);
    isSameButForDamage(`${text}5`, `${text}6`, table);
    isSameButForDamage(`1${text}5`, '7', table);
    return performance.now() - before;
  };
  millisecondsFor(16_384);
  const [small, large] = [16_384, 262_144].map((chars) => Math.min(...[1, 2, 3, 4].map(() => millisecondsFor(chars))));
  // 16 times the text: a quadratic way would take 256 times as long.
  expect((large ?? 0) / Math.max(small ?? 0, 1)).toBeLessThan(100);
});
