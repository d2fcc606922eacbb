/** Rows of dead letters and of rejected rows as records, and what is stored of them (`tables/letters.ts`). */
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { DeadClass, Problem } from '#src/contacts/outcome.ts';
import type { DeadLetter, DeadLetterState } from '#src/ledger/letters.ts';
import type { DeadRow, RunDeadRow, ServiceAnswer } from '#src/ledger/staging.ts';
import type { LetterCount, LetterEntry, LetterFacts, MetPlace, RedriveRecord } from '#src/ledger/tables/letters.ts';
import type { CellsRow, Row } from '#src/sources/row.ts';
import { jsonOrNull, numberOrNull, parseJson, type ResultRow, textOrNull } from './columns.ts';

/** By the text of a header. */
export type HeaderNumbers = ReadonlyMap<string, number>;

/** A header is an array that many rows share: its text is made once. */
const headerTexts = new WeakMap<readonly string[], string>();

function headerText(columns: readonly string[]): string {
  let text = headerTexts.get(columns);
  if (text === undefined) {
    text = JSON.stringify(columns);
    headerTexts.set(columns, text);
  }
  return text;
}

export function headerOf(row: Row | null, headers: HeaderNumbers): number | null {
  return row?.kind === 'cells' ? (headers.get(headerText(row.columns)) ?? null) : null;
}

/** The texts of the headers of these rows. */
export function headerTextsOf(rows: readonly (Row | null)[]): ReadonlySet<string> {
  return new Set(rows.flatMap((row) => (row?.kind === 'cells' ? [headerText(row.columns)] : [])));
}

export type Headers = ReadonlyMap<number, readonly string[]>;

/** As it is stored: its header stands once, elsewhere. */
function withoutHeader(row: Row | null): Exclude<Row, { kind: 'cells' }> | Omit<CellsRow, 'columns'> | null {
  if (row?.kind !== 'cells') return row;
  const { columns: _, ...stored } = row;
  return stored;
}

/** With the other rows of its letter, as far as they have its header. */
function storedRow({ row, others = [] }: LetterEntry): string | null {
  const isAlike = (other: Row): boolean =>
    other.kind === 'cells'
      ? row?.kind === 'cells' && headerText(other.columns) === headerText(row.columns)
      : row?.kind === 'object';
  const alike = others.filter(isAlike).map(withoutHeader);
  return jsonOrNull(row === null ? null : { ...withoutHeader(row), ...(alike.length === 0 ? {} : { others: alike }) });
}

type StoredRow = Row & { readonly others?: readonly Row[] };

function withHeader(row: Row | null, header: number | null, headers: Headers): Row | null {
  return row?.kind === 'cells' ? { ...row, columns: headers.get(header ?? 0) ?? [] } : row;
}

export function toFacts(row: ResultRow): LetterFacts {
  return {
    id: String(row.id),
    feed: String(row.feed),
    identity: String(row.identity),
    code: String(row.code),
    key: textOrNull(row.key),
    class: String(row.class) as DeadClass,
    field: textOrNull(row.field),
    file: String(row.file),
    line: Number(row.line),
    sequence: Number(row.sequence),
    // Written by this ledger from a value of that type.
    state: String(row.state) as DeadLetterState,
    runId: String(row.run_id),
    firstRunId: String(row.first_run_id),
    lastAtMs: Number(row.last_at),
    redriveRunId: textOrNull(row.redrive_run_id),
  };
}

export function toLetter(row: ResultRow, headers: Headers): DeadLetter {
  const { identity: _identity, firstRunId: _first, redriveRunId, ...facts } = toFacts(row);
  const { code, line, field } = facts;
  const said = { message: String(row.message), hint: String(row.hint) };
  const { others, ...stored } = parseJson<StoredRow>(row.row) ?? { kind: null };
  const read = (one: Row): Row | null => withHeader(one, numberOrNull(row.header), headers);
  return {
    ...facts,
    ...said,
    problems: (parseJson<StoredProblem[]>(row.problems) ?? [{}]).map((stored) => ({
      ...{ code, line, field, value: null, ...said },
      ...stored,
    })),
    row: stored.kind === null ? null : read(stored),
    ...(others === undefined ? {} : { others: others.flatMap((one) => read(one) ?? []) }),
    desired: parseJson<DesiredContact>(row.desired),
    answer: parseJson<ServiceAnswer>(row.answer),
    attempts: Number(row.attempts),
    seenCount: Number(row.seen_count),
    redriveRunId: facts.state === 'redriven' ? redriveRunId : null,
    firstAtMs: Number(row.first_at),
  };
}

