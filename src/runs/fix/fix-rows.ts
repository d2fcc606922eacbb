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

import { duplicateKey, type Problem } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { isPattern } from '#src/mapping/column-pattern.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import type { StageItem } from '#src/runs/compare.ts';
import { type PartItem, partsAgain } from '#src/runs/part-letters.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import { unguardFormulas } from '#src/sources/csv-writer.ts';
import { readTextOf, textAlone, textIn, textMember } from '#src/sources/json-item.ts';
import {
  type CellsRow,
  type JsonValue,
  type ObjectRow,
  type Row,
  type SourceItem,
  shownValue,
} from '#src/sources/row.ts';
import {
  cellsBeyond,
  distinctNames,
  howToChoose,
  isMisshapen,
  isOneOfSeveral,
  letterIdOf,
  originalName,
  ownName,
} from './fix-file.ts';
import { type KeyReading, otherKeyOf } from './fix-key.ts';
import { withCopiesTold, withMovedIds } from './fix-moved.ts';
import { changedBySpreadsheet, ownLetter } from './fix-own-row.ts';
import { tellPutBack } from './fix-put-back.ts';
import { cellTextOf, recordOfTable } from './fix-record.ts';
import { type TriedRow, withSuperseded } from './fix-superseded.ts';
import { type CellPlace, isSameButForDamage } from './spreadsheet-damage.ts';

/** The letter's problem once more, for a row that was malformed. @param line where the row is now. */
export function misshapenAgain({ code, field, message, hint }: DeadLetter, row: Row, line: number): Problem {
  const value = shownValue(row.kind === 'cells' ? row.cells.join(', ') : JSON.stringify(row.object));
  return { code, line, field, value, message, hint };
}

/**
 * The problem of rows of one key that differ, once more: their letter holds the last of them, and to apply it would choose that one in
 * silence. Null of any other letter, and where the mapping says that the last one wins.
 */
export function unchosenAgain(
  { key, code, problems }: DeadLetter,
  line: number,
  duplicateKeys: DuplicateKeys | undefined,
  hint: string,
): Problem | null {
  if (code !== duplicateKey || duplicateKeys === 'lastWins') return null;
  const [told] = problems;
  const message = told?.message ?? 'rows with the same key differ';
  return { code, line, field: told?.field ?? null, value: told?.value ?? key, message, hint };
}

type DuplicateKeys = CompiledMapping['duplicateKeys'];

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

/** The original row as the fix-file has it, apart from the columns that the fix-file added. */
interface FoundRow {
  readonly line: number;
  readonly record: number;
  /** Of a JSON fix-file: the original's members. Null for CSV. */
  readonly object: ObjectRow['object'] | null;
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: readonly string[];
  /** The cells of `_more1`, `_more2`…, up to the last that is not blank. */
  readonly beyond: readonly string[];
  /** Those of them that had no column in the original either: they are ignored, as they were then. */
  readonly nameless: readonly string[];
  readonly originalLine: string;
  /** Null of a table that has lost the column. Emptied: a person says that the row is right, and its cells are in the right columns. */
  readonly code: string | null;
}

function foundRow(row: Row): FoundRow {
  const members: readonly (readonly [string, JsonValue])[] =
    row.kind === 'object'
      ? Object.entries(row.object)
      : row.columns.map((name, index) => [unguardFormulas(name), row.cells[index] ?? '']);
  const own = new Map<string, string>();
  const object: { [name: string]: JsonValue } = Object.create(null);
  const columns: string[] = [];
  const cells: string[] = [];
  for (const [name, value] of members) {
    const text = row.kind === 'cells' ? unguardFormulas(String(value)) : textOf(value);
    const original = originalName(name);
    if (original === null) {
      own.set(ownName(name), text);
      continue;
    }
    object[original] = value;
    columns.push(original);
    cells.push(text);
  }
  // The cells beyond the fix-file's own header come after all others.
  const further = row.kind === 'cells' ? cellsBeyond(row) : [];
  return {
    line: row.line,
    record: row.record,
    object: row.kind === 'object' ? object : null,
    columns,
    cells,
    beyond: withoutBlankEnd([...moreOf(own), ...further]),
    nameless: [],
    originalLine: (own.get('_line') ?? '').trim(),
    code: own.get('_code') ?? (row.kind === 'cells' ? null : ''),
  };
}

/** The text of a row that holds nothing else. */
function loneText({ object }: FoundRow): string | null {
  return object !== null && Object.keys(object).length === 1 ? textIn(object) : null;
}

