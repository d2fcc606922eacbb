/**
 * The records of a table to rows, whatever the format: the header is searched in the first lines, what is above it and footers
 * are left out with a warning, and each other record becomes a row (`table-rows.ts`).
 *
 * Invariant: at most one group of records and one slice of rows are in memory.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, type PatchbayError } from '#src/errors.ts';
import { looksMisread } from './code-page.ts';
import {
  type FormatReader,
  type Header,
  type HeaderRule,
  headerLineMax,
  headerMissing,
  headerOf,
  itemsPerSliceMax,
  type RecordLook,
  type Tally,
} from './format-reader.ts';
import { isCopyEnd } from './psql-lines.ts';
import { groupOf, type RecordGroup, type TableRecord, type TableRecords } from './record-group.ts';
import type { HashWords } from './record-hash.ts';
import { type SourceItem, shownValue } from './row.ts';
import { type CutRows, createCutRows } from './short-rows.ts';
import { createTableRows, noKeyColumns, type TableFormat, type TableOptions, type TableRows } from './table-rows.ts';
import { isRuleRow, isTotalRow } from './total-rows.ts';

interface TableReader extends Pick<FormatReader, 'slices' | 'tail' | 'meaning'> {
  readonly columns: readonly string[];
  /** 0 where the file holds nothing at all. */
  readonly headerLine: number;
}

const sampleRowsMax = 500;
/** A slice of records, in characters: records may be long. */
const sliceCharsMax = 1024 * 1024;

/** Its iterator throws what `records` throws, and PatchbayError `file` `tooManyColumns`, `tooManyRows`, `exportBrokeOff`. @throws PatchbayError `file` `keyColumnMissing`. */
export async function readTable<Kind extends TableRecord>(
  records: TableRecords<Kind>,
  format: TableFormat<Kind>,
  options: TableOptions,
  tally: Tally,
): Promise<TableReader> {
  const search = { format, options, tally };
  const top = await findHeader(records.first, search);
  const { header } = top;
  const cut = header === null || options.mayBeCut === false ? null : cutRowsOf(header, format, top.rest);
  const rows = header && createTableRows(header, format, options, tally, cut);
  return {
    columns: header?.columns ?? [],
    headerLine: header?.line ?? 0,
    meaning: header === null || rows === null || format.isOpen ? null : meaningOf(header, format, rows),
    slices: (look = null) => rowSlices(top.rest, records, { ...search, rows, look }),
    tail: () => ({ ...withEmptyNote(tally, options.name, header), nameless: rows?.nameless() ?? [] }),
  };
}

/** What decides, besides its text, how a record is read and whether it is a row. */
function meaningOf<Kind extends TableRecord>(
  { columns, width }: Header,
  { delimiter }: TableFormat<Kind>,
  { keyIndexes, joinedIndexes, headerIndex }: TableRows<Kind>,
): string {
  const joined = joinedIndexes.length === 0 ? [] : [joinedIndexes];
  return JSON.stringify([delimiter, columns, width, headerIndex, keyIndexes, ...joined]);
}

/** Looks at the first rows behind the header, which were read together with it. */
function cutRowsOf<Kind extends TableRecord>(
  header: Header,
  format: TableFormat<Kind>,
  rest: readonly Kind[],
): CutRows {
  const first = rest.slice(0, sampleRowsMax).filter((record) => !format.isBlank(record) && record.isUnclosed !== true);
  return createCutRows(header.columns, format.cellsOf(first));
}

interface Search<Kind extends TableRecord> {
  readonly format: TableFormat<Kind>;
  readonly options: TableOptions;
  readonly tally: Tally;
}

interface Top<Kind> {
  /** Null where the file holds nothing at all. */
  readonly header: Header | null;
  /** Records that were read together with the header and come after it. */
  readonly rest: readonly Kind[];
}