export function toRedrive(row: ResultRow): RedriveRecord {
  const choice = parseJson<Pick<RedriveRecord, 'ids' | 'code' | 'metBy'>>(row.choice);
  return {
    runId: String(row.run_id),
    feed: String(row.feed),
    ids: choice?.ids ?? null,
    code: choice?.code ?? null,
    metBy: choice?.metBy ?? [],
    after: parseJson<MetPlace>(row.after),
    isTaking: row.is_taking === 1,
  };
}

/** In the order of the columns that `putLetter` of each database names. */
export function letterValues(letter: LetterEntry, headers: HeaderNumbers): readonly (string | number | null)[] {
  return [
    letter.id,
    letter.feed,
    letter.identity,
    letter.code,
    letter.key,
    letter.class,
    letter.runId,
    letter.file,
    letter.line,
    letter.field,
    letter.message,
    letter.hint,
    storedRow(letter),
    headerOf(letter.row, headers),
    jsonOrNull(letter.desired),
    jsonOrNull(letter.answer),
    letter.sequence,
    letter.redriveRunId,
    letter.atMs,
    letter.seenBy,
    storedProblems(letter),
  ];
}

/** Whole, or without what the columns of the letter tell. */
type StoredProblem = Partial<Problem>;

/** Of a single problem the columns tell code, line, field, message and hint: the rest is stored, if there is any. */
function storedProblems({ problems }: LetterEntry): string | null {
  const [first, ...others] = problems;
  if (first === undefined) return null;
  if (others.length > 0) return JSON.stringify(problems);
  const { code: _code, line: _line, field: _field, message: _message, hint: _hint, ...rest } = first;
  return rest.value === null ? null : JSON.stringify([rest satisfies StoredProblem]);
}

/** Run, feed, choice, place, and whether it is taking still. */
export function redriveValues(runId: string, redrive: RedriveRecord): readonly (string | number | null)[] {
  const { feed, ids, code, metBy, after, isTaking } = redrive;
  return [runId, feed, JSON.stringify({ ids, code, metBy }), jsonOrNull(after), isTaking ? 1 : 0];
}

export function storedDeadRow(dead: DeadRow): string {
  return JSON.stringify({ ...dead, row: withoutHeader(dead.row) });
}

export function toDeadRow(row: ResultRow, headers: Headers): readonly RunDeadRow[] {
  const dead = parseJson<DeadRow>(row.dead);
  if (dead === null) return [];
  const whole = withHeader(dead.row, numberOrNull(row.header), headers);
  return [{ ...dead, row: whole, ordinal: Number(row.ordinal), letterId: String(row.letter_id) }];
}

/** How many of these rows there are of each class and code. */
export function deadRowCounts(
  rows: readonly { readonly dead: DeadRow }[],
): readonly (Pick<DeadRow, 'class' | 'code'> & { readonly count: number })[] {
  return [...Map.groupBy(rows, ({ dead }) => JSON.stringify([dead.class, dead.code])).values()].flatMap((alike) => {
    const [one] = alike;
    return one === undefined ? [] : [{ class: one.dead.class, code: one.dead.code, count: alike.length }];
  });
}

export function toDeadCount(row: ResultRow): Pick<DeadRow, 'class' | 'code'> & { readonly count: number } {
  return { class: String(row.class) as DeadRow['class'], code: String(row.code), count: Number(row.rows) };
}

export function toLetterCount(row: ResultRow): LetterCount {
  return {
    class: String(row.class ?? '') as DeadClass,
    code: String(row.code ?? ''),
    field: textOrNull(row.field) || null,
    feed: String(row.feed ?? ''),
    runId: String(row.run_id ?? ''),
    letters: Number(row.letters ?? 0),
  };
}
