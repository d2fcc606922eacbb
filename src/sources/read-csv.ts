/**
 * CSV text to rows: delimiter, header, then batch by batch.
 *
 * Invariant: at most one chunk of text, one batch of rows and one unfinished record are in memory.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { detectDelimiter } from '#src/sources/csv-delimiter.ts';
import {
  type Header,
  headerLineMax,
  headerOf,
  holdsRequired,
  keyColumnMissing,
  normaliseHeader,
} from '#src/sources/csv-header.ts';
import { parseRecords } from '#src/sources/csv-parser.ts';
import { type CsvRows, createCsvRows } from '#src/sources/csv-rows.ts';
import { type CsvRecord, createCsvSplitter } from '#src/sources/csv-splitter.ts';
import { type FormatReader, itemsPerBatchMax } from '#src/sources/format-reader.ts';
import type { SourceItem } from '#src/sources/row.ts';
import type { SourceLimits } from '#src/sources/source-limits.ts';
import { createTally, type Tally } from '#src/sources/tally.ts';
import { type PeekedText, peekText } from '#src/sources/text-stream.ts';
import { checkDelimiter } from './read-options.ts';

export interface CsvOptions {
  readonly name: string;
  /** One character; without it the delimiter is detected. */
  readonly delimiter: string | null;
  /** Names, one of which must stand in the header. Empty: the first line that is not blank is the header. */
  readonly requiredColumn: readonly string[];
  /** Rows to leave out and name in a warning: the footer of a known export. */
  readonly isFooter: (cells: readonly string[]) => boolean;
  readonly limits: SourceLimits;
}

/** Enough of the file to see how it is cut. */
const headChars = 64 * 1024;
/** A batch given to the parser at once, in characters: records may be long. */
const batchCharsMax = 1024 * 1024;

/** Throws `file` errors, see csv-splitter.ts and csv-header.ts; `delimiterInvalid` (usage). */
export async function readCsv(chunks: AsyncGenerator<string>, options: CsvOptions): Promise<FormatReader> {
  const text = await peekText(chunks, (head) => head.length >= headChars);
  const required = new Set(options.requiredColumn.map(normaliseHeader));
  const { delimiter, separatorLine } = chooseDelimiter(text, required, options);
  const records = recordsOf(text.all(), delimiter, options);
  const tally = createTally(options.name, options.limits.rowsMax);
  const top = await findHeader(records, { delimiter, separatorLine, required, options, tally });
  const columns = top.header?.columns ?? [];
  const rows = top.header && createCsvRows(top.header, options.name, options.limits, tally);
  return {
    head: { format: 'csv', columns, delimiter },
    batches: () => rowBatches(top.rest, records, { rows, delimiter, isFooter: options.isFooter, tally }),
    tail: () => withEmptyNote(tally, options.name, top.header),
  };
}

function chooseDelimiter(text: PeekedText, required: ReadonlySet<string>, options: CsvOptions) {
  const separator = /^sep=(.)[ \t]*(?=\r|\n|$)/i.exec(text.head);
  const separatorLine = separator !== null;
  if (options.delimiter !== null) {
    checkDelimiter(options.delimiter);
    return { delimiter: options.delimiter, separatorLine };
  }
  const told = separator?.[1];
  if (told !== undefined && told !== '"') return { delimiter: told, separatorLine };
  return { delimiter: detectDelimiter({ head: text.head, whole: text.whole, required }), separatorLine };
}

/** Ends with the text. */
async function* recordsOf(text: AsyncGenerator<string>, delimiter: string, options: CsvOptions) {
  const { name, limits } = options;
  const splitter = createCsvSplitter({ name, delimiter, recordBytesMax: limits.recordBytesMax });
  for await (const chunk of text) yield splitter.push(chunk);
  yield splitter.end();
}

type RecordStream = AsyncGenerator<CsvRecord[]>;

interface HeaderSearch {
  readonly delimiter: string;
  readonly separatorLine: boolean;
  readonly required: ReadonlySet<string>;
  readonly options: CsvOptions;
  readonly tally: Tally;
}

interface Top {
  /** Null where the file holds nothing at all. */
  readonly header: Header | null;
  /** Records that were read together with the header and come after it. */
  readonly rest: CsvRecord[];
}

