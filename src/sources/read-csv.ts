/**
 * CSV: records to cells, and these to the rows of a table.
 *
 * Our splitter is the parser (`split-csv.ts`): it cuts the file into complete records and counts their lines. papaparse then splits
 * bounded groups of complete records into cells. Only its inner parser is used, with delimiter and line end given: no
 * guessing, no BOM handling, no renaming of headers, no streaming of its own (docs/bad-inputs.md, "Parsers: known traps").
 *
 * Invariants: at most one chunk of the file, one slice of rows and one unfinished record are in memory. Each record becomes one
 * array of cells, in order.
 */
import Papa from 'papaparse';
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { type DecodedText, type PeekedText, peekText } from './decode.ts';
import { createTally, type FormatReader, type HeaderRule, headerLineMax } from './format-reader.ts';
import { readTable } from './read-table.ts';
import { groupsOf, type TableRecords } from './record-group.ts';
import { shownValue } from './row.ts';
import { type CsvRecord, createCsvSplitter, cutGroups } from './split-csv.ts';
import type { TableFormat, TableOptions } from './table-rows.ts';

interface CsvOptions extends TableOptions {
  /** One character; without it the delimiter is detected. */
  readonly delimiter: string | null;
}

/** Enough of the file to detect its delimiter. */
const headChars = 64 * 1024;

/**
 * @param rest of `decodedText`: what is behind the header is then cut as bytes.
 * @throws PatchbayError `file` `quoteNeverCloses`, `recordTooLong`, and as read-table.ts does; `usage` `delimiterInvalid`.
 */
export async function readCsv(
  chunks: AsyncGenerator<string>,
  options: CsvOptions,
  rest: DecodedText['rest'] = null,
): Promise<FormatReader> {
  const text = await peekText(chunks, (head) => head.length >= headChars);
  const { delimiter, separatorLine } = chooseDelimiter(text, options);
  const tally = createTally(options.name, options.limits.rowsMax);
  const records = recordsOf(text.all(), rest, { ...options, delimiter });
  const table = await readTable(records, csvFormat(delimiter, separatorLine), options, tally);
  const { columns, meaning = null, slices, tail } = table;
  return { head: { format: 'csv', columns, delimiter }, meaning, slices, tail };
}

function chooseDelimiter(text: PeekedText, options: CsvOptions) {
  const separator = /^sep=(.)[ \t]*(?=\r|\n|$)/i.exec(text.head);
  const separatorLine = separator !== null;
  if (options.delimiter !== null) {
    checkDelimiter(options.delimiter);
    return { delimiter: options.delimiter, separatorLine };
  }
  const named = separator?.[1];
  if (named !== undefined && named !== '"') return { delimiter: named, separatorLine };
  // A header that is only probable is no reason to split lines by another delimiter.
  const header = options.header?.elseFirst === true ? null : options.header;
  return { delimiter: detectDelimiter({ head: text.head, whole: text.whole, header }), separatorLine };
}

function recordsOf(
  text: AsyncGenerator<string>,
  rest: DecodedText['rest'],
  { name, delimiter, limits }: CsvOptions & { readonly delimiter: string },
): TableRecords<CsvRecord> {
  const options = { name, delimiter, recordBytesMax: limits.recordBytesMax };
  const splitter = createCsvSplitter(options);
  /** Ends with the text. */
  const first = async function* (): AsyncGenerator<readonly CsvRecord[]> {
    for await (const chunk of text) yield splitter.push(chunk);
    yield splitter.end();
  };
  const listed = first();
  const isByte = delimiter.charCodeAt(0) < 0x80;
  return {
    first: listed,
    rest: () => (rest === null || !isByte ? groupsOf(listed) : cutGroups(rest(), splitter.open(), options)),
  };
}

function csvFormat(delimiter: string, separatorLine: boolean): TableFormat<CsvRecord> {
  return {
    delimiter,
    isOpen: false,
    isBlank: ({ text }) => isBlank(text, delimiter),
    isDirective: ({ line }) => separatorLine && line === 1,
    cellsOf: (records) => parseRecords(records, delimiter),
    flawOf: (record) => (record.strayAt > 0 ? strayQuote(record) : null),
  };
}

/** Ends a file of old programs (Ctrl-Z). */
const endMark = '\u001a';

/** Blank: nothing but white space and delimiters, as spreadsheets leave behind. */
function isBlank(text: string, delimiter: string): boolean {
  if (text === endMark) return true;
  for (const char of text) if (char !== delimiter && char.trim() !== '') return false;
  return true;
}

