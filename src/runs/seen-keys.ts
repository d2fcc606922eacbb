/**
 * The keys of rows that are not used. A person whose row cannot be read, or is left alone by a rule, is in the file all the same, and is
 * not one who left (`docs/rules.md`, "People who left").
 *
 * Where each cell is under its column and one of them cannot be kept (a control character, half a character, too many bytes), the key
 * is as good as that of any row: its letter has it. Where cells have moved it says nothing but that a person is in the file.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { keyOfMapped } from '#src/mapping/row.ts';
import { textAlone } from '#src/sources/json-item.ts';
import type { CellsRow, ObjectRow, Row } from '#src/sources/row.ts';

type Mapper = Pick<CompiledMapping, 'mapRow'>;

/** A longer cell is not mapped: it holds no key, nor part of one. */
const mappedCharsMax = 1_000;
/** What `cellProblem` finds (`src/sources/row.ts`). */
const cellCodes: ReadonlySet<string> = new Set(['controlCharacter', 'loneSurrogate', 'cellTooLong']);

/** @param compared one for each of `rows`, in their order. @returns the keys of those of a slice that are not used. */
export function seenKeys(
  items: readonly { readonly item: { readonly kind: string; readonly row: Row } }[],
  rows: readonly { readonly key: string | null }[],
  compared: readonly { readonly verdict: { readonly kind: string } }[],
  mapper: Mapper,
): readonly string[] {
  const unread = items.flatMap(({ item }) => (item.kind === 'broken' ? (keyInPlace(item.row, mapper) ?? []) : []));
  const ignored = rows.flatMap(({ key }, index) => (compared[index]?.verdict.kind === 'ignored' ? (key ?? []) : []));
  return [...unread, ...ignored];
}

/** @returns null where the key itself cannot be read, where one is made of a cell that is too long, and where cells have moved. */
export function keyOfUnread(row: Row, { code }: Problem, mapper: Mapper): string | null {
  if (!cellCodes.has(code)) return null;
  const key = keyInPlace(row, mapper);
  // A key that is made of a cell which is left out differs with what is there instead.
  return key !== null && key === keyInPlace(row, mapper, 'x') ? key : null;
}

/** What the cells or members of a row say where they are, although the row has too few or too many of them, or one that cannot be kept. */
function keyInPlace(row: Row, { mapRow }: Mapper, instead = ''): string | null {
  // A text that could not be read says nothing of a person.
  if (textAlone(row) !== null) return null;
  return keyOfMapped(mapRow(row.kind === 'cells' ? withShortCells(row, instead) : withShortMembers(row, instead)));
}

function withShortCells(row: CellsRow, instead: string): CellsRow {
  const cells = row.columns.map((_, index) => row.cells[index] ?? '');
  return { ...row, cells: cells.map((cell) => (cell.length <= mappedCharsMax ? cell : instead)) };
}

function withShortMembers(row: ObjectRow, instead: string): ObjectRow {
  const isShort = (value: unknown): boolean => JSON.stringify(value).length <= mappedCharsMax;
  const members = Object.entries(row.object).map(([name, value]) => [name, isShort(value) ? value : instead] as const);
  return { ...row, object: Object.fromEntries(members) };
}
