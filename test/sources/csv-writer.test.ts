import { readdir, readFile, stat } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCsvRecord, writeCsvFile } from '#src/sources/csv-writer.ts';
import { guardFormulas } from '#src/sources/formula-guard.ts';
import { dataOf, readAll, useTempFolder } from '#test/sources/temp-files.ts';

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
