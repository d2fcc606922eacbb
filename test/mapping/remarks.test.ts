/** Rows that hold nothing but a remark, as the footer of an export (`docs/bad-inputs.md`, "CSV"). */
import { expect, it } from 'vitest';
import { createRowFilter } from '#src/mapping/conditions.ts';
import { rejectBare } from '#src/mapping/show/preview.ts';
import { cellsRow, mapping, mapRecord, problemsOf } from '#test/mapping/support.ts';
import { dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';
import { workbookOf } from '#test/support/workbook.ts';

const folder = useTempFolder();
const header = { isHeader: (cells: readonly string[]) => cells.includes('id'), wanted: 'column id', hint: '' };

const by = mapping({ key: 'id', fields: { lastName: 'name', company: 'firm' } });
const blank = { id: '', name: '', firm: '' };

it.each([
  ['Stand: 01.02.2026', '{ beginsWith: "Stand:", isAlone: true }'],
  ['Erstellt am 01.02.2026', '{ beginsWith: "Erstellt am", isAlone: true }'],
  ['Generiert von: Ilja Birch', '{ beginsWith: "Generiert von: Ilja Birch", isAlone: true }'],
  ['01.02.2026 Kundenliste', '{ contains: "Kundenliste", isAlone: true }'],
  ['Seite 1 von 2', '{ beginsWith: "Seite", isAlone: true }'],
])(
  '%s is rejected with the condition that leaves it out, in the column of the key and in others',
  (text, condition) => {
    const hint = expect.stringContaining(condition);
    const beside = mapRecord({ ...blank, name: text }, {}, by);
    expect(problemsOf(beside)).toMatchObject([{ code: 'keyMissing', hint }]);
    const cells = { ...blank, id: text };
    const inPlace = rejectBare(mapRecord(cells, {}, by), cellsRow(Object.keys(cells), Object.values(cells)));
    expect(problemsOf(inPlace)).toMatchObject([{ code: 'contactEmpty', hint }]);
  },
);

it('beside the columns of a fix-file a remark is still one', () => {
  const [problem] = problemsOf(mapRecord({ _line: '7', ...blank, name: 'Stand: 01.02.2026' }, {}, by));
  expect(problem?.hint).toContain('skipRows');
});

it('a key of one word is rather a key', () => {
  const cells = { ...blank, id: 'MUELLER-12' };
  const bare = rejectBare(mapRecord(cells, {}, by), cellsRow(Object.keys(cells), Object.values(cells)));
  expect(problemsOf(bare)[0]?.hint).toMatch(/^Fill in/);
});

it('a row without a key that holds a number, or several values, has the hint of any other', () => {
  for (const row of [
    { id: '', name: '12', firm: '' },
    { id: '', name: 'Bea Lund', firm: 'ACME' },
  ]) {
    expect(problemsOf(mapRecord(row, {}, by))[0]?.hint).toMatch(/^Add a key/);
  }
});

it('the footers of a workbook are left out, or name the condition that does it, and the condition holds', async () => {
  const footers = ['Summe', 'Gesamt', 'Anzahl Datensätze: 12', 'Stand: 01.02.2026', 'Erstellt am 01.02.2026'];
  const rows = [['name', 'id', 'town'], ['Ann', '1', 'Bonn'], ...footers.map((text) => [text])];
  const { items, tail } = await readText(folder, 'a.xlsx', workbookOf(rows), { header });
  expect(tail.warnings.map(({ code, line }) => [code, line])).toEqual([
    ['totalLine', 3],
    ['totalLine', 4],
    ['totalLine', 5],
  ]);
  expect(dataOf(items)).toHaveLength(3);
  const skipRows = [
    { beginsWith: 'Stand:', isAlone: true },
    { beginsWith: 'Erstellt am', isAlone: true },
  ];
  const filter = createRowFilter(mapping({ key: 'id', skipRows }), ['name', 'id', 'town']);
  expect(items.map((item) => filter.skips(item))).toEqual([false, true, true]);
});
