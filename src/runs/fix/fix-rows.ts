/**
 * The rows of a fix-file that is imported again (`docs/rules.md`, "Dead letters").
 *
 * Each row names its dead letter, which holds the original cells. An unchanged row is judged again in its original shape: in a
 * fix-file each row has as many cells as the header, and that alone must not let a row in. In a corrected row, a cell that
 * only a spreadsheet damaged is restored, and the key is its letter's (`fix-key.ts`). A row without a letter is used as it is. One with
 * a letter is as old as the run that met that last, so that it is superseded where its feed has settled the key since. A letter that no row
 * of a file stands for (`part-letters.ts`) is tried again as it is.
 *
 * Invariant: the mapping never sees a column of the fix-file, nor an apostrophe that guarded a formula.
 */

import type { Problem } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { isPattern } from '#src/mapping/column-pattern.ts';
import type { StageItem } from '#src/runs/compare.ts';
import { type PartItem, partsAgain } from '#src/runs/part-letters.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import { textMember } from '#src/sources/json-item.ts';
import { type Row, type SourceItem, shownValue } from '#src/sources/row.ts';
import { letterIdOf } from './fix-file.ts';
import { asItStands, type FoundRow, foundRow } from './fix-found.ts';
import { type DuplicateKeys, judge, type Question, shaped, textRead, withKey, withRecord } from './fix-judge.ts';
import { type KeyReading, otherKeyOf } from './fix-key.ts';
import { withCopiesTold, withMovedIds } from './fix-moved.ts';
import { changedBySpreadsheet, ownLetter } from './fix-own-row.ts';
import { tellPutBack } from './fix-put-back.ts';
import { cellTextOf } from './fix-record.ts';
import { type TriedRow, withSuperseded } from './fix-superseded.ts';
import { type CellPlace, isSameButForDamage } from './spreadsheet-damage.ts';

export interface FixRows {
  items(slice: readonly SourceItem[]): Promise<readonly StageItem[]>;
  /** Sentences worth a note, complete after the last row. */
  notes(): readonly string[];
}

/** What the rows of a fix-file are read with. */
export interface FixRowsWith {
  /** The names that the key's column may have. */
  readonly keyColumns: readonly string[];
  readonly keyOf: KeyReading['keyOf'];
  readonly duplicateKeys: DuplicateKeys;
  /** Whether the fix-file was saved as a workbook. */
  readonly isWorkbook: boolean;
  /** Throws a PatchbayError `file` where the row has lost columns that its letter has. @param stored the letter's row; null where there is none. */
  refuseLost(row: Row, stored: Row | null): void;
}

const dayMs = 86_400_000;

