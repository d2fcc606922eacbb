/**
 * Warnings that an export may cause in each row of a column, such as `NULL` as the country: the first rows are listed with their lines, and
 * all of them are counted in one warning about the column. Pure.
 */
import { hintsOnce, type Problem } from '#src/contacts/outcome.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { WarningCode } from '#src/mapping/cell.ts';
import { noteOf } from '#src/mapping/file-findings.ts';
import { createNumberNotations } from './number-notation.ts';

const ofColumns: ReadonlySet<string> = new Set<WarningCode>([
  'placeholderText',
  'textEscaped',
  'textBackslashes',
  'keyPartBlank',
]);
/** Not listed row by row: of a few rows each may be right, and only the file tells. */
const inDoubt: WarningCode = 'placeholderInDoubt';
const numberInDoubt: WarningCode = 'numberInDoubt';
/** Said once for the column, whatever the count: what is to be done is done in the mapping. */
const onceForColumn: WarningCode = 'choicesInDoubt';
const readAsNothing: WarningCode = 'placeholderText';
const rowsListedMax = 5;
/** In JSON the place of an element of a list is part of a name. Those of further names are listed row by row. */
const columnsMax = 1_000;

/** A word in doubt is worth a note where this many rows of a column hold it, and this share of all rows that are mapped: those that are known already are not. */
const doubtRowsMin = 5;
const doubtShareMin = 0.01;
/** Words that stand for "nothing" are few. */
const wordsMax = 1_000;

/** Of one reading of a file. */
export interface ColumnWarnings {
  /** Counts the row's warnings. @returns the row without those of which enough are listed. */
  take<Row extends { readonly warnings: readonly Problem[]; readonly problems?: readonly Problem[] }>(row: Row): Row;
  /**
   * One for each code and column of which not all rows are listed; for each word in doubt of which the file says that it stands for "nothing";
   * and for each column whose cells seem to be written in another way than they were read.
   */
  list(): readonly Problem[];
}

interface Met {
  readonly first: Problem;
  count: number;
}

export function createColumnWarnings(): ColumnWarnings {
  const met = new Map<string, Met>();
  const doubts = new Map<string, Met>();
  const choices = new Map<string, Met>();
  const numbers = createNumberNotations();
  /** In other columns. */
  const nothings = new Set<string>();
  let rows = 0;
  /** @returns how often it was met, this time included; null where no more are counted. */
  const count = (all: Map<string, Met>, id: string, warning: Problem): number | null => {
    const known = all.get(id);
    if (known === undefined) {
      if (all.size >= columnsMax) return null;
      all.set(id, { first: warning, count: 1 });
      return 1;
    }
    known.count += 1;
    return known.count;
  };
  const isListed = (warning: Problem): boolean => {
    if (warning.code === inDoubt) {
      count(doubts, JSON.stringify([warning.field, wordIn(warning)]), warning);
      return false;
    }
    if (warning.code === numberInDoubt) return false;
    if (warning.code === onceForColumn) return count(choices, JSON.stringify(warning.field), warning) === null;
    if (!ofColumns.has(warning.code)) return true;
    if (warning.code === readAsNothing && nothings.size < wordsMax) nothings.add(wordIn(warning));
    const times = count(met, JSON.stringify([warning.code, warning.field]), warning);
    return times === null || times <= rowsListedMax;
  };
  const isNothing = ({ first, count: times }: Met): boolean =>
    nothings.has(wordIn(first)) || (times >= doubtRowsMin && times >= rows * doubtShareMin);
  return {
    take: (row) => {
      rows += 1;
      numbers.see(row.problems);
      numbers.see(row.warnings);
      return row.warnings.length === 0 ? row : { ...row, warnings: row.warnings.filter(isListed) };
    },
    list: () => [
      ...[...met.values()].flatMap((one) => (one.count > rowsListedMax ? [aboutColumn(one)] : [])),
      ...[...doubts.values()].filter(isNothing).map(inRows),
      ...[...choices.values()].map(inRows),
      ...numbers.list(),
    ],
  };
}

function wordIn({ value }: Problem): string {
  return (value ?? '').trim().toLowerCase();
}

function inRows({ first, count }: Met): Problem {
  return { ...first, message: `${first.message} (${count === 1 ? '1 row' : `${count} rows`})` };
}

function aboutColumn({ first, count }: Met): Problem {
  return { ...first, message: `${first.message} (${count} rows; the first ${rowsListedMax} are listed)` };
}

/** For the notes of the run, which have no column of their own. */
export function columnNote({ line, field, message }: Pick<Problem, 'line' | 'field' | 'message'>): string {
  return `line ${line}: ${field === null ? '' : `${JSON.stringify(field)}: `}${message}`;
}

/** What to do about the warnings that are notes, by the note. */
export function hintsOfNotes(notes: readonly string[], events: readonly RunEvent[]): ReadonlyMap<string, string> {
  const byText = new Map(
    events.flatMap((event) =>
      event.kind === 'warning' && event.key === null ? textsOf(event).map((text) => [text, event] as const) : [],
    ),
  );
  const hints = hintsOnce(notes.flatMap((note) => byText.get(note) ?? []));
  return new Map(
    notes.flatMap((note) => {
      const event = byText.get(note);
      const hint = event === undefined ? undefined : hints.get(event);
      return hint === undefined ? [] : [[note, hint]];
    }),
  );
}

function textsOf(event: RunEvent): readonly string[] {
  return [event.message, noteOf(event), columnNote(event)];
}

/** Tells which warnings about a file are among its notes: they are printed there, and need not be said a second time. */
export function notedIn(notes: readonly string[]): (event: RunEvent) => boolean {
  const noted = new Set(notes);
  return (event) => event.kind === 'warning' && event.key === null && textsOf(event).some((text) => noted.has(text));
}
