/**
 * CSV text to the records of a table: its delimiter, then record by record.
 *
 * Invariant: at most one chunk of text, one slice of rows and one unfinished record are in memory.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { checkDelimiter, detectDelimiter } from './csv-layout.ts';
import { type CsvRecord, createCsvSplitter, parseRecords } from './csv-records.ts';
import { type PeekedText, peekText } from './decode.ts';
import { createTally, type FormatReader } from './format-reader.ts';
import { readTable, type TableFormat, type TableOptions } from './read-table.ts';
import { shownValue } from './row.ts';

interface CsvOptions extends TableOptions {
  /** One character; without it the delimiter is detected. */
  readonly delimiter: string | null;
}

/** Enough of the file to detect its delimiter. */
const headChars = 64 * 1024;

/** @throws PatchbayError `file`, as csv-records.ts and read-table.ts do; `usage` `delimiterInvalid`. */
export async function readCsv(chunks: AsyncGenerator<string>, options: CsvOptions): Promise<FormatReader> {
  const text = await peekText(chunks, (head) => head.length >= headChars);
  const { delimiter, separatorLine } = chooseDelimiter(text, options);
  const tally = createTally(options.name, options.limits.rowsMax);
  const records = recordsOf(text.all(), delimiter, options);
  const { columns, slices, tail } = await readTable(records, csvFormat(delimiter, separatorLine), options, tally);
  return { head: { format: 'csv', columns, delimiter }, slices, tail };
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
  return { delimiter: detectDelimiter({ head: text.head, whole: text.whole, header: options.header }), separatorLine };
}

/** Ends with the text. */
async function* recordsOf(text: AsyncGenerator<string>, delimiter: string, options: CsvOptions) {
  const { name, limits } = options;
  const splitter = createCsvSplitter({ name, delimiter, recordBytesMax: limits.recordBytesMax });
  for await (const chunk of text) yield splitter.push(chunk);
  yield splitter.end();
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
