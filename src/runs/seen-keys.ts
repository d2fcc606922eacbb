/**
 * The keys of rows that are not used: a person whose row cannot be read, or is left alone by a rule, is in the file all the same, and is
 * not one who left (`docs/rules.md`, "People who left").
 */
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { CellsRow, ObjectRow, Row } from '#src/sources/row.ts';
import type { ReadRow, StageItem, Verdict } from './compare.ts';

/** A cell beyond it holds no key, nor part of one. */
const seenCharsMax = 1_000;

/** @param compared one for each of `rows`, in their order. @returns the keys of those of a slice that are not used. */
export function seenKeys(
  items: readonly { readonly item: StageItem }[],
  rows: readonly ReadRow[],
  compared: readonly { readonly verdict: Verdict }[],
  mapping: Pick<CompiledMapping, 'mapRow'>,
): readonly string[] {
  const unread = items.flatMap(({ item }) => (item.kind === 'broken' ? (keyInPlace(item.row, mapping) ?? []) : []));
  const ignored = rows.flatMap(({ key }, index) => (compared[index]?.verdict.kind === 'ignored' ? (key ?? []) : []));
  return [...unread, ...ignored];
}

/**
 * What the cells or members of a row say where they stand, although the row has too few or too many of them, or one that cannot be kept.
 * It says nothing but that a person is in the file.
 */
function keyInPlace(row: Row, { mapRow }: Pick<CompiledMapping, 'mapRow'>): string | null {
  const mapped = mapRow(row.kind === 'cells' ? withShortCells(row) : withShortMembers(row));
  return mapped.kind === 'desired' ? mapped.desired.key : mapped.key;
}

function withShortCells(row: CellsRow): CellsRow {
  const cells = row.columns.map((_, index) => row.cells[index] ?? '');
  return { ...row, cells: cells.map((cell) => (cell.length <= seenCharsMax ? cell : '')) };
}

function withShortMembers(row: ObjectRow): ObjectRow {
  const short = Object.entries(row.object).filter(([, value]) => JSON.stringify(value).length <= seenCharsMax);
  return { ...row, object: Object.fromEntries(short) };
}