function strayQuote(record: CsvRecord): Problem {
  return {
    code: 'strayQuote',
    line: record.line,
    field: null,
    value: shownValue(record.text),
    message: `text follows a closing quote at character ${record.strayAt}`,
    hint: 'Write a quote that belongs to the text twice ("").',
  };
}

// The delimiter: it is the one under which the lines make the most regular table, quotes respected. Where it is known
// what the header holds, only delimiters count under which some line is a header. Header names are never keys of an
// object here, so a column called `__proto__` is a column like any other.

/** In order of preference where two fit equally well. */
export const detectedDelimiters: readonly string[] = [',', ';', '\t', '|'];
const recordsLookedAtMax = 200;
/** Small pieces, so that the records before a broken one are known. */
const pieceChars = 512;

/** @throws PatchbayError `usage` `delimiterInvalid`. */
export function checkDelimiter(delimiter: string): void {
  if (delimiter.length === 1 && !/["\r\n\ufeff]/.test(delimiter)) return;
  const hint = 'Usual ones are , ; | and a tab.';
  const message = `the delimiter must be one character, not ${JSON.stringify(delimiter)}`;
  throw new PatchbayError('usage', 'delimiterInvalid', message, { hint });
}

interface DelimiterQuestion {
  /** The beginning of the file, without a `sep=` line. */
  readonly head: string;
  /** Whether `head` is the whole file: its last line is then complete. */
  readonly whole: boolean;
  /** Null where any line may be the header. */
  readonly header: HeaderRule | null;
}

/** A comma where the text shows none. */
export function detectDelimiter(question: DelimiterQuestion): string {
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of detectedDelimiters) {
    const score = regularity(tableUnder(delimiter, question), question.header);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

interface TableLine {
  readonly line: number;
  readonly cells: readonly string[];
}

function tableUnder(delimiter: string, question: DelimiterQuestion): TableLine[] {
  const records = recordsUnder(delimiter, question).filter((record) => record.text.trim() !== '');
  const looked = records.slice(0, recordsLookedAtMax);
  return parseRecords(looked, delimiter).map((cells, index) => ({ line: looked[index]?.line ?? 0, cells }));
}

/** Where the quotes do not close, the records before that; the reader reports what is wrong. */
function recordsUnder(delimiter: string, { head, whole }: DelimiterQuestion): CsvRecord[] {
  const splitter = createCsvSplitter({ name: '', delimiter, recordBytesMax: head.length * 3 + 1 });
  const records: CsvRecord[] = [];
  try {
    for (let start = 0; start < head.length && records.length < recordsLookedAtMax; start += pieceChars) {
      records.push(...splitter.push(head.slice(start, start + pieceChars)));
    }
    if (whole && records.length < recordsLookedAtMax) records.push(...splitter.end());
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
  }
  return records;
}

/** The share of lines that have the commonest number of cells; a known header counts far more than any share. */
function regularity(table: readonly TableLine[], rule: HeaderRule | null): number {
  const header = table.find(({ line, cells }) => line <= headerLineMax && rule?.isHeader(cells) === true);
  const known = header === undefined ? 0 : 10 + Math.min(header.cells.length, 500) / 100;
  const countByWidth = new Map<number, number>();
  for (const { cells } of table) {
    if (cells.length > 1) countByWidth.set(cells.length, (countByWidth.get(cells.length) ?? 0) + 1);
  }
  const [width, count] = [...countByWidth].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  if (table.length === 0 || count === 0) return known;
  // Where the first line has another width than most lines, the delimiter is probably part of the text inside cells.
  const firstFits = header === undefined && table[0]?.cells.length !== width ? 0.5 : 1;
  return known + (count / table.length) * firstFits + Math.min(width, 500) / 100_000;
}

// Records to cells.

/** Splits each record into its cells. A record with stray text behind a quote is parsed alone, so that it cannot damage others. */
export function parseRecords(records: readonly CsvRecord[], delimiter: string): string[][] {
  if (records.every((record) => record.strayAt === 0)) {
    const rows = parseText(
      records.map((record) => record.text),
      delimiter,
    );
    if (rows.length === records.length) return rows;
  }
  return records.map((record) => {
    const rows = parseText([record.text], delimiter);
    return rows.length === 1 && rows[0] ? rows[0] : [record.text];
  });
}

/** The records no longer hold the line ends between them; they are joined by line feeds. */
function parseText(texts: readonly string[], delimiter: string): string[][] {
  const parser = new Papa.Parser({ delimiter, newline: '\n', quoteChar: '"' });
  const result: { data: string[][] } = parser.parse(`${texts.join('\n')}\n`, 0, false);
  // Behind the last line feed the parser finds one more record, which is empty.
  return result.data.slice(0, -1);
}
