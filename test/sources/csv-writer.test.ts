import { readdir, readFile, stat } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCsvRecord, guardFormulas, unguardFormulas, writeCsvFile } from '#src/sources/csv-writer.ts';
import { dataOf, readAll, useTempFolder } from './temp-files.ts';

const folder = useTempFolder();

describe('writing CSV', () => {
  it('quotes what needs quotes and ends lines with CRLF', () => {
    expect(formatCsvRecord(['a;b', 'say "hi"', 'x\ny', ' z', 'a,b'], ';')).toBe(
      '"a;b";"say ""hi""";"x\ny";" z";a,b\r\n',
    );
    expect(formatCsvRecord([''], ',')).toBe('""\r\n');
  });

  it('writes what another parser reads back', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'ab ,;"\n\ré😀='), maxLength: 5 });
    const tables = fc.array(fc.array(cell, { minLength: 2, maxLength: 3 }), { minLength: 1, maxLength: 4 });
    const property = fc.property(tables, fc.constantFrom(',', ';', '\t'), (rows, delimiter) => {
      const text = rows.map((row) => formatCsvRecord(row, delimiter)).join('');
      expect(parse(text, { delimiter, record_delimiter: '\r\n', relax_column_count: true })).toEqual(
        rows.map((row) => row.map(guardFormulas)),
      );
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('writes a file with a BOM, for the owner only, that our own reader reads back', async () => {
    const path = folder.path('fix/run1.csv');
    const rows = Array.from({ length: 5_000 }, (_, index) => [`${index}`, 'Zoë "Z"\r\nÜnal', '+14155550101']);
    await writeCsvFile(path, { columns: ['externalId', 'name', 'phone'], rows, delimiter: ';' });
    const bytes = await readFile(path);
    expect([
      bytes.subarray(0, 3).toString('hex'),
      (await stat(path)).mode & 0o777,
      await readdir(folder.path('fix')),
    ]).toEqual(['efbbbf', 0o600, ['run1.csv']]);
    const { head, items } = await readAll(path, { name: 'run1.csv' });
    expect([head.columns, head.delimiter, dataOf(items)]).toEqual([['externalId', 'name', 'phone'], ';', rows]);
  });

  it('writes each record of a file as that record is written by itself, whatever is above it', async () => {
    const cell = fc.constantFrom('', 'a', '=1', ' =1', 'a;b', '"');
    const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
    const property = fc.asyncProperty(table, fc.constantFrom(',', ';'), async (rows, delimiter) => {
      const path = folder.path('above.csv');
      await writeCsvFile(path, { columns: ['a', '=1'], rows, delimiter });
      const records = [['a', '=1'], ...rows].map((cells) => formatCsvRecord(cells, delimiter));
      expect(await readFile(path, 'utf8')).toBe(`\ufeff${records.join('')}`);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('leaves nothing behind when the rows fail', async () => {
    const rows = (function* () {
      yield ['1'];
      throw new Error('ledger away');
    })();
    await expect(writeCsvFile(folder.path('none/run1.csv'), { columns: ['a'], rows, delimiter: ',' })).rejects.toThrow(
      'ledger away',
    );
    expect(await readdir(folder.path('none'))).toEqual([]);
  });
});

// Text that no spreadsheet calculates (`docs/rules.md`, "Dead letters": a fix-file is formula-safe).

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
});
