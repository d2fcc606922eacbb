/**
 * CSV text to rows: delimiter, header, then slice by slice.
 *
 * Invariant: at most one chunk of text, one slice of rows and one unfinished record are in memory.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import {
  checkDelimiter,
  detectDelimiter,
  type Header,
  headerLineMax,
  headerMissing,
  headerOf,
  tooManyColumns,
} from './csv-layout.ts';
import { type CsvRecord, createCsvSplitter, parseRecords } from './csv-records.ts';
import { type PeekedText, peekText } from './decode.ts';
import {
  createTally,
  type FormatReader,
  type HeaderRule,
  itemsPerSliceMax,
  type SourceLimits,
  type Tally,
} from './format-reader.ts';
import { type CellsRow, cellProblem, holdsControlCharacter, isLongerThan, type SourceItem, shownValue } from './row.ts';

interface CsvOptions {
  readonly name: string;
  /** One character; without it the delimiter is detected. */
  readonly delimiter: string | null;
  /** Null: the first line that is not blank is the header. */
  readonly header: HeaderRule | null;
  /** Rows to leave out and name in a warning: the footer of a known export. */
  readonly isFooter: (cells: readonly string[]) => boolean;
  readonly limits: SourceLimits;
}

/** Enough of the file to detect its delimiter. */
const headChars = 64 * 1024;
/** A slice given to the parser at once, in characters: records may be long. */
const sliceCharsMax = 1024 * 1024;

