import { describe, expect, test } from 'vitest';
import { createRowFilter } from '#src/mapping/conditions.ts';
import type { SourceItem } from '#src/sources/row.ts';
import { cellsRow, mapping, objectRow } from './support.ts';

const columns = ['Name', 'IsDeleted', 'Type'];
const row = (line: number, ...cells: readonly string[]): SourceItem => ({
  type: 'row',
  row: cellsRow(columns, cells, line),
});
const broken = (line: number, ...cells: readonly string[]): SourceItem => ({
  type: 'broken',
  row: cellsRow(columns, cells, line),
  problem: { code: 'cellCount', line, field: null, value: null, message: '', hint: '' },
});

function filtered(given: object, items: readonly SourceItem[], header: readonly string[] | null = columns) {
  const filter = createRowFilter(mapping(given), header);
  const kept = items.filter((item) => !filter.skips(item)).map((item) => item.row.line);
  return { kept, notes: filter.notes() };
}

describe('skipRows', () => {
  test('leaves out the rows for which any condition holds, and says which and why', () => {
    const given = {
      skipRows: [
        { column: 'isdeleted', equals: 'TRUE' },
        { column: 'Type', beginsWith: ['Lead', 'Old'] },
      ],
    };
    const items = [
      row(2, 'A', 'true', ''),
      row(3, 'B', 'false', 'leads'),
      row(4, 'C', '', 'x Lead'),
      row(5, 'D', ' True ', 'lead'),
    ];
    expect(filtered(given, items)).toEqual({
      kept: [4],
      notes: [
        'skipped 2 rows: isdeleted is "TRUE" (lines 2, 5)',
        'skipped 1 row: Type begins with "Lead" or "Old" (line 3)',
      ],
    });
  });

  test.each([
    [{ equals: 'b' }, [3]],
    [{ beginsWith: 'b' }, [3, 4]],
    [{ contains: 'b' }, [3, 4, 5]],
    [{ isBlank: true }, [2]],
    [{ isFilled: true }, [3, 4, 5]],
  ])('knows %j', (test_, skipped) => {
    const items = ['', ' B', 'bc', 'ab'].map((cell, index) => row(index + 2, 'x', cell, 'y'));
    const { kept } = filtered({ skipRows: [{ column: 'IsDeleted', ...test_ }] }, items);
    expect([2, 3, 4, 5].filter((line) => !kept.includes(line))).toEqual(skipped);
  });

  test('looks at the first filled cell where no column is named, also of lines with too few cells', () => {
    const given = { skipRows: [{ beginsWith: ['Grand Totals', 'Copyright'] }, { equals: 'Total', isAlone: true }] };
    const items = [
      row(2, 'Ann', '', 'Grand Totals'),
      row(3, '', 'grand totals (2 records)', ''),
      broken(4, 'Copyright (c) 2026'),
      broken(5, 'Total', ''),
      row(6, 'Total', '', 'Person'),
      broken(7, 'Ann'),
    ];
    expect(filtered(given, items)).toEqual({
      kept: [2, 6, 7],
      notes: ['skipped 3 rows: footer or total of the export (lines 3, 4, 5)'],
    });
  });

  test('counts columns from 1 to the last one, where they are named by their place', () => {
    const items = [row(2, 'gone', '', ''), row(3, 'Bea', '', 'gone')];
    const at = (column: number) => filtered({ skipRows: [{ column, equals: 'gone' }] }, items).kept;
    expect([at(1), at(3)]).toEqual([[3], [2]]);
    expect(() => at(4)).toThrow('which the file lacks');
  });

  test('does not look into the columns of a line that cannot be read', () => {
    expect(filtered({ skipRows: [{ column: 'Name', equals: 'Ann' }] }, [broken(2, 'Ann')]).kept).toEqual([2]);
  });

  test('reads paths, numbers, true and lists in JSON', () => {
    const items = [
      { archived: true },
      { archived: false, a: { state: 'gone' } },
      { tags: ['x', 'test'] },
      { n: 5 },
      { other: null },
    ].map((object, index): SourceItem => ({ type: 'row', row: objectRow(object, index + 1) }));
    const given = {
      skipRows: [
        { column: 'archived', equals: 'true' },
        { column: 'a.state', equals: 'gone' },
        { column: 'tags[]', equals: 'test' },
        { column: 'n', equals: '5' },
      ],
    };
    expect(filtered(given, items, null).kept).toEqual([5]);
  });

  test('names ten lines and counts the others', () => {
    const items = Array.from({ length: 12 }, (_, index) => row(index + 2, '', 'true', ''));
    expect(filtered({ skipRows: [{ column: 'IsDeleted', equals: 'true' }] }, items).notes).toEqual([
      'skipped 12 rows: IsDeleted is "true" (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more)',
    ]);
  });
});

describe('keepRows', () => {
  test('keeps the rows for which all conditions hold', () => {
    const given = {
      keepRows: [
        { column: 'Type', equals: ['Person', 'Contact'] },
        { column: 'Name', isFilled: true },
      ],
    };
    const items = [
      row(2, 'A', '', 'person'),
      row(3, 'B', '', 'Company'),
      row(4, '', '', 'Contact'),
      row(5, 'C', '', ''),
    ];
    expect(filtered(given, items)).toEqual({
      kept: [2],
      notes: [
        'skipped 2 rows: Type is not "Person" or "Contact" (lines 3, 5)',
        'skipped 1 row: Name is blank (line 4)',
      ],
    });
  });

  test('counts a member that a record lacks as blank', () => {
    const items = [{ type: 'Person' }, {}].map(
      (object, index): SourceItem => ({
        type: 'row',
        row: objectRow(object, index + 1),
      }),
    );
    expect(filtered({ keepRows: [{ column: 'type', equals: 'Person' }] }, items, null).kept).toEqual([1]);
  });
});

describe('a condition about a column that the file lacks', () => {
  const given = { skipRows: [{ column: 'Is Deletd', equals: 'true' }] };

  test('refuses the file, with a suggestion', () => {
    expect(() => filtered(given, [])).toThrow(
      expect.objectContaining({ kind: 'file', code: 'columnMissing', hint: 'Did you mean "IsDeleted"?' }),
    );
  });

  test('says nothing where all columns are optional', () => {
    expect(filtered({ ...given, optional: true }, [row(2, 'A', 'true', '')])).toEqual({ kept: [2], notes: [] });
    expect(
      filtered({ keepRows: [{ column: 'x', isFilled: true }], optional: true }, [row(2, 'A', '', '')]).kept,
    ).toEqual([2]);
  });
});

test('a mapping without conditions keeps all rows', () => {
  expect(filtered({}, [row(2, 'Total'), broken(3)])).toEqual({ kept: [2, 3], notes: [] });
});