/** The record of a row of a table that a fix-file of JSON was saved as; any other row as it is. */
function withRecord(found: FoundRow, question: Question | null): FoundRow {
  const stored = question?.letter.row ?? null;
  if (found.object !== null || stored?.kind === 'cells') return found;
  const isSame = question === null ? () => false : sameness(question);
  const object = recordOfTable(found, stored, isSame);
  return object === null ? found : { ...found, object };
}

/** `_id` tells the key of a row also where a person has removed its column: the letter has the cell. */
function withKey(found: FoundRow, { letter: { row: stored }, isKey }: Question): FoundRow {
  if (loneText(found) !== null) return found;
  const there = new Set(found.columns.map(normaliseHeader));
  const isLost = (column: string): boolean => isKey(column) && !there.has(normaliseHeader(column));
  if (stored?.kind === 'object' && found.object !== null) {
    const lost = Object.entries(stored.object).filter(([name]) => isLost(name));
    return lost.length === 0 ? found : { ...found, object: { ...found.object, ...Object.fromEntries(lost) } };
  }
  if (stored?.kind !== 'cells' || found.object !== null) return found;
  const lost = stored.columns.flatMap((column, index) => (isLost(column) ? [index] : []));
  return {
    ...found,
    columns: [...found.columns, ...lost.map((index) => stored.columns[index] ?? '')],
    cells: [...found.cells, ...lost.map((index) => stored.cells[index] ?? '')],
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

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The cells of `_more1`, `_more2`…, in the order of their numbers. */
function moreOf(own: ReadonlyMap<string, string>): readonly string[] {
  return [...own]
    .filter(([name]) => name.startsWith('_more'))
    .toSorted(([left], [right]) => Number(left.slice('_more'.length)) - Number(right.slice('_more'.length)))
    .map(([, text]) => text);
}

function withoutBlankEnd(cells: readonly string[]): readonly string[] {
  return cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== '') + 1);
}

interface Judged {
  readonly row: Row;
  readonly problem: Problem | null;
  /** Where the problem is one of a row that can be read. */
  readonly key?: string;
  /** It says what its letter has. */
  readonly isAsItWas?: true;
}

/** A row of the file beside its letter. */
interface Question {
  readonly letter: DeadLetter;
  readonly isKey: KeyReading['isKey'];
  /** The letter has the row that this one was, and no other of its key. */
  readonly isKnown: boolean;
  readonly duplicateKeys: DuplicateKeys;
  readonly opened: Omit<CellPlace, 'isRejected'>;
}

function judge(found: FoundRow, question: Question): Judged {
  const { letter } = question;
  const stored = letter.row;
  if (stored === null) return textRead(found, letter) ?? shaped(found);
  const isAccepted = found.code?.trim() === '';
  if (stored.kind === 'object') {
    const [text, whole] = [loneText(found), JSON.stringify(stored.object)];
    const isAsItWas = JSON.stringify(found.object) === whole || text === whole;
    if (isAsItWas && !isAccepted) return asItWas(found, stored, question);
    return (textAlone(stored) === null && text === null ? null : textRead(found, letter)) ?? shaped(found);
  }
  const compared = compare(found, stored, question);
  if (!compared.isAsItWas || isAccepted) return shaped(compared.corrected);
  return asItWas(found, stored, question);
}

/**
 * A text that could not be read, and that a person may have repaired. Members beside it are the record: they were written in
 * its place. Null where there is no such text.
 */
function textRead(found: FoundRow, letter: DeadLetter | null): Judged | null {
  const { line, record } = found;
  const text = textIn(found.object ?? {});
  if (found.object === null || text === null) return null;
  const { [textMember]: _, ...members } = found.object;
  if (Object.keys(members).length > 0)
    return letter === null ? null : { row: { kind: 'object', line, record, object: members }, problem: null };
  return readRepaired({ kind: 'object', line, record, object: found.object }, text, letter);
}

/** @param row holds the text. */
export function readRepaired(row: Row, text: string, letter: DeadLetter | null): Judged {
  const item = readTextOf(row, text);
  if (item.type === 'row') return { row: item.row, problem: null };
  // A card keeps the problem of a card.
  const isCard = letter !== null && isMisshapen(letter.code) && !jsonCodes.has(letter.code);
  return { row: item.row, problem: isCard ? misshapenAgain(letter, item.row, row.line) : item.problem };
}

const jsonCodes: ReadonlySet<string> = new Set(['jsonInvalid', 'notAnObject']);

