/**
 * A row of a fix-file beside its letter: whether it says what the letter has, which of its cells only a spreadsheet changed, and which row
 * a person has made of it.
 */
import { duplicateKey, type Problem } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { CompiledMapping } from '#src/mapping/compile-mapping.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import { readTextOf, textAlone, textIn, textMember } from '#src/sources/json-item.ts';
import { type CellsRow, type Row, shownValue } from '#src/sources/row.ts';
import { cellsBeyond, distinctNames, howToChoose, isMisshapen, isOneOfSeveral } from './fix-file.ts';
import { asItStands, type FoundRow, loneText, stillTooMany, withoutBlankEnd } from './fix-found.ts';
import type { KeyReading } from './fix-key.ts';
import { recordOfTable } from './fix-record.ts';
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

export type DuplicateKeys = CompiledMapping['duplicateKeys'];

/** A row of the file beside its letter. */
export interface Question {
  readonly letter: DeadLetter;
  readonly isKey: KeyReading['isKey'];
  /** The letter has the row that this one was, and no other of its key. */
  readonly isKnown: boolean;
  readonly duplicateKeys: DuplicateKeys;
  readonly opened: Omit<CellPlace, 'isRejected'>;
}

export interface Judged {
  readonly row: Row;
  readonly problem: Problem | null;
  /** Where the problem is one of a row that can be read. */
  readonly key?: string;
  /** It says what its letter has. */
  readonly isAsItWas?: true;
}

/** The record of a row of a table that a fix-file of JSON was saved as; any other row as it is. */
export function withRecord(found: FoundRow, question: Question | null): FoundRow {
  const stored = question?.letter.row ?? null;
  if (found.object !== null || stored?.kind === 'cells') return found;
  const isSame = question === null ? () => false : sameness(question);
  const object = recordOfTable(found, stored, isSame);
  return object === null ? found : { ...found, object };
}

/** `_id` tells the key of a row also where a person has removed its column: the letter has the cell. */
export function withKey(found: FoundRow, { letter: { row: stored }, isKey }: Question): FoundRow {
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

export function judge(found: FoundRow, question: Question): Judged {
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
export function textRead(found: FoundRow, letter: DeadLetter | null): Judged | null {
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

export function shaped(found: FoundRow): Judged {
  const row = asItStands(found);
  return { row, problem: found.beyond.length === 0 ? null : stillTooMany(found) };
}