export function createFixRows(
  ledger: Pick<Ledger, 'deadLetters' | 'runs' | 'contacts'>,
  { feed, sequence, createdAtMs }: Pick<RunRecord, 'feed' | 'sequence' | 'createdAtMs'>,
  { keyColumns, keyOf, duplicateKeys, isWorkbook, refuseLost }: FixRowsWith,
): FixRows {
  const keyNames = new Set(keyColumns.map(normaliseHeader));
  const isKey = (column: string): boolean => keyNames.has(normaliseHeader(column));
  const unknownLines = new Set<number>();
  /** A day more on both sides: the year of a spreadsheet is that of its own country. */
  const openedAfter = (letter: DeadLetter): Question['opened'] => {
    const [first, last] = [new Date(letter.firstAtMs - dayMs), new Date(createdAtMs + dayMs)];
    return { years: [first.getUTCFullYear(), last.getUTCFullYear()], isWorkbook };
  };
  const isDamaged = (letter: DeadLetter) => {
    const place: CellPlace = { ...openedAfter(letter), isRejected: false };
    return (before: string, found: string): boolean => isSameButForDamage(before, found, place);
  };
  const ownOf = (found: FoundRow, letter: DeadLetter, isAlone: boolean) =>
    ownLetter(found, letter, isAlone, isDamaged(letter));
  const lostCells = (found: FoundRow, letter: DeadLetter) =>
    changedBySpreadsheet(found, letter, found.line, isKey, isDamaged(letter));
  const itemOf = (
    item: SourceItem,
    letterId: string,
    letter: DeadLetter | null,
    part: PartItem | null,
    isAlone: boolean,
  ): TriedRow => {
    const bare = foundRow(item.row);
    const { originalLine } = bare;
    const as = (tried: StageItem, key: string | null = null, isAsItWas = false): TriedRow => {
      const isOfRow = letter !== null && letter.feed === feed && part === null;
      return { item: tried, letter: isOfRow ? letter : null, key, isAsItWas, isAlone, originalLine };
    };
    const own = letter === null ? null : ownOf(bare, letter, isAlone);
    const question = own === null ? null : { ...own, isKey, duplicateKeys, opened: openedAfter(own.letter) };
    const found = withRecord(bare, question);
    if (letter !== null && letter.feed !== feed)
      return as({ kind: 'broken', row: asItStands(found), problem: otherFeed(found.line, letter), letterId });
    if (part !== null) return as({ ...part, warnings: notOfFile(found, part.row) });
    if (letter === null && letterId !== '') unknownLines.add(found.line);
    const tried = letterId === '' ? {} : { letterId };
    const ofLetter = letter?.key ?? null;
    const lost = letter === null || own?.isKnown !== false ? null : lostCells(bare, letter);
    if (lost !== null) {
      const key = ofLetter === null ? {} : { key: ofLetter };
      return as({ kind: 'broken', row: asItStands(found), problem: lost, ...key, ...tried }, ofLetter);
    }
    if (item.type === 'broken')
      return as({ kind: 'broken', row: asItStands(found), problem: item.problem, ...tried }, ofLetter);
    const { row, problem, key, isAsItWas } =
      question === null ? (textRead(found, null) ?? shaped(found)) : judge(withKey(found, question), question);
    if (problem !== null)
      return as({ kind: 'broken', row, problem, ...(key === undefined ? {} : { key }), ...tried }, ofLetter, isAsItWas);
    refuseLost(row, letter?.row ?? null);
    const other = letter === null ? null : otherKeyOf(row, letter, !isAlone, { isKey, keyOf });
    if (other?.kind === 'rejected') {
      const key = ofLetter === null ? {} : { key: ofLetter };
      // Whose row it is, a person has to look at.
      return {
        ...as({ kind: 'broken', row: other.row, problem: other.problem, ...key, ...tried }),
        otherKey: other.given,
      };
    }
    const warnings = other === null ? {} : { warnings: [other.warning] };
    const tell = letter === null ? null : tellPutBack(found, row, letter);
    const told = tell === null ? {} : { tell };
    const said = { kind: 'row', row, sequence: letter?.sequence ?? sequence } as const;
    const keyNow = letter === null ? null : (keyOf(row) ?? ofLetter);
    return as({ ...said, ...warnings, ...told, ...tried }, keyNow, isAsItWas);
  };
  return {
    items: async (slice) => {
      const rowsById = Map.groupBy(slice, ({ row }) => letterIdOf(row));
      const letters = await ledger.deadLetters.list({ ids: [...rowsById.keys()], limit: rowsById.size });
      const letterById = new Map(letters.map((letter) => [letter.id, letter]));
      const parts = await partsAgain(ledger, { feed, sequence }, letters);
      const rows = slice.map((item) => {
        const letterId = letterIdOf(item.row);
        const isAlone = rowsById.get(letterId)?.length === 1;
        return itemOf(item, letterId, letterById.get(letterId) ?? null, parts.get(letterId) ?? null, isAlone);
      });
      const told = withCopiesTold(await withMovedIds(ledger.deadLetters, feed, letters, rows));
      return withSuperseded(ledger.contacts, feed, told, duplicateKeys);
    },
    notes: () => unknownLettersNote([...unknownLines]),
  };
}

function unknownLettersNote(lines: readonly number[]): readonly string[] {
  if (lines.length === 0) return [];
  const [rows, go] =
    lines.length === 1
      ? ['1 row names a dead letter', 'it goes']
      : [`${lines.length} rows name dead letters`, 'they go'];
  const first = Math.min(...lines);
  const what = `${rows} in _id that this data folder does not know, the first in line ${first}: ${go} in as new, and nothing that a spreadsheet changed there is put back`;
  return [`${what}; if the fix-file is of another data folder, import it with that (--data, --sandbox)`];
}

/** Values that a person has filled in beside a letter that no row stands for. */
function notOfFile({ line, columns, cells }: FoundRow, stored: Row): readonly Problem[] {
  const was = new Set(stored.kind === 'cells' ? stored.cells : Object.values(stored.object).map(cellTextOf));
  return columns.flatMap((column, index): readonly Problem[] => {
    const cell = cells[index] ?? '';
    if (cell.trim() === '' || was.has(cell)) return [];
    return [
      {
        code: 'notOfFile',
        line,
        field: column,
        value: shownValue(cell),
        message: 'no row of a file stands for this dead letter: it was tried again as it is, without this value',
        hint: 'Write the value into the original file, or into the contact in the workspace.',
      },
    ];
  });
}

function otherFeed(line: number, { feed }: DeadLetter): Problem {
  return {
    code: 'otherFeed',
    line,
    field: '_id',
    value: null,
    message: `the row belongs to feed ${feed}, and the file to another feed`,
    hint: `Put the rows of feed ${feed}, with their _id, into a file of their own: it goes to that feed wherever it is dropped.`,
  };
}

/** The header of a fix-file, with the columns of the key where it has lost them: its rows get them back. Null for JSON. */
export function withKeyColumns(
  columns: readonly string[] | null,
  keyColumns: readonly string[],
): readonly string[] | null {
  const names = new Set(columns?.map(normaliseHeader));
  if (columns === null || keyColumns.some((name) => names.has(normaliseHeader(name)))) return columns;
  return [...columns, ...keyColumns.filter((name) => !isPattern(name))];
}

/** Of a fix-file of JSON that was saved as a table: what is under it is read as records. */
export function isColumnOfTexts(column: string): boolean {
  return column === textMember;
}
