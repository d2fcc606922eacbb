/** Headers that stand twice, and columns picked by position (`docs/bad-inputs.md`, "duplicate header names"). */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { cellsRow, desiredOf, mapping, noContext } from './support.ts';

const columns = ['id', 'Name', 'Phone', 'Notes', 'Notes', 'phone'];
const compile = (by: Mapping | null, header = columns) => compileMapping(by, { columns: header }, noContext);
const mapped = (by: Mapping) =>
  desiredOf(compile(by).mapRow(cellsRow(columns, ['1', 'Ada', '+14155550101', 'n', 'm', '+14155550102'])));

describe('a header that stands twice', () => {
  test('does not matter where nothing maps it', () => {
    expect(mapped(mapping({ fields: { firstName: 'Name' } })).scalars).toEqual({ firstName: 'Ada' });
    expect(compile(null, ['externalId', 'email', 'Notes', 'notes']).unmappedColumns).toEqual(['Notes', 'notes']);
  });

  test('stops the file where it is mapped, and the advice works', () => {
    expect(() => compile(mapping({ fields: { role: 'Notes' } }))).toThrow(
      expect.objectContaining({
        ...{ kind: 'file', code: 'duplicateHeader', facts: { column: 'Notes', first: 4, second: 5 } },
        message: 'the header "Notes" is used by columns 4 and 5',
        hint: 'Rename one of them, or pick one by its position: in the mapping, write 4 instead of "Notes".',
      }),
    );
    expect(mapped(mapping({ fields: { role: 4 } })).scalars).toEqual({ role: 'n' });
    expect(mapped(mapping({ fields: { role: { column: 5 } } })).scalars).toEqual({ role: 'm' });
  });

  test('stops the file in the generic layout too, with the way to pick one', () => {
    expect(() => compile(null, ['externalId', 'Email', 'email '])).toThrow(
      expect.objectContaining({
        ...{ code: 'duplicateHeader', message: 'the header "email" is used by columns 2 and 3' },
        hint: expect.stringContaining('{ column: 2 }'),
      }),
    );
  });
});

describe('a column picked by position', () => {
  test('may be any column, the key too, and has a slot of its own', () => {
    const by = mapping({ key: 1, phones: [{ column: 3, label: 'work' }, { column: 6 }] });
    expect(mapped(by)).toMatchObject({
      key: '1',
      phones: [
        { slot: 'column 3', items: [{ label: 'work', value: '+14155550101' }] },
        { slot: 'column 6', items: [{ label: 'phone', value: '+14155550102' }] },
      ],
    });
    expect(compile(by).mappedColumns).toEqual(['id', 'Phone', 'phone']);
    expect(compile(by).unmappedColumns).toEqual(['Name', 'Notes', 'Notes']);
  });

  test('is a name where it stands in quotes', () => {
    const by = mapping({ fields: { role: '2' } });
    const row = compile(by, ['id', 'x', '2']).mapRow(cellsRow(['id', 'x', '2'], ['1', 'no', 'yes']));
    expect(desiredOf(row).scalars).toEqual({ role: 'yes' });
  });

  test('that the file lacks stops it, and JSON has none', () => {
    expect(() => compile(mapping({ fields: { role: 7 } }))).toThrow(
      expect.objectContaining({ kind: 'file', code: 'columnMissing', facts: expect.objectContaining({ position: 7 }) }),
    );
    expect(() => compileMapping(mapping({ fields: { role: 2 } }), { columns: null }, noContext)).toThrow(
      expect.objectContaining({ kind: 'file', code: 'positionInJson' }),
    );
  });
});
