/**
 * A workbook to rows: one sheet, read as a table like a CSV file, and notes about what the table does not show.
 *
 * Invariant: in memory are the shared texts of the workbook, within their limit, and one slice of rows.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, PatchbayError } from '#src/errors.ts';
import { columnLetters } from '#src/sources/column-name.ts';
import { createTally, type FormatReader, type SourceLimits } from '#src/sources/format-reader.ts';
import { readTable } from '#src/sources/read-table.ts';
import { groupsOf } from '#src/sources/record-group.ts';
import type { TableFormat, TableOptions } from '#src/sources/table-rows.ts';
import type { ZipArchive } from '#src/sources/zip-archive.ts';
import { createMergeFiller, findMergedDown, isOfRows, type MergedRanges } from './merged-rows.ts';
import {
  type Range,
  readSheet,
  refuseLongRow,
  type SheetRecord,
  type SheetSightings,
  type Sighting,
} from './sheet-records.ts';
import { openWorkbook, type Sheet, type Workbook } from './workbook.ts';

interface XlsxOptions extends TableOptions {
  /** The name of a sheet; null: the first visible one that holds something. */
  readonly sheet: string | null;
}

/** A sheet that is opened only to see whether it holds something: chunks and sheets. */
const chunksLookedAtMax = 16;
const sheetsLookedAtMax = 50;
const namesShownMax = 20;

/** @throws PatchbayError `file` `sheetMissing`, `keyColumnMissing`, `xlsxDamaged`, `xlsxTooLarge`, and what the archive throws. */
export async function readXlsx(archive: ZipArchive, options: XlsxOptions): Promise<FormatReader> {
  const workbook = await openWorkbook(archive, options.limits);
  const { sheet: wanted, limits } = options;
  const sheets = wanted === null ? await filledSheets(workbook, false, limits) : [sheetNamed(workbook, wanted)];
  const hidden = wanted === null ? await filledSheets(workbook, true, limits) : [];
  const opened = await openFirstFitting(workbook, { sheets, hidden }, options);
  const { sheet, seen, table, notes, fillMerged } = opened;
  const { columns, headerLine } = table;
  let merged: MergedRanges = { ranges: [], isCutShort: false };
  return {
    head: { format: 'xlsx', columns, delimiter: null },
    slices: async function* () {
      if (sheet !== null) merged = await findMergedDown(workbook.bytesOf(sheet));
      fillMerged(merged);
      yield* table.slices();
      workbook.texts.clear();
    },
    tail: () => {
      const tail = table.tail();
      const others = sheets.filter((one) => one !== sheet);
      const all = [
        ...notes,
        ...sheetNotes(seen, columns.length, headerLine, merged),
        ...otherSheets(sheet, [...others, ...hidden]),
      ];
      const blankLineCount = tail.blankLineCount + seen.blankRows.count;
      return { ...tail, blankLineCount, warnings: [...tail.warnings, ...all] };
    },
  };
}

interface OpenSheet {
  readonly sheet: Sheet | null;
  readonly seen: SheetSightings;
  readonly table: Awaited<ReturnType<typeof readTable>>;
  readonly notes: readonly Problem[];
  /** To be called before rows are read. */
  readonly fillMerged: (merged: MergedRanges) => void;
}

/**
 * The first sheet, as a rule. Where it has no header that is looked for, as a cover page has none, and exactly one of the other
 * sheets has, it is that one, and a note says so.
 */
async function openFirstFitting(
  workbook: Workbook,
  { sheets, hidden }: { readonly sheets: readonly Sheet[]; readonly hidden: readonly Sheet[] },
  options: XlsxOptions,
): Promise<OpenSheet> {
  const [first = null, ...others] = sheets;
  try {
    return await openSheet(workbook, first, options);
  } catch (error) {
    if (!isHeaderMissing(error)) throw error;
    const fitting: OpenSheet[] = [];
    for (const other of others) {
      const opened = await openSheet(workbook, other, options).catch((reason: unknown) => {
        if (isHeaderMissing(reason)) return null;
        throw reason;
      });
      if (opened !== null) fitting.push(opened);
    }
    const [only] = fitting;
    if (only === undefined || fitting.length > 1) throw withSheets(error, [...others, ...hidden]);
    return { ...only, notes: [sheetChosen(first, only.sheet)] };
  }
}

function isHeaderMissing(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && error.code === 'keyColumnMissing';
}

