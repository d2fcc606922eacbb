/** Text that no spreadsheet calculates (`rules.md`, "Dead letters": a fix-file is formula-safe). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCsvRecord } from '#src/sources/csv-writer.ts';
import { guardFormulas, unguardFormulas } from '#src/sources/formula-guard.ts';

/** What is awkward in a cell, piece by piece. */
const nastyText = fc
  .array(fc.constantFrom(...'=+-@\t\r\n\'",;|: 1aé', '+1415', ' - ', '"=', "'="), { maxLength: 8 })
  .map((pieces) => pieces.join(''));

describe('guarding formulas', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['-2', "'-2"],
    ['\tx', "'\tx"],
    ['\rx', "'\rx"],
    ['+cmd|x', "'+cmd|x"],
    ['+1+A1', "'+1+A1"],
    ['+', "'+"],
    ['+1-415-555-0101', "'+1-415-555-0101"],
    ['+14155550101', '+14155550101'],
    ['+1 415 555 0101', '+1 415 555 0101'],
    ["'+39", "''+39"],
    ['a,=1', "a,'=1"],
    ['a; "=1"', `a; "'=1"`],
    ['a\n=1', "a\n'=1"],
    ['a =1', "a '=1"],
    ['ACME - Sales', 'ACME - Sales'],
    ['ACME -', "ACME '-"],
    ["O'Neill", "O'Neill"],
    ['ann@example.com', 'ann@example.com'],
    ['a=b', 'a=b'],
    ['', ''],
  ])('writes %j as %j', (text, guarded) => {
    expect(guardFormulas(text)).toBe(guarded);
    expect(unguardFormulas(guarded)).toBe(text);
  });

  it('can be taken back from every text', () => {
    fc.assert(
      fc.property(nastyText, (text) => {
        expect(unguardFormulas(guardFormulas(text))).toBe(text);
      }),
      { numRuns: 5_000 },
    );
  });

  it('leaves no formula in a file, at whatever separator a spreadsheet splits it', () => {
    const record = fc.array(nastyText, { minLength: 1, maxLength: 3 });
    const separator = fc.constantFrom(',', ';', '\t', '|', ':', ' ');
    fc.assert(
      fc.property(record, fc.constantFrom(',', ';', '\t', '|'), separator, (cells, delimiter, split) => {
        const text = formatCsvRecord(cells, delimiter);
        // As a spreadsheet that takes no quote for the beginning of a cell: the worst that can be.
        const found = text.split(/[\r\n]/).flatMap((line) => line.split(split));
        for (const cell of found.map((one) => one.replace(/^[" \t]+/, ''))) {
          const isNumber = /^\+\d[\d ]*(?:$|[,;\t|:"])/.test(cell);
          const isLoneDash = split === ' ' && cell.length === 1;
          expect(/^[=+\-@]/.test(cell) && !isNumber && !isLoneDash, JSON.stringify(cell)).toBe(false);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([' ', "'", '"', '=', "'=", ' =', '+1', ',+'])('is linear in a text of many %j', (piece) => {
    const millisecondsFor = (chars: number): number => {
      const text = piece.repeat(chars / piece.length);
      const before = performance.now();
      unguardFormulas(guardFormulas(text));
      return performance.now() - before;
    };
    millisecondsFor(65_536);
    const [small, large] = [65_536, 1_048_576].map((chars) =>
      Math.min(...[1, 2, 3, 4].map(() => millisecondsFor(chars))),
    );
    // 16 times the text: a quadratic way would take 256 times as long.
    expect((large ?? 0) / Math.max(small ?? 0, 1)).toBeLessThan(80);
  });
});
