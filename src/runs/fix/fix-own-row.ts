/**
 * Which original a row of a fix-file is compared with, where several rows share one letter. The letter holds the row that was rejected last, and
 * others that the same run rejected before it (`docs/rules.md`, "Dead letters"). Pure.
 *
 * The own row is the one that says most of what the file says, apart from what a spreadsheet changes; among equals the one with more cells
 * that nothing has changed, then the one in its line, then the newest. A row of which none is found keeps its cells: where a spreadsheet has visibly changed it, it is rejected, since nothing tells what it was.
 */
import { duplicateKey, type Problem } from '#src/contacts/outcome.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { type Row, shownValue } from '#src/sources/row.ts';
import { isMisshapen } from './fix-file.ts';
import { cellTextOf } from './fix-record.ts';

/** A row as the fix-file has it. */
interface Found {
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: readonly string[];
  readonly originalLine: string;
}

/** Whether a cell says what was there before, apart from what a spreadsheet does. */
type IsSame = (before: string, found: string) => boolean;

/** The letter with the row that the file's row was. */
export interface OwnLetter {
  readonly letter: DeadLetter;
  /** Whether that is known: else the letter's row may be another one of its key. */
  readonly isKnown: boolean;
}

/** @param isAlone no other row of the slice names the letter. */
export function ownLetter(found: Found, letter: DeadLetter, isAlone: boolean, isSame: IsSame): OwnLetter {
  const { row, others = [], code } = letter;
  const isInLine = ({ line }: Pick<Row, 'line'>): boolean => found.originalLine === `${line}`;
  if (others.length === 0 && (isInLine(letter) || (isAlone && code !== duplicateKey))) return { letter, isKnown: true };
  const said = new Map(found.columns.map((column, index) => [column, found.cells[index] ?? '']));
  const originals = (row === null ? [] : [...others, row]).map((one) => {
    const texts = saidTexts(one);
    return { one, texts, equal: equalCount(said, texts), isInLine: isInLine(one) };
  });
  const inOrder = originals
    .toReversed()
    .toSorted((left, right) => right.equal - left.equal || Number(right.isInLine) - Number(left.isInLine));
  let best: { readonly one: Row; readonly isInLine: boolean; readonly score: number } | null = null;
  // What a spreadsheet may have done is slow to tell, and no row is likelier than one that says all.
  for (const { one, texts, equal, isInLine } of inOrder) {
    const score = texts.length > 0 && equal === texts.length ? 1 : likeness(said, texts, isSame);
    if (best === null || score > best.score) best = { one, isInLine, score };
    if (score === 1) break;
  }
  // The cells of a misshapen row are corrected by moving them: its line has to tell.
  const isFound = best !== null && (best.score >= likenessMin || (best.isInLine && isMisshapen(code)));
  if (best === null || !isFound) return { letter, isKnown: false };
  return { letter: { ...letter, row: best.one, line: best.one.line }, isKnown: true };
}

/** A row is hardly corrected in more than half of its cells. */
const likenessMin = 0.5;

type Texts = readonly (readonly [column: string, text: string])[];

/** Which share of what the original says the row says, too. */
function likeness(said: ReadonlyMap<string, string>, texts: Texts, isSame: IsSame): number {
  const same = texts.filter(([column, text]) => {
    const found = said.get(column) ?? '';
    return text === found || isSame(text, found);
  });
  return texts.length === 0 ? 0 : same.length / texts.length;
}

/** How many cells nothing has changed. */
function equalCount(said: ReadonlyMap<string, string>, texts: Texts): number {
  return texts.filter(([column, text]) => said.get(column) === text).length;
}

/** Without blank ones. */
function saidTexts(row: Row): Texts {
  return textsOf(row).filter(([, text]) => text.trim() !== '');
}

function textsOf(row: Row): Texts {
  if (row.kind === 'cells') return row.columns.map((column, index) => [column, row.cells[index] ?? ''] as const);
  return Object.entries(row.object).map(([name, value]) => [name, cellTextOf(value)] as const);
}

/** The key is the one cell that all rows of the letter have: null where it shows no change by a spreadsheet. */
export function changedBySpreadsheet(
  { columns, cells }: Found,
  { row }: DeadLetter,
  line: number,
  isKey: (column: string) => boolean,
  isSame: IsSame,
): Problem | null {
  const was = new Map(row === null ? [] : textsOf(row));
  const index = columns.findIndex((column, place) => {
    const [before, found] = [was.get(column) ?? '', cells[place] ?? ''];
    return isKey(column) && found.trim() !== '' && before.trim() !== found.trim() && isSame(before, found);
  });
  if (index < 0) return null;
  const [column = '', cell = ''] = [columns[index], cells[index]];
  return {
    code: 'spreadsheetChanged',
    line,
    field: column,
    value: shownValue(cell),
    message:
      'a spreadsheet has changed the row, which shares its _id with others, and what it was is not known any more',
    hint: 'Take the row as it was from the original file, or from a copy of the fix-file that no spreadsheet has saved, and correct it there.',
  };
}