/** @throws PatchbayError `file`, as csv-records.ts and csv-layout.ts do; `usage` `delimiterInvalid`. */
export async function readCsv(chunks: AsyncGenerator<string>, options: CsvOptions): Promise<FormatReader> {
  const text = await peekText(chunks, (head) => head.length >= headChars);
  const { delimiter, separatorLine } = chooseDelimiter(text, options);
  const records = recordsOf(text.all(), delimiter, options);
  const tally = createTally(options.name, options.limits.rowsMax);
  const top = await findHeader(records, { delimiter, separatorLine, options, tally });
  const columns = top.header?.columns ?? [];
  const rows = top.header && createCsvRows(top.header, options.name, options.limits, tally);
  return {
    head: { format: 'csv', columns, delimiter },
    slices: () => rowSlices(top.rest, records, { rows, delimiter, isFooter: options.isFooter, tally }),
    tail: () => withEmptyNote(tally, options.name, top.header),
  };
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

type RecordStream = AsyncGenerator<CsvRecord[]>;

interface HeaderSearch {
  readonly delimiter: string;
  readonly separatorLine: boolean;
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
  const { header: rule } = search.options;
  const preamble: CsvRecord[] = [];
  let firstCells: readonly string[] | null = null;
  // Each turn takes one more chunk of the file.
  for (let next = await records.next(); !next.done; next = await records.next()) {
    for (const [index, record] of next.value.entries()) {
      if (rule !== null && record.line > headerLineMax) throw missingHeader(firstCells, preamble, search, rule);
      if (isBlank(record.text, search.delimiter)) {
        search.tally.blankLine();
        continue;
      }
      if (record.line === 1 && search.separatorLine) continue;
      const cells = parseRecords([record], search.delimiter)[0] ?? [];
      if (rule === null || rule.isHeader(cells)) {
        notePreamble(preamble, search);
        const { name, limits } = search.options;
        const header = headerOf(cells, record.line, name, limits.columnsMax);
        return { header, rest: next.value.slice(index + 1) };
      }
      if (firstCells === null || cells.length > firstCells.length) firstCells = cells;
      preamble.push(record);
    }
  }
  if (rule !== null && preamble.length > 0) throw missingHeader(firstCells, preamble, search, rule);
  return { header: null, rest: [] };
}

function missingHeader(
  cells: readonly string[] | null,
  preamble: readonly CsvRecord[],
  { delimiter, options }: HeaderSearch,
  rule: HeaderRule,
) {
  return headerMissing(options.name, preamble[0]?.line ?? 1, cells ?? [], rule, delimiter);
}

function notePreamble(preamble: readonly CsvRecord[], search: HeaderSearch): void {
  for (const record of preamble) {
    search.tally.warn(lineLeftOut('preambleLine', record, 'it is above the header'));
  }
}

interface RowWork {
  readonly rows: CsvRows | null;
  readonly delimiter: string;
  readonly isFooter: (cells: readonly string[]) => boolean;
  readonly tally: Tally;
}

async function* rowSlices(first: CsvRecord[], records: RecordStream, work: RowWork) {
  try {
    yield* itemSlices(first, work);
    for await (const more of records) yield* itemSlices(more, work);
  } finally {
    await records.return(undefined);
  }
}

/** Cuts the records of one chunk into slices, bounded by number and by length. */
function* itemSlices(records: readonly CsvRecord[], work: RowWork): Generator<readonly SourceItem[]> {
  let slice: CsvRecord[] = [];
  let chars = 0;
  for (const record of records) {
    if (isBlank(record.text, work.delimiter)) {
      work.tally.blankLine();
      continue;
    }
    slice.push(record);
    chars += record.text.length;
    if (slice.length < itemsPerSliceMax && chars < sliceCharsMax) continue;
    yield itemsOf(slice, work);
    slice = [];
    chars = 0;
  }
  if (slice.length > 0) yield itemsOf(slice, work);
}

function itemsOf(slice: readonly CsvRecord[], work: RowWork): readonly SourceItem[] {
  const items: SourceItem[] = [];
  const table = parseRecords(slice, work.delimiter);
  for (const [index, record] of slice.entries()) {
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

/** Turns the cells of one record into a row, or a broken row with the reason. */
interface CsvRows {
  /** @throws PatchbayError `file` `tooManyColumns`, `tooManyRows`. */
  item(record: CsvRecord, cells: readonly string[]): SourceItem;
}

function createCsvRows(header: Header, name: string, limits: SourceLimits, tally: Tally): CsvRows {
  const namelessFilled = new Set<number>();

  const noteNameless = (cells: readonly string[], line: number): void => {
    for (let index = 0; index < Math.min(cells.length, header.width); index++) {
      if ((header.columns[index] ?? '').trim() !== '' || (cells[index] ?? '').trim() === '') continue;
      if (namelessFilled.has(index)) continue;
      namelessFilled.add(index);
      tally.warn(namelessColumn(index, line, cells[index] ?? ''));
    }
  };

  const hasNameless = header.columns.length < header.width || header.columns.some((column) => column.trim() === '');

  return {
    item: (record, cells) => {
      const { line } = record;
      if (cells.length > limits.columnsMax && cells.length > header.width) {
        throw tooManyColumns(name, line, cells.length, limits.columnsMax);
      }
      const number = tally.nextRecord(line);
      const fitted = fitToHeader(cells, header);
      const row: CellsRow = {
        kind: 'cells',
        line,
        record: number,
        columns: header.columns,
        cells: fitted ?? cells,
        ...beyondOf(cells, fitted),
      };
      const problem = recordProblem(record, cells, fitted, header, limits);
      if (problem !== null) return { type: 'broken', row, problem };
      if (hasNameless) noteNameless(cells, line);
      return { type: 'row', row };
    },
  };
}

/** The cells, cut to the header's columns; null where there are too few, or too many that hold something. */
function fitToHeader(cells: readonly string[], header: Header): readonly string[] | null {
  const wanted = header.columns.length;
  if (cells.length === wanted) return cells;
  if (cells.length < wanted) return null;
  for (let index = header.width; index < cells.length; index++) {
    if ((cells[index] ?? '').trim() !== '') return null;
  }
  return cells.slice(0, wanted);
}

function beyondOf(cells: readonly string[], fitted: readonly string[] | null): Pick<CellsRow, 'beyond'> {
  const beyond = fitted === null ? [] : cells.slice(fitted.length);
  return beyond.every((cell) => cell.trim() === '') ? {} : { beyond };
}

function recordProblem(
  record: CsvRecord,
  cells: readonly string[],
  fitted: readonly string[] | null,
  header: Header,
  limits: SourceLimits,
): Problem | null {
  if (record.strayAt > 0) return strayQuote(record);
  if (fitted === null) return cellCount(record, cells.length, header.columns.length);
  if (!holdsControlCharacter(record.text) && !isLongerThan(record.text, limits.cellBytesMax)) return null;
  for (const [index, cell] of fitted.entries()) {
    const problem = cellProblem(cell, record.line, header.columns[index] ?? '', limits.cellBytesMax);
    if (problem !== null) return problem;
  }
  return null;
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

function cellCount(record: CsvRecord, found: number, wanted: number): Problem {
  return {
    code: 'cellCount',
    line: record.line,
    field: null,
    value: shownValue(record.text),
    message: `the row has ${found} ${found === 1 ? 'cell' : 'cells'}, the header has ${wanted}`,
    hint: 'Put a value that contains the delimiter into quotes, or add the missing delimiters.',
  };
}

function namelessColumn(index: number, line: number, value: string): Problem {
  return {
    code: 'emptyHeader',
    line,
    field: null,
    value: shownValue(value),
    message: `column ${index + 1} has no name but holds values; it is ignored`,
    hint: 'Give the column a name if it is needed.',
  };
}