/** Takes records until the header is found, 20 lines have passed, or the file ends. */
async function findHeader<Kind extends TableRecord>(
  records: AsyncGenerator<readonly Kind[]>,
  { format, options, tally }: Search<Kind>,
): Promise<Top<Kind>> {
  const { header: rule, name, limits } = options;
  const preamble: Kind[] = [];
  let first: readonly string[] | undefined;
  let widest: readonly string[] = [];
  let widestLine = 1;
  const topAt = (record: Kind, cells: readonly string[], rest: readonly Kind[]): Top<Kind> => {
    const header = headerOf(cells, record.line, { name, columnsMax: limits.columnsMax, delimiter: format.delimiter });
    if (strangeLineEnd.test(record.text)) throw lineEndsUnknown(name, record.line);
    const width = format.isOpen ? limits.columnsMax : header.width;
    return { header: { ...header, width }, rest };
  };
  /** Of records in which no header was found. @param rest those behind them. */
  const withoutHeader = (wanted: HeaderRule, rest: readonly Kind[]): Top<Kind> => {
    const [top, ...others] = preamble;
    if (wanted.elseFirst === true && top !== undefined) return topAt(top, first ?? [], [...others, ...rest]);
    throw headerMissing(name, widestLine, widest, wanted, format.delimiter);
  };
  // Each turn takes one more group of records.
  for (let next = await records.next(); !next.done; next = await records.next()) {
    for (const [index, record] of next.value.entries()) {
      if (format.isBlank(record)) {
        tally.blankLine();
        continue;
      }
      if (rule !== null && record.line > headerLineMax && preamble.length > 0) {
        return withoutHeader(rule, next.value.slice(index));
      }
      if (format.isDirective(record)) continue;
      const cells = format.cellsOf([record])[0] ?? [];
      if (rule === null || rule.isHeader(cells, first)) {
        for (const above of preamble) tally.warn(lineLeftOut('preambleLine', above, 'it is above the header'));
        return topAt(record, cells, next.value.slice(index + 1));
      }
      first ??= cells;
      if (cells.length > widest.length) {
        widest = cells;
        widestLine = record.line;
      }
      preamble.push(record);
    }
  }
  if (rule !== null && preamble.length > 0) return withoutHeader(rule, []);
  return { header: null, rest: [] };
}

/** Characters that end a line in a few programs, and in no table that is read here. */
const strangeLineEnd = /[\u0085\u2028\u2029]/;

function lineEndsUnknown(name: string, line: number): PatchbayError {
  const message = `${name}, line ${line}: the lines end in a character that does not end a line in CSV (U+0085, U+2028 or U+2029)`;
  return fileError(
    'lineEndsUnknown',
    message,
    { file: name, line },
    'Save the file with the line ends of Windows or Unix.',
  );
}

interface RowWork<Kind extends TableRecord> extends Search<Kind> {
  readonly rows: TableRows<Kind> | null;
  readonly look: RecordLook | null;
}

async function* rowSlices<Kind extends TableRecord>(
  first: readonly Kind[],
  records: TableRecords<Kind>,
  work: RowWork<Kind>,
) {
  try {
    yield* itemSlices(groupOf(first), work);
    for await (const group of records.rest()) yield* itemSlices(group, work);
  } finally {
    await records.first.return(undefined);
  }
}

/** Records of a group that are to be read. */
interface Slice<Kind> {
  readonly records: Kind[];
  /** Of each, how many records of the file were counted before it, without those of this slice. */
  readonly countsBefore: number[];
  /** Of their texts; empty where the look does not keep them. */
  readonly hashes: (HashWords | undefined)[];
}

/**
 * Cuts the records of one group into slices, bounded by the number and the length of those that are read. Of known ones a slice
 * holds as many as its group has.
 */
function* itemSlices<Kind extends TableRecord>(
  group: RecordGroup<Kind>,
  work: RowWork<Kind>,
): Generator<readonly SourceItem[]> {
  const { look, format, tally, rows } = work;
  let slice: Slice<Kind> = { records: [], countsBefore: [], hashes: [] };
  let hasMet = false;
  let chars = 0;
  // Ends with the group.
  for (;;) {
    const isHashed = look !== null && rows?.mustSee() === false;
    const metBefore = tally.recordCount();
    const isAtUnknown = isHashed ? passKnown(group, look, tally) : group.next();
    hasMet ||= tally.recordCount() > metBefore;
    if (!isAtUnknown) break;
    const taken = group.take();
    if (format.isBlank(taken)) {
      tally.blankLine();
      continue;
    }
    const record = format.filledFromAbove?.(taken, rows?.keyColumns ?? noKeyColumns) ?? taken;
    slice.records.push(record);
    slice.countsBefore.push(tally.recordCount());
    if (look?.keepsHashes === true) slice.hashes.push(isHashed ? { ...words } : undefined);
    chars += record.text.length;
    if (slice.records.length < itemsPerSliceMax && chars < sliceCharsMax) continue;
    yield itemsOf(slice, work);
    slice = { records: [], countsBefore: [], hashes: [] };
    hasMet = false;
    chars = 0;
  }
  if (slice.records.length > 0 || hasMet) yield itemsOf(slice, work);
}