async function openSheet(workbook: Workbook, sheet: Sheet | null, options: XlsxOptions): Promise<OpenSheet> {
  const { file, sheets } = workbook;
  const reader = sheet === null ? null : readSheet(workbook, sheet, options.limits);
  const name = sheet !== null && sheets.length > 1 ? `${file}, sheet ${shown(sheet)}` : file;
  const tally = createTally(file, options.limits.rowsMax);
  const records = reader?.records() ?? noRecords();
  let fill: ReturnType<typeof createMergeFiller> | null = null;
  const format: TableFormat<SheetRecord> = {
    ...sheetFormat,
    filledFromAbove: (record, key) => {
      const filled = fill?.(record, key) ?? record;
      refuseLongRow(file, filled, options.limits.recordBytesMax);
      return filled;
    },
  };
  try {
    const table = await readTable(
      { first: records, rest: () => groupsOf(records) },
      format,
      { ...options, name },
      tally,
    );
    return {
      ...{ sheet, seen: reader?.seen ?? nothingSeen, table, notes: [] },
      fillMerged: (merged) => {
        fill = createMergeFiller(merged, table.headerLine);
      },
    };
  } catch (error) {
    await records.return(undefined);
    throw error;
  }
}

const sheetFormat: TableFormat<SheetRecord> = {
  delimiter: null,
  isOpen: true,
  isBlank: () => false,
  isDirective: () => false,
  cellsOf: (records) => records.map(({ cells }) => cells),
  flawOf: () => null,
  ownCellsOf: ({ own }) => own ?? null,
};

/** Those that hold something, in their order. */
async function filledSheets(workbook: Workbook, isHidden: boolean, limits: SourceLimits): Promise<readonly Sheet[]> {
  const filled: Sheet[] = [];
  for (const sheet of workbook.sheets.filter((one) => one.isHidden === isHidden).slice(0, sheetsLookedAtMax)) {
    // The first visible one decides what is read, however many blank rows it begins with.
    const chunksMax = !isHidden && filled.length === 0 ? Number.POSITIVE_INFINITY : chunksLookedAtMax;
    if (await holdsSomething(workbook, sheet, limits, chunksMax)) filled.push(sheet);
  }
  return filled;
}

function sheetNamed({ file, sheets }: Workbook, wanted: string): Sheet {
  const tidy = (name: string): string => name.normalize('NFC').trim().toLowerCase();
  const found = sheets.find(({ name }) => name === wanted) ?? sheets.find(({ name }) => tidy(name) === tidy(wanted));
  if (found !== undefined) return found;
  const message = `${file} has no sheet called ${wanted}; its sheets are: ${listSheets(sheets)}`;
  const hint = 'Correct the name after "sheet:" in the mapping, or remove it to read the first sheet.';
  throw fileError('sheetMissing', message, { file, sheet: wanted }, hint);
}

/** True also for a sheet that holds nothing in its first chunks and goes on. */
async function holdsSomething(
  workbook: Workbook,
  sheet: Sheet,
  limits: SourceLimits,
  chunksMax: number,
): Promise<boolean> {
  const reader = readSheet(workbook, sheet, limits);
  const peek = reader.records(chunksMax);
  const first = await peek.next();
  await peek.return(undefined);
  return first.done !== true || reader.isCutShort();
}

async function* noRecords(): AsyncGenerator<readonly SheetRecord[]> {}

const nothingSeen: SheetSightings = {
  blankRows: { count: 0, first: '' },
  hiddenRows: { count: 0, first: '' },
  valuelessFormulas: { count: 0, first: '' },
  lostDigits: { count: 0, first: '' },
  hiddenZeros: { count: 0, first: '' },
  hiddenColumns: [],
  merges: [],
};

function shown({ name, isHidden }: Sheet): string {
  const tidy = name
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .slice(0, 60);
  return isHidden ? `${tidy} (hidden)` : tidy;
}

