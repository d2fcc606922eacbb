/** Rules on staged rows: how a row is stored without its header, read again with it, and which batch it is in. Pure. */
import type { DeadRow, NewStagedRecord, StagedRecord, WithdrawnRow } from '#src/ledger/staging.ts';
import type { PendingRow, RunPlace, Span, StoredRow } from '#src/ledger/tables/runs.ts';
import type { Row } from '#src/sources/row.ts';

type Headers = ReadonlyMap<number, readonly string[]>;

/**
 * The records as they are stored behind that position, in their order.
 * @param known the headers that the run has already. `headers` of the result: those that are new, and how they are numbered.
 */
export function storedRows(
  records: readonly NewStagedRecord[],
  lastPosition: number,
  known: Headers,
): { readonly rows: readonly StoredRow[]; readonly headers: Headers } {
  const numbers = new Map([...known].map(([number, columns]) => [JSON.stringify(columns), number]));
  /** Rows of one file share one array: it is compared once. */
  const seen = new Map<readonly string[], number>();
  const headers = new Map<number, readonly string[]>();
  const numberOf = (columns: readonly string[]): number => {
    const met = seen.get(columns);
    if (met !== undefined) return met;
    const text = JSON.stringify(columns);
    const number = numbers.get(text) ?? numbers.size + 1;
    if (!numbers.has(text)) headers.set(number, columns);
    numbers.set(text, number);
    seen.set(columns, number);
    return number;
  };
  const rows = records.map(({ row, ...record }, index): StoredRow => {
    const position = lastPosition + index + 1;
    const common = { ...record, line: row.line, record: row.record, position };
    if (row.kind === 'object') return { ...common, header: null, content: row.object, beyond: null };
    return { ...common, header: numberOf(row.columns), content: row.cells, beyond: row.beyond ?? null };
  });
  return { rows, headers };
}

/** A stored row with its header, as it was staged. */
export function stagedRow(place: Pick<RunPlace, 'id' | 'feed'>, headers: Headers, stored: PendingRow): StagedRecord {
  const { record, header, content, beyond, link, ...rest } = stored;
  return {
    ...rest,
    runId: place.id,
    feed: place.feed,
    row: rowOf({ line: rest.line, record, header, content, beyond }, headers),
    ...(link === null ? {} : { link }),
  };
}

function rowOf(
  { line, record, header, content, beyond }: Pick<StoredRow, 'line' | 'record' | 'header' | 'content' | 'beyond'>,
  headers: Headers,
): Row {
  // A row without a header is an object, and one with a header is cells: `storedRows` says so.
  if (header === null)
    return { kind: 'object', line, record, object: content as Extract<Row, { object: unknown }>['object'] };
  const cells = content as readonly string[];
  const columns = headers.get(header) ?? [];
  return { kind: 'cells', line, record, columns, cells, ...(beyond === null ? {} : { beyond }) };
}

/** The batches that rows on their way in belong to: `rowsPerBatch` positions each, from the first on. */
export function batchesOf(
  rows: readonly Pick<StoredRow, 'position'>[],
  rowsPerBatch: number,
): readonly (Span & { readonly batch: number })[] {
  const batches = new Map<number, Span & { readonly batch: number }>();
  for (const { position } of rows) {
    const batch = Math.ceil(position / rowsPerBatch);
    batches.set(batch, { batch, first: batches.get(batch)?.first ?? position, last: position });
  }
  return [...batches.values()];
}

/** The letter of a row that was withdrawn; null where it was skipped. */
export function deadWithdrawn(
  { key, row, letterId }: Pick<StagedRecord, 'key' | 'row' | 'letterId'>,
  end: WithdrawnRow['end'],
): DeadRow | null {
  if (end.kind === 'skipped') return null;
  const { problem } = end;
  const { code } = problem;
  const ofLetter = letterId === undefined ? {} : { letterId };
  return {
    ...{ class: 'invalid', code, line: row.line, key, problems: [problem], row },
    ...{ ...ofLetter, desired: null, answer: null },
  };
}