/** Of a record that is read. */
const unknown = -1;

/**
 * Counts known records up to the next one that is to be read. A loop of its own: nearly all records of most files pass here, and what
 * happens to the others is to have no part in how V8 compiles it. @returns false where the group ends first.
 */
function passKnown<Kind extends TableRecord>(group: RecordGroup<Kind>, look: RecordLook, tally: Tally): boolean {
  // Ends with the group.
  while (group.next()) {
    const place = placeOf(group, look);
    if (place === unknown) return true;
    const { line } = group;
    tally.nextRecord(line);
    look.meet(place, line);
  }
  return false;
}

const words: HashWords = { a: 0, b: 0, c: 0, d: 0 };

/** What looks misread is looked at in each run, since a warning says how much of it there is. */
function placeOf<Kind extends TableRecord>(group: RecordGroup<Kind>, look: RecordLook): number {
  const isAscii = group.hash(look.seed, words);
  const place = look.find(words, group.line);
  return place === unknown || isAscii || !looksMisread(group.take().text) ? place : unknown;
}

function itemsOf<Kind extends TableRecord>(
  { records, countsBefore, hashes }: Slice<Kind>,
  { format, rows, tally, options }: RowWork<Kind>,
): readonly SourceItem[] {
  if (records.length === 0) return [];
  const items: SourceItem[] = [];
  const { keyIndexes = [], joinedIndexes } = rows ?? {};
  for (const [index, cells] of format.cellsOf(records).entries()) {
    const record = records[index] as Kind;
    const end = brokenOff(options.name, record);
    if (end !== null) throw end;
    const own = format.ownCellsOf?.(record) ?? cells;
    if (rows?.repeatsHeader(record, own) === true)
      tally.warn(lineLeftOut('headerRepeated', record, 'it repeats the header'));
    else if (isTotalRow(own, keyIndexes, joinedIndexes))
      tally.warn(lineLeftOut('totalLine', record, 'it holds totals'));
    else if (isRuleRow(own)) {
      rows?.psql.seeRule(record.text);
      tally.warn(lineLeftOut('ruleLine', record, 'it holds dashes alone'));
    } else if (isCopyEnd(own)) tally.warn(lineLeftOut('copyEnd', record, 'it is the end mark of COPY'));
    else if (rows !== null) {
      tally.nextRecord(record.line);
      const number = (countsBefore[index] ?? 0) + items.length + 1;
      items.push(rows.item(record, cells, number, hashes[index]));
    }
  }
  return items;
}

function lineLeftOut(code: string, record: TableRecord, why: string): Problem {
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

/** Messages of errors that end a program. */
const fatalInMarkup = /^\s*(?:<br \/>\s*)?<b>(?:PHP )?(?:(?:Catchable |Recoverable )?fatal|parse) error<\/b>:\s/i;
const fatalInText = /^\s*(?:PHP )?(?:(?:Catchable |Recoverable )?Fatal|Parse) error: .+ in \S+(?: on line |:)\d+/s;

/**
 * The error of a table that its program broke off, as PHP leaves its message behind the last row that was written: all people behind that are
 * missing, so the file is no full one. Only errors that end a program count: rows follow a warning. Null for nearly all records.
 */
function brokenOff(
  name: string,
  { text, line }: { readonly text: string; readonly line: number },
): PatchbayError | null {
  if (!text.includes('rror') || !(fatalInMarkup.test(text) || fatalInText.test(text))) return null;
  const said = shownValue(text.replace(/<[^>]{0,20}>/g, '').trim());
  const message = `${name}, line ${line}: the export broke off with an error of the program that wrote it: "${said}"`;
  const hint =
    'Rows behind that line are missing. Correct the program, or give it more time or memory, and export the file again.';
  return fileError('exportBrokeOff', message, { file: name, line, said }, hint);
}