function listSheets(sheets: readonly Sheet[]): string {
  const names = sheets.slice(0, namesShownMax).map(shown);
  const more = sheets.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Where the header is missing, it may be on another sheet. */
function withSheets(error: PatchbayError, others: readonly Sheet[]): PatchbayError {
  if (others.length === 0) return error;
  const { kind, code, message, facts, cause } = error;
  const hint = `If the contacts are on another sheet (${listSheets(others)}), name it with "sheet:" in a mapping, or make it the first one. ${error.hint ?? ''}`;
  return new PatchbayError(kind, code, message, { facts, cause, hint: hint.trim() });
}

function sheetChosen(first: Sheet | null, sheet: Sheet | null): Problem {
  const names = [first, sheet].map((one) => (one === null ? '' : shown(one)));
  const message = `the sheet ${names[1]} was read: the first one, ${names[0]}, has no header that is known`;
  return note('sheetChosen', 1, message, 'To read another one, name it with "sheet:" in the mapping.');
}

function otherSheets(sheet: Sheet | null, others: readonly Sheet[]): readonly Problem[] {
  if (others.length === 0) return [];
  const read = sheet === null ? 'the visible sheets, which hold nothing, were' : `the sheet ${shown(sheet)} was`;
  const message = `only ${read} read, not ${listSheets(others)}`;
  return [note('otherSheets', 1, message, 'To read another one, name it with "sheet:" in the mapping.')];
}

function sheetNotes(
  seen: SheetSightings,
  columnCount: number,
  headerLine: number,
  found: MergedRanges,
): readonly Problem[] {
  const { hiddenRows, valuelessFormulas, lostDigits, hiddenZeros } = seen;
  const hidden = seen.hiddenColumns.filter((index) => index < columnCount).map(columnLetters);
  const merges = seen.merges.filter(({ lastRow }) => lastRow > headerLine);
  const isFilled = (range: Range): boolean =>
    found.ranges.length > 0 && range.lastRow > range.firstRow && isOfRows(range, headerLine);
  const ofCells = merges.filter((range) => !isFilled(range));
  const ofRows = merges.filter(isFilled);
  return [
    ...(hidden.length === 0 ? [] : [hiddenColumnsNote(hidden)]),
    ...sightingNote(
      hiddenRows,
      'hiddenRows',
      ['hidden row was', 'hidden rows were', 'read like all others'],
      'If a filter was meant to leave them out, copy the visible rows to a sheet of their own.',
    ),
    ...sightingNote(
      valuelessFormulas,
      'formulaWithoutValue',
      ['formula without a stored value was', 'formulas without a stored value were', 'read as blank'],
      'Open the workbook in the spreadsheet program and save it: that stores the values.',
    ),
    ...sightingNote(
      lostDigits,
      'digitsLost',
      ['number has', 'numbers have', 'lost digits, since a spreadsheet keeps 15'],
      'Format the column as text before the numbers are entered, or export them from their source again.',
    ),
    ...sightingNote(
      hiddenZeros,
      'hiddenZeros',
      ['zero that its format hides was', 'zeros that their format hides were', 'read as blank'],
      'Nothing to do where formulas give 0 for an empty cell. Where 0 is a value, give the column a number format that shows it.',
    ),
    ...sightingNote(
      { count: ofRows.length, first: ofRows[0]?.name ?? '' },
      'mergedRows',
      ['merged range was', 'merged ranges were', 'read with the value in each row'],
      'Nothing to do if that is meant. A key is not taken from the row above: give each row one of its own.',
    ),
    ...(found.isCutShort ? [tooManyMerged(found)] : []),
    ...sightingNote(
      { count: ofCells.length, first: ofCells[0]?.name ?? '' },
      'mergedCells',
      ['merged range has', 'merged ranges have', 'a value in the first cell only'],
      'Undo the merging and fill each cell if the others should have the value too.',
    ),
  ];
}

function tooManyMerged({ ranges }: MergedRanges): Problem {
  const message = `the sheet has more merged ranges than can be kept: those behind the first ${ranges.length} have a value in the first cell only`;
  return note('mergedCells', 1, message, 'Undo the merging and fill each cell.');
}

/** None if nothing was seen. */
function sightingNote(
  { count, first }: Sighting,
  code: string,
  [one, many, what]: readonly [one: string, many: string, what: string],
  hint: string,
): readonly Problem[] {
  if (count === 0) return [];
  const message = `${count} ${count === 1 ? one : many} ${what} (${count === 1 ? '' : 'the first: '}${first})`;
  return [note(code, rowOf(first), message, hint)];
}

function hiddenColumnsNote(names: readonly string[]): Problem {
  const message = `hidden columns were read like all others: ${names.slice(0, namesShownMax).join(', ')}`;
  return note('hiddenColumns', 1, message, 'Columns that the mapping does not name are never used.');
}

/** 5 for `C5` and for `A2:B5`… the first number. */
function rowOf(place: string): number {
  return Number(/\d+/.exec(place)?.[0] ?? '1');
}

function note(code: string, line: number, message: string, hint: string): Problem {
  return { code, line, field: null, value: null, message, hint };
}
