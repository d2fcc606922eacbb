/**
 * Rows that lie inside a quoted cell. Programs that never quote (`mysql -B`, `bcp`, `psql -A`) write a note that begins with a quote as
 * it is, and rows later one that ends with a quote: what is between them reads as one cell, and the columns behind it are those of the last
 * row, under the key of the first. Pure.
 *
 * A cell with line breaks is usual: an address, a remark. So a strong sign is asked for. Every line of the record, split as if there were no
 * quotes, has as many cells as the header; and the lines look like rows: each holds an address, a link or a phone number in the same
 * column, or, where there is a whole line between the first and the last, a key like that of the first line. Few columns and text with commas
 * and blanks behind them prove nothing: `Main St 5, Floor 2` above `10115, Berlin, Germany` is an address.
 *
 * A remark may hold a table that was pasted into it. So nothing is said of a program that shows that it quotes: another cell of the record has quotes around
 * it, a quote is written twice, or a record above has a cell with quotes that it needs.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import type { Header } from './format-reader.ts';
import { isTelling, kindOf } from './short-rows.ts';

/** Delimiters that text has, too. */
const proseDelimiters: ReadonlySet<string> = new Set([',', ';']);
const columnsOfProseMin = 4;
const columnsMin = 3;
/** Ids of this length need not have the same order of letters and digits. */
const longIdMin = 12;

/**
 * @param delimiter null where no character separates the cells.
 * @returns a function of each record, which is cheap where it has no line breaks; it throws PatchbayError `file` `rowsInQuotes`.
 */
export function createRefusal(
  name: string,
  { columns, width }: Pick<Header, 'columns' | 'width'>,
  keyIndex: number,
  delimiter: string | null,
): (record: { readonly text: string; readonly line: number }, cells: readonly string[]) => void {
  if (delimiter === null) return () => undefined;
  const shape: TableShape = { delimiter, columnCount: columns.length, width, keyIndex };
  const quotedCells = quotedCellsOf(delimiter);
  let doesQuote = false;
  return ({ text, line }, cells) => {
    if (doesQuote || !text.includes('"')) return;
    const isOneLine = !text.includes('\n') && !text.includes('\r');
    const isWhole = cells.length >= columns.length && cells.length <= width;
    const needsQuotes = (cell: string): boolean => cell.includes(delimiter) || cell.slice(1, -1).includes('""');
    if (isWhole && isOneLine) doesQuote = (text.match(quotedCells) ?? []).some(needsQuotes);
    if (isOneLine || text.includes('""') || text.search(quotedCells) >= 0) return;
    const found = swallowedRows(text, shape);
    if (found !== null) throw rowsInQuotes(name, line + found.opened, line + found.closed);
  };
}

/** Cells on one line with quotes around them. */
function quotedCellsOf(delimiter: string): RegExp {
  const mark = delimiter.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`(?<=^|${mark})"(?:[^"\\r\\n]|"")*"(?=${mark}|\\r|$)`, 'gm');
}

function rowsInQuotes(name: string, line: number, lastLine: number): PatchbayError {
  const message = `${name}: a quote opens at line ${line} and closes at line ${lastLine}, and each of these lines is a row of its own: one contact would get the values of another`;
  const hint = `The program that wrote the file does not quote: have it write a quote that belongs to the text twice, in a cell with quotes around it (""), or take the quotes at lines ${line} and ${lastLine} out. If it is one cell, write quotes around the other cells of its row, too.`;
  return fileError('rowsInQuotes', message, { file: name, line, lastLine }, hint);
}

interface TableShape {
  readonly delimiter: string;
  /** How many cells a row has: without the columns at the end that have no name, and with them. */
  readonly columnCount: number;
  readonly width: number;
  readonly keyIndex: number;
}

/** Of the first line with a quote that opens and does not close in it, and the line on which the record ends: counted from 0. */
interface SwallowedRows {
  readonly opened: number;
  readonly closed: number;
}

/** Null where nothing shows that the record is more than one row. */
function swallowedRows(text: string, shape: TableShape): SwallowedRows | null {
  const { delimiter, columnCount, width, keyIndex } = shape;
  const isProse = proseDelimiters.has(delimiter);
  if (columnCount < (isProse ? columnsOfProseMin : columnsMin)) return null;
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.length < 2) return null;
  const rows: string[][] = [];
  for (const line of lines) {
    const cells = line.split(delimiter);
    if (cells.length < columnCount || cells.length > width) return null;
    if (isProse && cells.some((cell, index) => index > 0 && cell.startsWith(' '))) return null;
    rows.push(cells);
  }
  const [first = [], ...others] = rows;
  const haveKind = first.some((cell, index) => {
    const kind = kindOf(cell);
    return isTelling(kind) && others.every((cells) => kindOf(cells[index] ?? '') === kind);
  });
  const key = first[keyIndex] ?? '';
  const haveKeys = others.length > 1 && others.every((cells) => isKeyLike(cells[keyIndex] ?? '', key));
  if (!haveKind && !haveKeys) return null;
  const opened = lines.findIndex((line) => (line.match(/"/g)?.length ?? 0) % 2 === 1);
  return { opened: Math.max(0, opened), closed: lines.length - 1 };
}

/** `k4` beside `k3`, one id beside another; a word alone may be the beginning of a sentence. */
function isKeyLike(cell: string, key: string): boolean {
  const [one, other] = [bare(cell), bare(key)];
  if (!/[\d@]/.test(one) || /\s/.test(one)) return false;
  // Any count is a number, too.
  if (/^\d+$/.test(one) && one.length !== other.length) return false;
  const areLongIds = one.length === other.length && one.length >= longIdMin && /^[\w{}-]+$/.test(`${one}${other}`);
  return areLongIds || formOf(one) === formOf(other);
}

function bare(cell: string): string {
  return cell.replaceAll('"', '').trim();
}

function formOf(text: string): string {
  return text.replace(/\p{L}+/gu, 'a').replace(/\d+/g, '9');
}
