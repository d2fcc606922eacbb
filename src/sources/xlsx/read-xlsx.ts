/**
 * A workbook to rows: one sheet, read as a table like a CSV file, and notes about what the table does not show.
 *
 * Invariant: in memory are the shared texts of the workbook, within their limit, and one slice of rows.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, PatchbayError } from '#src/errors.ts';
import { createTally, type FormatReader, type SourceLimits } from '#src/sources/format-reader.ts';
import { readTable, type TableFormat, type TableOptions } from '#src/sources/read-table.ts';
import type { ZipArchive } from '#src/sources/zip-archive.ts';
import {
  columnName,
  readSheet,
  type SheetReader,
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
  const { name, limits } = options;
  const workbook = await openWorkbook(archive, limits);
  const { sheet, reader, records, others } = await chooseSheet(workbook, options.sheet, limits);
  const place = workbook.sheets.length > 1 && sheet !== null ? `${name}, sheet ${shown(sheet)}` : name;
  const tally = createTally(name, limits.rowsMax);
  const table = await readTable(records, sheetFormat, { ...options, name: place }, tally).catch((error: unknown) => {
    throw withSheets(error, others);
  });
  const { columns, headerLine } = table;
  return {
    head: { format: 'xlsx', columns, delimiter: null },
    slices: async function* () {
      yield* table.slices();
      workbook.texts.clear();
    },
    tail: () => {
      const tail = table.tail();
      const notes = [...sheetNotes(reader.seen, columns.length, headerLine), ...otherSheets(sheet, others)];
      const blankLineCount = tail.blankLineCount + reader.seen.blankRows.count;
      return { ...tail, blankLineCount, warnings: [...tail.warnings, ...notes] };
    },
  };
}

const sheetFormat: TableFormat<SheetRecord> = {
  delimiter: null,
  isOpen: true,
  isBlank: () => false,
  isDirective: () => false,
  cellsOf: (records) => records.map(({ cells }) => cells),
  flawOf: () => null,
};

interface ChosenSheet {
  /** Null where the workbook has no sheet with cells at all. */
  readonly sheet: Sheet | null;
  readonly reader: Pick<SheetReader, 'seen'>;
  readonly records: AsyncGenerator<readonly SheetRecord[]>;
  /** Further sheets that hold something. */
  readonly others: readonly Sheet[];
}

async function chooseSheet(workbook: Workbook, wanted: string | null, limits: SourceLimits): Promise<ChosenSheet> {
  if (wanted !== null) {
    const sheet = sheetNamed(workbook, wanted);
    const reader = readSheet(workbook, sheet, limits);
    return { sheet, reader, records: reader.records(), others: [] };
  }
  const visible = workbook.sheets.filter(({ isHidden }) => !isHidden).slice(0, sheetsLookedAtMax);
  let chosen: Omit<ChosenSheet, 'others'> | null = null;
  const others: Sheet[] = [];
  for (const sheet of visible) {
    if (chosen !== null) {
      if (await holdsSomething(workbook, sheet, limits)) others.push(sheet);
      continue;
    }
    const reader = readSheet(workbook, sheet, limits);
    const records = reader.records();
    const first = await records.next();
    if (!first.done) chosen = { sheet, reader, records: followOn(first.value, records) };
  }
  if (chosen !== null) return { ...chosen, others };
  const [sheet = null] = visible;
  return { sheet, reader: { seen: nothingSeen }, records: followOn([], noRecords()), others };
}

function sheetNamed({ file, sheets }: Workbook, wanted: string): Sheet {
  const tidy = (name: string): string => name.normalize('NFC').trim().toLowerCase();
  const found = sheets.find(({ name }) => name === wanted) ?? sheets.find(({ name }) => tidy(name) === tidy(wanted));
  if (found !== undefined) return found;
  const message = `${file} has no sheet called ${wanted}; its sheets are: ${listSheets(sheets)}`;
  const hint = 'Correct the name after "sheet:" in the mapping, or remove it to read the first sheet.';
  throw fileError('sheetMissing', message, { file, sheet: wanted }, hint);
}

/** Looks at its beginning only. */
async function holdsSomething(workbook: Workbook, sheet: Sheet, limits: SourceLimits): Promise<boolean> {
  const peek = readSheet(workbook, sheet, limits).records(chunksLookedAtMax);
  const first = await peek.next();
  await peek.return(undefined);
  return !first.done;
}

async function* followOn(
  first: readonly SheetRecord[],
  rest: AsyncGenerator<readonly SheetRecord[]>,
): AsyncGenerator<readonly SheetRecord[]> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function* noRecords(): AsyncGenerator<readonly SheetRecord[]> {}

const nothingSeen: SheetSightings = {
  blankRows: { count: 0, first: '' },
  hiddenRows: { count: 0, first: '' },
  valuelessFormulas: { count: 0, first: '' },
  lostDigits: { count: 0, first: '' },
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
function withSheets(error: unknown, others: readonly Sheet[]): unknown {
  if (!(error instanceof PatchbayError) || error.code !== 'keyColumnMissing' || others.length === 0) return error;
  const { kind, code, message, facts, cause } = error;
  const hint = `If the contacts are on another sheet (${listSheets(others)}), name it with "sheet:" in a mapping, or make it the first one. ${error.hint ?? ''}`;
  return new PatchbayError(kind, code, message, { facts, cause, hint: hint.trim() });
}

function otherSheets(sheet: Sheet | null, others: readonly Sheet[]): readonly Problem[] {
  if (sheet === null || others.length === 0) return [];
  const message = `only the sheet ${shown(sheet)} was read, not ${listSheets(others)}`;
  return [note('otherSheets', 1, message, 'To read another one, name it with "sheet:" in the mapping.')];
}

function sheetNotes(seen: SheetSightings, columnCount: number, headerLine: number): readonly Problem[] {
  const { hiddenRows, valuelessFormulas, lostDigits } = seen;
  const hidden = seen.hiddenColumns.filter((index) => index < columnCount).map(columnName);
  const merges = seen.merges.filter(({ lastRow }) => lastRow > headerLine);
  const merged = { count: merges.length, first: merges[0]?.name ?? '' };
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
      merged,
      'mergedCells',
      ['merged range has', 'merged ranges have', 'a value in the first cell only'],
      'Undo the merging and fill each cell if the others should have the value too.',
    ),
  ];
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
