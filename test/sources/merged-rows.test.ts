/** Cells of a workbook that are merged (`docs/mapping.md`, "Workbooks"). */
import { describe, expect, it } from 'vitest';
import type { HeaderRule } from '#src/sources/format-reader.ts';
import type { SourceOptions } from '#src/sources/open-source.ts';
import { findMergedDown } from '#src/sources/xlsx/merged-rows.ts';
import { brokenOf, dataOf, type ReadFile, readText, useTempFolder } from '#test/sources/temp-files.ts';
import { type SheetPlan, workbookMembers, workbookOf } from '#test/support/workbook.ts';
import { zipFile } from '#test/support/zip-file.ts';

const folder = useTempFolder();
const header: HeaderRule = {
  isHeader: (cells) => cells.includes('externalId'),
  wanted: 'column externalId',
  hint: 'Add it.',
};

function read(rows: SheetPlan['rows'], merges: string, options: Partial<SourceOptions> = {}): Promise<ReadFile> {
  const elements = merges.split(' ').map((ref) => `<mergeCell ref="${ref}"/>`);
  const after = `<mergeCells count="${elements.length}">${elements.join('')}</mergeCells>`;
  return readText(folder, 'a.xlsx', workbookOf(rows, { after }), { header, ...options });
}

const noted = ({ tail }: ReadFile) => tail.warnings.map(({ code, message }) => [code, message]);

