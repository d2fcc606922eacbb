/** Workbooks and archives from drop to contact: what comes after the source is the same as for CSV (docs/mapping.md, "Workbooks"). */

import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import type { Row } from '#src/sources/row.ts';
import { noContext } from '#test/mapping/support.ts';
import { readText, useTempFolder } from '#test/sources/temp-files.ts';
import { type CellValue, workbookOf, writeWorkbook } from '#test/support/workbook.ts';
import { zipFile } from '#test/support/zip-file.ts';
import { expectCounts, mapping, openRunsBench } from './support/runs-bench.ts';

const folder = useTempFolder();
const header = ['externalId', 'firstName', 'phone', 'Notes'];
const people = [
  ['p-1', 'Ada', '+14155550101', 'x'],
  ['p-2', 'Bea', 'call me', ''],
];

function csvOf(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n');
}

/** The cells of a CSV fix-file, as a spreadsheet that opens and saves it would hold them. */
function cellsOf(text: string): readonly (readonly string[])[] {
  const lines = text
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\r\n');
  return lines.map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
    ),
  );
}

describe('a workbook', () => {
  it('becomes contacts, and its rejected rows a CSV file that maps as the workbook did', async () => {
    const named = mapping({ key: 'ID', sheet: 'People', fields: { firstName: 'Name' }, phones: [{ column: 'Tel' }] });
    const bench = await openRunsBench({ mapping: named });
    const rows = [
      ['ID', 'Name', 'Tel'],
      [7, 'Ann', 'call me'],
      [8, 'Bo', { number: 14155550102, format: '\\+0' }],
    ];
    const book = writeWorkbook({
      sheets: [
        { name: 'Cover', rows: [['Hello']] },
        { name: 'People', rows: rows as CellValue[][] },
      ],
    });
    const run = await bench.import('people.xlsx', book);
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    expect(run.shape).toMatchObject({ format: 'xlsx', columns: ['ID', 'Name', 'Tel'], delimiter: null });
    const fix = await bench.fixFile(run);
    expect(basename(fix.path)).toMatch(/__people\.csv$/);
    expect(fix.text).toMatch(/^\ufeffID,Name,Tel,_id,_line,_code,_hint\r\n7,Ann,call me,d\w+,2,phoneLetters,/);
    expectCounts(await bench.import('fixed.csv', fix.text.replace('call me', '+14155550101')), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('7')).defaultFields.firstName).toBe('Ann');
  });

  it('made of a fix-file is read as the fix-file', async () => {
    const bench = await openRunsBench();
    const fix = await bench.fixFile(await bench.import('people.csv', csvOf([header, ...people])));
    const cells = cellsOf(fix.text.replace('call me', '+14155550102'));
    const again = await bench.import('fixed.xlsx', workbookOf(cells));
    expectCounts(again, { rows: 1, created: 1 });
    expect(await bench.letters()).toMatchObject([{ state: 'closed' }]);
  });

  it('with the same content twice is unchanged', async () => {
    const bench = await openRunsBench();
    const book = workbookOf([header, people[0] ?? []]);
    expectCounts(await bench.import('a.xlsx', book), { rows: 1, created: 1 });
    expectCounts(await bench.import('b.xlsx', book), { rows: 1, unchanged: 1 });
    expectCounts(await bench.import('c.csv', csvOf([header, people[0] ?? []])), { rows: 1, unchanged: 1 });
  });

  it('in an archive is read, and the archive is what messages name', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('export.zip', zipFile([{ name: 'p.xlsx', data: workbookOf([header, ...people]) }]));
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    expect(basename((await bench.fixFile(run)).path)).toMatch(/__export\.csv$/);
  });
});

describe('a table written as CSV and as a workbook', () => {
  const text = fc
    .array(
      fc.constantFrom(
        ...'ab,;|\t"\'=+-@ é東😀&<>_',
        '_x0041_',
        '\r\n',
        '\n',
        '007',
        '+14155550101',
        'x@example.com',
        '#CLEAR',
      ),
      { maxLength: 5 },
    )
    .map((pieces) => pieces.join(''));
  const named = fc.constantFrom('firstName', 'lastName', 'phone', 'phone mobile', 'email', 'Notes', 'custom.note');

  it('gives equal rows and equal contacts', async () => {
    let file = 0;
    const property = fc.asyncProperty(
      fc.uniqueArray(named, { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(text, { minLength: 5, maxLength: 5 }), { maxLength: 4 }),
      fc.constantFrom('excel', 'calc', 'bare'),
      async (columns, cells, dialect) => {
        file += 1;
        const rows = cells.map((some, index) => [`c-${index}`, ...some.slice(0, columns.length)]);
        const table = [['externalId', ...columns], ...rows];
        const options = { header: null, delimiter: ',' };
        const fromCsv = await readText(folder, `${file}.csv`, csvOf(table), options);
        const fromBook = await readText(folder, `${file}.xlsx`, workbookOf(table, { dialect }));
        const { mapRow } = compileMapping(null, { columns: fromCsv.head.columns }, noContext);
        const withoutLine = (row: Row): unknown => ({ ...row, line: 0 });
        const contactOf = (row: Row): unknown => JSON.parse(JSON.stringify(mapRow({ ...row, line: 0 })));
        expect(fromBook.head.columns).toEqual(fromCsv.head.columns);
        expect(fromBook.items.map(({ row }) => withoutLine(row))).toEqual(
          fromCsv.items.map(({ row }) => withoutLine(row)),
        );
        expect(fromBook.items.map(({ row }) => contactOf(row))).toEqual(fromCsv.items.map(({ row }) => contactOf(row)));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  }, 60_000);
});
