/**
 * The key of a row of a fix-file: that of its dead letter, whatever its cells say (`docs/rules.md`, "Dead letters"). Pure.
 *
 * What a spreadsheet may have made of a key is put back before (`spreadsheet-damage.ts`). What is left is a correction, or a damage that
 * nothing knows of, and to write it would make a second contact: such a row is rejected. Only where rows share a letter, since they have
 * one key, may one of them get another; and a row whose key the service has refused.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { shellWord } from '#src/shell-words.ts';
import type { CellsRow, JsonValue, Row } from '#src/sources/row.ts';

/** How keys are read. */
export interface KeyReading {
  /** Whether the column, or member, is one of those that make the key. */
  readonly isKey: (column: string) => boolean;
  /** The key of a row by today's mapping; null where it has none that can be read. */
  readonly keyOf: (row: Row) => string | null;
}

/** What becomes of a row whose key is not that of its letter. */
export type OtherKey =
  | { readonly kind: 'accepted'; readonly warning: Problem }
  /** `row`: with what else was corrected, and the key of the letter; `given`: the key that it has in the file. */
  | { readonly kind: 'rejected'; readonly row: Row; readonly problem: Problem; readonly given: string };

/**
 * @param isShared whether other rows of the file name the letter, too.
 * @returns null where the key is the letter's, or the letter has none.
 */
export function otherKeyOf(
  row: Row,
  { key, code, class: kind, problems, row: stored }: DeadLetter,
  isShared: boolean,
  { isKey, keyOf }: KeyReading,
): OtherKey | null {
  if (key === null || stored === null) return null;
  // By today's mapping both of them.
  const [was, is] = [keyOf(stored), keyOf(row)];
  if (was === null || is === null || was === is) return null;
  const sets = changedCells(stored, row, isKey);
  const [changed] = sets;
  const [old, given] = [JSON.stringify(was), JSON.stringify(is)];
  const about = { code: 'keyChanged', line: row.line, field: changed?.column ?? '_id', value: is };
  const message = `the row has the key ${given}, and by its _id it is the row of ${old}`;
  const isRefused = kind === 'refused' && problems.some(({ field }) => field?.includes('externalId') === true);
  if (isShared || code === 'duplicateKey' || isRefused) {
    const hint = `If that is not meant, undo the run and put ${old} back.`;
    const shown = `${message}: it goes in under ${given}; if that is not meant, undo the run and put ${old} back`;
    return { kind: 'accepted', warning: { ...about, message: shown, hint } };
  }
  const restored = withKeyOf(stored, row, isKey);
  const words = sets.map(({ column, value }) => ` --set ${shellWord(`${column}=${value}`)}`).join('');
  const edit = `patchbay dead edit ID${words || ' --set COLUMN=VALUE'}`;
  const hint = `By its _id it is the row of ${old}, and the next fix-file has it so: drop that in as it is. To give it the key ${given}: ${edit}, with its _id there as ID.`;
  const shown = keyOf(restored) === was ? restored : stored;
  return { kind: 'rejected', row: shown, problem: { ...about, message, hint }, given: is };
}

/** The row with the cells, or members, of the letter's key. */
function withKeyOf(stored: Row, row: Row, isKey: KeyReading['isKey']): Row {
  if (stored.kind === 'object' && row.kind === 'object') {
    const key = Object.entries(stored.object).filter(([name]) => isKey(name));
    return { ...row, object: Object.assign(Object.create(null), row.object, Object.fromEntries(key)) };
  }
  if (stored.kind !== 'cells' || row.kind !== 'cells') return row;
  const cells = row.columns.map((column, index) =>
    isKey(column) ? (cellOf(stored, column) ?? row.cells[index] ?? '') : (row.cells[index] ?? ''),
  );
  return { ...row, cells: [...cells, ...row.cells.slice(row.columns.length)] };
}

/** What was changed of the key. */
function changedCells(stored: Row, row: Row, isKey: KeyReading['isKey']) {
  const before = membersOf(stored);
  return [...membersOf(row)].flatMap(([column, value]) =>
    isKey(column) && typeof value === 'string' && before.get(column) !== value ? [{ column, value }] : [],
  );
}

function membersOf(row: Row): ReadonlyMap<string, JsonValue> {
  if (row.kind === 'object') return new Map(Object.entries(row.object));
  return new Map(row.columns.map((column, index) => [column, row.cells[index] ?? '']));
}

function cellOf({ columns, cells }: CellsRow, column: string): string | undefined {
  const index = columns.indexOf(column);
  return index < 0 ? undefined : cells[index];
}