describe('a value that is merged down', () => {
  it.each([
    ['utf-16le', (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['utf-16be', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ])('counts in a sheet in %s, too', async (_, encode) => {
    const rows = [
      ['externalId', 'company'],
      ['1', 'Šumava – ACME'],
      ['2', null],
      ['3', 'Umbrella'],
    ];
    const sheet = { name: 'S', rows, after: '<mergeCells count="1"><mergeCell ref="B2:B3"/></mergeCells>' };
    const members = workbookMembers({ sheets: [sheet] }).map((member) =>
      member.name.endsWith('sheet1.xml')
        ? { ...member, data: encode(String(member.data).replace('UTF-8', 'UTF-16')) }
        : member,
    );
    const { items } = await readText(folder, 'a.xlsx', zipFile(members), { header });
    expect(dataOf(items)).toEqual([
      ['1', 'Šumava – ACME'],
      ['2', 'Šumava – ACME'],
      ['3', 'Umbrella'],
    ]);
  });

  it('counts in each of its rows, and in no other', async () => {
    const file = await read(
      [
        ['externalId', 'name', 'company', 'town'],
        ['1', 'Ann', 'ACME', 'Bonn'],
        ['2', 'Bob', null, null],
        null,
        ['3', 'Cid'],
        ['4', 'Dan', null, 'Ulm'],
        ['5', 'Eva', 'Umbrella'],
        ['6', 'Flo'],
      ],
      'C7:C8 C2:C5 D2:D3',
    );
    expect(dataOf(file.items)).toEqual([
      ['1', 'Ann', 'ACME', 'Bonn'],
      ['2', 'Bob', 'ACME', 'Bonn'],
      ['3', 'Cid', 'ACME', ''],
      ['4', 'Dan', '', 'Ulm'],
      ['5', 'Eva', 'Umbrella', ''],
      ['6', 'Flo', 'Umbrella', ''],
    ]);
    expect(noted(file)).toEqual([
      ['mergedRows', '3 merged ranges were read with the value in each row (the first: C7:C8)'],
    ]);
  });

  it('makes no row of one that holds nothing else, and leaves a value of the row itself', async () => {
    const { items } = await read([['externalId', 'company'], ['1', 'ACME'], null, ['2', 'Own']], 'B2:B4');
    expect(dataOf(items)).toEqual([
      ['1', 'ACME'],
      ['2', 'Own'],
    ]);
  });

  it('is that of the first column, where columns are merged, too', async () => {
    const { items } = await read([['externalId', 'company', 'town'], ['1', 'ACME'], ['2']], 'B2:C3');
    expect(dataOf(items)).toEqual([
      ['1', 'ACME', ''],
      ['2', 'ACME', ''],
    ]);
  });

  it('does not hide a row of totals', async () => {
    const file = await read(
      [
        ['company', 'externalId', 'hours'],
        ['ACME', '1', 3],
        [null, '2', 4],
        [null, 'Subtotal', 7],
      ],
      'A2:A4',
    );
    expect(dataOf(file.items)).toEqual([
      ['ACME', '1', '3'],
      ['ACME', '2', '4'],
    ]);
    expect(noted(file).map(([code]) => code)).toEqual(['totalLine', 'mergedRows']);
  });

  it('is no key, unless that is put together, and the row has another part of it of its own', async () => {
    const rows = [
      ['externalId', 'part', 'phone'],
      ['1', 'a', '+14155550101'],
      [null, null, '+14155550102'],
    ];
    expect(dataOf((await read(rows, 'A2:A3')).items)[1]).toEqual(['', '', '+14155550102']);
    const ofParts = {
      ...header,
      isHeader: (cells: readonly string[]) => cells.some((cell) => /^(?:ex|part)/.test(cell)),
    };
    const putTogether = { ...ofParts, isKeyPart: (name: string) => /^(?:ex|part)/.test(name) };
    const own = [rows[0] ?? [], rows[1] ?? [], [null, 'b', '+14155550102']];
    const second = async (sheet: SheetPlan['rows'], merges: string, rule: HeaderRule | null) =>
      dataOf((await read(sheet, merges, { header: rule })).items)[1];
    expect(await second(own, 'A2:A3', putTogether)).toEqual(['1', 'b', '+14155550102']);
    expect(await second(rows, 'A2:A3 B2:B3', putTogether)).toEqual(['', '', '+14155550102']);
    // One of several keys, or one at a position: it would be that of two people.
    expect(await second(own, 'A2:A3', ofParts)).toEqual(['', 'b', '+14155550102']);
    expect(await second(own, 'A2:A3', null)).toEqual(['', 'b', '+14155550102']);
  });

  it('breaks each of its rows, where it breaks the first', async () => {
    const { items } = await read(
      [['externalId', 'company'], ['1', { xml: '<c t="inlineStr"><is><t>AC_x0001_ME</t></is></c>' }], ['2']],
      'B2:B3',
    );
    expect(brokenOf(items)).toHaveLength(2);
  });
});

describe('what is merged without being a value of rows', () => {
  it('is a title, a header of two lines, or a heading over columns', async () => {
    const file = await read(
      [
        ['People'],
        ['externalId', 'name', 'phone'],
        [null, null, 'mobile'],
        ['1', 'Ann', '+14155550101'],
        ['2', null, '+14155550102'],
      ],
      'A1:C1 A2:A3 B2:B3 A4:B4',
    );
    expect(dataOf(file.items)).toEqual([
      ['', '', 'mobile'],
      ['1', 'Ann', '+14155550101'],
      ['2', '', '+14155550102'],
    ]);
    expect(noted(file)).toEqual([
      ['preambleLine', expect.anything()],
      ['mergedCells', '3 merged ranges have a value in the first cell only (the first: A2:A3)'],
    ]);
  });
});

it('finds ranges wherever the bytes of the sheet are cut', async () => {
  const text =
    '<x:sheetData/><x:mergeCells><x:mergeCell ref="AB10:AB12"/><x:mergeCell ref="A2:D2"/><x:mergeCell ref="B3:C4"/>';
  for (let size = 1; size <= text.length; size++) {
    const chunks = async function* () {
      for (let start = 0; start < text.length; start += size) yield Buffer.from(text.slice(start, start + size));
    };
    expect(await findMergedDown(chunks())).toEqual({
      ranges: [
        { column: 1, firstRow: 3, lastRow: 4 },
        { column: 27, firstRow: 10, lastRow: 12 },
      ],
      isCutShort: false,
    });
  }
});
