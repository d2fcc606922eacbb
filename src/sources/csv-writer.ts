/**
 * Writes CSV that a spreadsheet may open safely: fix-files and exports (docs/rules.md, "Dead letters"; docs/bad-inputs.md,
 * "formula-like cells").
 *
 * No cell becomes a formula. A spreadsheet may split a file at another separator than the one it was written with, and
 * quotes that do not begin a cell are then text like any other. So a *formula start* is `= + - @`, a tab or a carriage
 * return wherever a cell may begin: at the very start, and behind each separator or line break inside. There, one
 * apostrophe is put in front.
 *
 * Invariant: `unguardFormulas(guardFormulas(text)) === text` for every text. A text that has apostrophes there already gets
 * one more, so that removing one is always right. Both are linear in the text.
 */
import { writeWholeFile } from '#src/whole-file.ts';
import { detectedDelimiters } from './read-csv.ts';

/** Without it, Excel reads the file in the locale's code page. */
const csvByteOrderMark = '\ufeff';

/** One record with its CRLF. */
export function formatCsvRecord(cells: readonly string[], delimiter: string): string {
  return recordOf(
    cells.map((cell) => quoted(guardFormulas(cell), delimiter)),
    delimiter,
  );
}

function recordOf(written: readonly string[], delimiter: string): string {
  const line = written.join(delimiter);
  // A record of one empty cell would read as a blank line.
  return `${line === '' && written.length > 0 ? '""' : line}\r\n`;
}

/** `formatCsvRecord` for many: a cell that is the one above it is written as that one was. */
function recordFormat(delimiter: string): (cells: readonly string[]) => string {
  let above: readonly string[] = [];
  let aboveWritten: readonly string[] = [];
  return (cells) => {
    const written = cells.map((cell, index) =>
      cell === above[index] ? (aboveWritten[index] as string) : quoted(guardFormulas(cell), delimiter),
    );
    above = cells;
    aboveWritten = written;
    return recordOf(written, delimiter);
  };
}

/** A delimiter that is not detected is written down, as spreadsheets do. */
function separatorLine(delimiter: string): string {
  return detectedDelimiters.includes(delimiter) ? '' : `sep=${delimiter}\r\n`;
}

/** A quote, a line break, or white space at an end. */
const quotedAlways = /["\r\n]|^\s|\s$/;

function quoted(cell: string, delimiter: string): string {
  const needsQuotes = quotedAlways.test(cell) || cell.includes(delimiter);
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}

interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: Iterable<readonly string[]> | CsvPages;
  readonly delimiter: string;
}

/** Rows in pages: to wait for each of many lines by itself takes longer than writing them. */
type CsvPages = AsyncIterable<readonly (readonly string[])[]>;

/** Writes the table to `path`, which appears complete or not at all, readable by the owner only. @throws the system's errors. */
export function writeCsvFile(path: string, table: CsvTable): Promise<void> {
  return writeWholeFile(path, csvText(table));
}

async function* csvText({ columns, rows, delimiter }: CsvTable): AsyncGenerator<string> {
  const format = recordFormat(delimiter);
  yield csvByteOrderMark + separatorLine(delimiter) + format(columns);
  if (Symbol.iterator in rows) for (const cells of rows) yield format(cells);
  else for await (const page of rows) yield page.map(format).join('');
}

/** What spreadsheets split at, except the space, which has rules of its own. */
const separators = ',;\t|:\r\n';
const formulaChars = '=+-@\t\r';

/** A spreadsheet takes a plain number with its `+` for a number; any other `+` begins a formula. */
const plainNumber = /\+\d[\d ]*(?=[,;\t|:\r\n"]|$)/y;

export function guardFormulas(text: string): string {
  return atFormulaStarts(text, (apostrophes, index) =>
    apostrophes === 0 && isPlainNumber(text, index) ? 0 : apostrophes + 1,
  );
}

/** Removes what `guardFormulas` added. */
export function unguardFormulas(text: string): string {
  return atFormulaStarts(text, (apostrophes) => Math.max(0, apostrophes - 1));
}

function isPlainNumber(text: string, index: number): boolean {
  plainNumber.lastIndex = index;
  return plainNumber.test(text);
}

/**
 * `cell`: a cell may begin here, behind a separator, with spaces and quotes between. `word`: behind a space alone; a dash
 * between two spaces begins no formula there.
 */
type Place = 'cell' | 'word' | 'inside';

/** Where a formula may start: nothing but apostrophes is between it and the text's start, a separator, a space or a quote. */
const mayStartFormula = /(?:^|[,;\t|:\r\n "])'*[=+\-@\t\r]/;

/** Rewrites the apostrophes before each formula start. `count` gets how many there are, and where the formula starts. */
function atFormulaStarts(text: string, count: (apostrophes: number, index: number) => number): string {
  if (!mayStartFormula.test(text)) return text;
  let result = '';
  let copied = 0;
  let place: Place = 'cell';
  // Each turn consumes the apostrophes at hand and one more character.
  for (let index = 0; index < text.length; index++) {
    const first = index;
    while (text[index] === "'") index++;
    if (place !== 'inside' && startsFormula(text, index, place)) {
      result += text.slice(copied, first) + "'".repeat(count(index - first, index));
      copied = index;
    }
    place = placeAfter(text[index] ?? '', index > first ? 'inside' : place);
  }
  return result + text.slice(copied);
}

function startsFormula(text: string, index: number, place: Place): boolean {
  const char = text[index] ?? '';
  if (char === '' || !formulaChars.includes(char)) return false;
  return place === 'cell' || (!separators.includes(char) && !' \r\n'.includes(text[index + 1] ?? 'end'));
}

function placeAfter(char: string, before: Place): Place {
  if (char !== '' && separators.includes(char)) return 'cell';
  if (char === ' ') return before === 'inside' ? 'word' : before;
  return char === '"' ? before : 'inside';
}
