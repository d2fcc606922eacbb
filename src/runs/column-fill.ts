/**
 * How full the mapped columns of a full file are, so that a column that an export has lost, but for its header, is noticed
 * (`docs/rules.md`, "Guards").
 *
 * Records that are known by their text are not decoded, and what they hold is not counted: their part is taken from the file before.
 * Where enough decoded rows have a blank cell for the column to be lost, or nothing is known of the file before, the file is read once
 * more, and every row counts.
 */
import type { ColumnFill, RunRecord } from '#src/ledger/runs.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import type { Row } from '#src/sources/row.ts';
import { openRunFile } from './open-file.ts';

export interface FillCount {
  note(row: Row): void;
  /** Rows that were noted. */
  readonly rowCount: number;
  /** Of each column, how many of these have a value. */
  readonly filled: ReadonlyMap<string, number>;
}

/** @param mapped names of columns, as the file writes them. Rows without columns, as in JSON, are not counted. */
export function createFillCount(mapped: readonly string[]): FillCount {
  const filled = new Map(mapped.map((column) => [column, 0]));
  let rowCount = 0;
  let header: readonly string[] | null = null;
  let indexes: readonly (readonly [string, number])[] = [];
  return {
    get rowCount() {
      return rowCount;
    },
    filled,
    note: (row) => {
      if (row.kind !== 'cells') return;
      if (header !== row.columns) {
        header = row.columns;
        const forms = row.columns.map(normaliseHeader);
        indexes = mapped.map((column) => [column, forms.indexOf(normaliseHeader(column))]);
      }
      rowCount += 1;
      for (const [column, index] of indexes)
        if (!isBlank(row.cells[index] ?? '')) filled.set(column, (filled.get(column) ?? 0) + 1);
    },
  };
}

const isBlank = (cell: string): boolean => cell === '' || cell.trim() === '';

/** A column that was filled in half of the rows or more, and now is in less than a third of that. */
const filledMin = 0.5;
const lostMax = 1 / 3;
/** Shares are kept with four digits. */
const roundingError = 0.000_1;

/** Of the rows that must have lost a value where a column falls below a third of what it held, these are enough to look again. */
const suspiciousShare = 0.5;

/**
 * The share of rows that have a value in each column; empty where the file has no columns.
 * @param leftCount records that were known by their text. @param before shares of the file before; null where they are not known.
 * @throws PatchbayError as the file is read.
 */
export async function fillOf(
  run: RunRecord,
  { rowCount, filled }: FillCount,
  leftCount: number,
  before: readonly ColumnFill[] | null,
): Promise<readonly ColumnFill[]> {
  const rows = rowCount + leftCount;
  if (rows === 0) return [];
  const shareBefore = (column: string): number | null =>
    before?.find((one) => normaliseHeader(one.column) === normaliseHeader(column))?.share ?? null;
  const isUnsure = ([column, count]: readonly [string, number]): boolean => {
    const share = shareBefore(column);
    return share === null || (share >= filledMin && rowCount - count >= suspiciousShare * share * rows);
  };
  if (leftCount > 0 && [...filled].some(isUnsure)) return await recounted(run, [...filled.keys()]);
  return [...filled].map(([column, count]) => ({
    column,
    share: rounded((count + leftCount * (shareBefore(column) ?? 0)) / rows),
  }));
}

async function recounted(run: RunRecord, columns: readonly string[]): Promise<readonly ColumnFill[]> {
  const { source } = await openRunFile(run);
  const count = createFillCount(columns);
  try {
    for await (const slice of source.slices()) for (const { row } of slice) count.note(row);
  } finally {
    await source.close();
  }
  return [...count.filled].map(([column, filled]) => ({
    column,
    share: rounded(filled / Math.max(1, count.rowCount)),
  }));
}

const rounded = (share: number): number => Math.round(share * 10_000) / 10_000;

/** The columns that have lost their values since the file before, as that file wrote them. */
export function blankedColumns(before: readonly ColumnFill[], now: readonly ColumnFill[]): readonly string[] {
  const shares = new Map(now.map(({ column, share }) => [normaliseHeader(column), share]));
  return before.flatMap(({ column, share }) => {
    const left = shares.get(normaliseHeader(column));
    return left !== undefined && share >= filledMin && left < share * lostMax - roundingError ? [column] : [];
  });
}