function asItWas({ line, record, code }: FoundRow, stored: Row, { letter, duplicateKeys }: Question): Judged {
  const row = { ...stored, line, record };
  const isAsItWas = true;
  if (isMisshapen(letter.code)) return { row, problem: misshapenAgain(letter, stored, line), isAsItWas };
  if (!isOneOfSeveral(code)) return { row, problem: null, isAsItWas };
  const problem = unchosenAgain(letter, line, duplicateKeys, `${howToChoose}.`);
  return { row, problem, isAsItWas, ...(letter.key === null ? {} : { key: letter.key }) };
}

/**
 * Whether a cell says what its letter has. If two rows share a letter, and it is not known which of them this one was, only the key
 * belongs to it. The key of a row is never emptied on purpose.
 */
function sameness({ letter, isKey, isKnown, opened }: Question) {
  const { key, problems } = letter;
  const rejected = new Set(problems.map(({ field }) => normaliseHeader(field ?? '')));
  return (column: string, before: string, after: string): boolean => {
    if (before === after || (isKey(column) && after.trim() === '')) return true;
    // A key that the letter has was read.
    const isRead = column === '' || (isKey(column) && key !== null);
    const isRejected = !isRead && rejected.has(normaliseHeader(column));
    return (isKnown || isKey(column)) && isSameButForDamage(before, after, { ...opened, isRejected });
  };
}

function compare(
  found: FoundRow,
  stored: CellsRow,
  question: Question,
): { readonly isAsItWas: boolean; readonly corrected: FoundRow } {
  const isSame = sameness(question);
  const { letter, opened } = question;
  const before = new Map(distinctNames(stored.columns).map((name, index) => [name, stored.cells[index] ?? '']));
  const names = distinctNames(found.columns);
  const wasThere = (index: number): boolean => before.has(names[index] ?? '');
  const cells = found.cells.map((cell, index) => {
    const was = before.get(names[index] ?? '') ?? '';
    const column = found.columns[index] ?? '';
    if (isSame(column, was, cell)) return was;
    return isMisshapen(letter.code) ? beforeItMoved(cell, stored, opened) : cell;
  });
  const isBackTo = (index: number): boolean => cells[index] === (before.get(names[index] ?? '') ?? '');
  const beyond = withoutBlankEnd(cellsBeyond(stored));
  const isBeyondSame =
    beyond.length === found.beyond.length && beyond.every((cell, index) => isSame('', cell, found.beyond[index] ?? ''));
  const left = new Set(names);
  const isAsItWas =
    isBeyondSame &&
    cells.every((_, index) => isBackTo(index)) &&
    [...before].every(([name, cell]) => left.has(name) || cell.trim() === '');
  // A column that the original lacked does not belong to the row, unless it was filled in.
  const kept = cells.flatMap((cell, index) => (wasThere(index) || cell.trim() !== '' ? [index] : []));
  const corrected: FoundRow = {
    ...found,
    object: null,
    columns: kept.map((index) => found.columns[index] ?? ''),
    cells: kept.map((index) => cells[index] ?? ''),
    ...(isBeyondSame && stored.beyond !== undefined ? { beyond: [], nameless: stored.beyond } : {}),
  };
  return { isAsItWas, corrected };
}

/** A malformed row is corrected by moving its cells: a damaged cell is restored if it matches exactly one original cell. */
function beforeItMoved(cell: string, { cells }: CellsRow, opened: Question['opened']): string {
  const isSame = (was: string): boolean => isSameButForDamage(was, cell, { ...opened, isRejected: false });
  const candidates = new Set(cells.filter((was) => was.trim() !== '' && isSame(was)));
  const [only] = candidates;
  return only !== undefined && candidates.size === 1 ? only : cell;
}

function shaped(found: FoundRow): Judged {
  const row = asItStands(found);
  return { row, problem: found.beyond.length === 0 ? null : stillTooMany(found) };
}

function asItStands({ line, record, object, columns, cells, beyond, nameless }: FoundRow): Row {
  if (object !== null) return { kind: 'object', line, record, object };
  const row: CellsRow = { kind: 'cells', line, record, columns, cells: [...cells, ...beyond] };
  return nameless.length === 0 ? row : { ...row, beyond: nameless };
}

function stillTooMany({ line, columns, cells, beyond }: FoundRow): Problem {
  return {
    code: 'cellCount',
    line,
    field: null,
    value: shownValue([...cells, ...beyond].join(', ')),
    message: `the row has ${counted(columns.length + beyond.length, 'cell')}, the header has ${columns.length}`,
    hint: 'Move each value under its column, and empty _more1, _more2…',
  };
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