/** Takes records until the header is found, 20 lines have passed, or the file ends. */
async function findHeader(records: RecordStream, search: HeaderSearch): Promise<Top> {
  const preamble: CsvRecord[] = [];
  let firstCells: readonly string[] | null = null;
  // Each turn takes one more chunk of the file.
  for (let next = await records.next(); !next.done; next = await records.next()) {
    for (const [index, record] of next.value.entries()) {
      if (search.required.size > 0 && record.line > headerLineMax) throw missingKey(firstCells, preamble, search);
      if (isBlank(record.text, search.delimiter)) {
        search.tally.blankLine();
        continue;
      }
      if (record.line === 1 && search.separatorLine) continue;
      const cells = parseRecords([record], search.delimiter)[0] ?? [];
      if (search.required.size === 0 || holdsRequired(cells, search.required)) {
        notePreamble(preamble, search);
        const { name, limits } = search.options;
        const check = { name, columnsMax: limits.columnsMax };
        return { header: headerOf(cells, record.line, check), rest: next.value.slice(index + 1) };
      }
      if (firstCells === null || cells.length > firstCells.length) firstCells = cells;
      preamble.push(record);
    }
  }
  if (preamble.length > 0) throw missingKey(firstCells, preamble, search);
  return { header: null, rest: [] };
}

function missingKey(cells: readonly string[] | null, preamble: readonly CsvRecord[], search: HeaderSearch) {
  return keyColumnMissing(search.options.name, preamble[0]?.line ?? 1, {
    found: cells ?? [],
    required: search.options.requiredColumn,
    delimiter: search.delimiter,
  });
}

function notePreamble(preamble: readonly CsvRecord[], search: HeaderSearch): void {
  for (const record of preamble) {
    search.tally.warn(lineLeftOut('preambleLine', record, 'it stands above the header'));
  }
}

interface RowWork {
  readonly rows: CsvRows | null;
  readonly delimiter: string;
  readonly isFooter: (cells: readonly string[]) => boolean;
  readonly tally: Tally;
}

async function* rowBatches(first: CsvRecord[], records: RecordStream, work: RowWork) {
  try {
    yield* itemBatches(first, work);
    for await (const more of records) yield* itemBatches(more, work);
  } finally {
    await records.return(undefined);
  }
}

/** Cuts the records of one chunk into batches, bounded by number and by length. */
function* itemBatches(records: readonly CsvRecord[], work: RowWork): Generator<readonly SourceItem[]> {
  let batch: CsvRecord[] = [];
  let chars = 0;
  for (const record of records) {
    if (isBlank(record.text, work.delimiter)) {
      work.tally.blankLine();
      continue;
    }
    batch.push(record);
    chars += record.text.length;
    if (batch.length < itemsPerBatchMax && chars < batchCharsMax) continue;
    yield itemsOf(batch, work);
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield itemsOf(batch, work);
}

function itemsOf(batch: readonly CsvRecord[], work: RowWork): readonly SourceItem[] {
  const items: SourceItem[] = [];
  const table = parseRecords(batch, work.delimiter);
  for (const [index, record] of batch.entries()) {
    const cells = table[index] ?? [];
    if (work.isFooter(cells))
      work.tally.warn(lineLeftOut('footerLine', record, 'it belongs to the footer of the export'));
    else if (work.rows !== null) items.push(work.rows.item(record, cells));
  }
  return items;
}

/** Blank: nothing but white space and delimiters, as spreadsheets leave behind. */
function isBlank(text: string, delimiter: string): boolean {
  for (const char of text) if (char !== delimiter && char.trim() !== '') return false;
  return true;
}

function lineLeftOut(code: string, record: CsvRecord, why: string): Problem {
  const message = `line ${record.line} is left out: ${why}`;
  const value = record.text.slice(0, 200).toWellFormed();
  return { code, line: record.line, field: null, value, message, hint: 'Nothing to do if that is right.' };
}

function withEmptyNote(tally: Tally, name: string, header: Header | null) {
  const tail = tally.tail();
  if (tail.recordCount > 0) return tail;
  const what = header === null ? 'is empty' : 'holds a header and no rows';
  const code = header === null ? 'emptyFile' : 'noRows';
  const line = header?.line ?? 1;
  const hint = 'Check the export if rows were expected.';
  const note: Problem = { code, line, field: null, value: null, message: `${name} ${what}`, hint };
  return { ...tail, warnings: [...tail.warnings, note] };
}
