/**
 * The rows of one sheet as records of a table: each with its row number and what a person sees in its cells; and what else is
 * worth a note, such as hidden rows.
 *
 * Invariant: at most the rows of one chunk of the sheet are in memory. Rows without a value give no record.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { columnLetters } from '#src/sources/column-name.ts';
import type { SourceLimits } from '#src/sources/format-reader.ts';
import { type CellFormat, generalFormat, isHiddenZero, isoDateText, lostDigits, numberText } from './cell-text.ts';
import { createTextCollector, isTrue, type Sheet, unescaped, type Workbook } from './workbook.ts';
import type { Attributes, PartHandler } from './xml-part.ts';

export interface SheetRecord {
  /** The row's number in the sheet, from 1. */
  readonly line: number;
  /** The cells with commas between them, for messages and bounds. */
  readonly text: string;
  /** Up to the last one that holds something. */
  readonly cells: readonly string[];
  /** Without values that are merged down to this row from one above; absent where there are none. */
  readonly own?: readonly string[];
}

/** How many of something there are, and where the first is. */
export interface Sighting {
  count: number;
  /** `C5`; empty where there is none. */
  first: string;
}

/** What was seen beside the values. Complete after the last row. */
export interface SheetSightings {
  readonly blankRows: Sighting;
  readonly hiddenRows: Sighting;
  readonly valuelessFormulas: Sighting;
  readonly lostDigits: Sighting;
  /** Zeros that their format shows as nothing, read as blank. */
  readonly hiddenZeros: Sighting;
  /** Indexes from 0, of those that can be read. */
  readonly hiddenColumns: readonly number[];
  /** Ranges such as `A2:A4` of more than one cell. */
  readonly merges: readonly Range[];
}

export interface Range {
  readonly name: string;
  readonly firstRow: number;
  readonly lastRow: number;
}

/** LibreOffice can have more rows than Excel's 1,048,576. */
const rowNumberMax = 16_777_216;
const columnNumberMax = 16_384;
const rangesKeptMax = 1_000;
/** One value: beyond what a cell may hold. */
const valueCharsMax = 128 * 1024;

export interface SheetReader {
  /**
   * Groups of records; ends with the sheet, or after `chunksMax` chunks of it.
   * Throws what `Workbook.parse` throws, and PatchbayError `file` `recordTooLong`.
   */
  records(chunksMax?: number): AsyncGenerator<readonly SheetRecord[]>;
  /** Whether reading ended at `chunksMax`, with more of the sheet to come. */
  isCutShort(): boolean;
  readonly seen: SheetSightings;
}

export function readSheet(workbook: Workbook, sheet: Sheet, limits: SourceLimits): SheetReader {
  const seen = {
    blankRows: none(),
    hiddenRows: none(),
    valuelessFormulas: none(),
    lostDigits: none(),
    hiddenZeros: none(),
    hiddenColumns: [] as number[],
    merges: [] as Range[],
  };
  const records: SheetRecord[] = [];
  const parts = rowParser(workbook, limits, seen, records);
  let isCutShort = false;
  return {
    seen,
    isCutShort: () => isCutShort,
    records: async function* (chunksMax = Number.POSITIVE_INFINITY) {
      let chunks = 0;
      for await (const _chunk of workbook.parse(sheet, parts)) {
        if (records.length > 0) yield records.splice(0);
        if (++chunks < chunksMax) continue;
        isCutShort = true;
        return;
      }
    },
  };
}

function none(): Sighting {
  return { count: 0, first: '' };
}

function sight(sighting: Sighting, place: string): void {
  sighting.count++;
  if (sighting.count === 1) sighting.first = place;
}

type Seen = { -readonly [Name in keyof SheetSightings]: SheetSightings[Name] } & {
  hiddenColumns: number[];
  merges: Range[];
};

function rowParser(workbook: Workbook, limits: SourceLimits, seen: Seen, records: SheetRecord[]): PartHandler {
  const inline = createTextCollector();
  let line = 0;
  let lastFilled = 0;
  let isHiddenRow = false;
  let cells: string[] = [];
  let column = -1;
  let cell: Attributes = {};
  let value: string | null = null;
  let hasFormula = false;
  /** Within a cell: its value, its text, or neither. */
  let inside: 'value' | 'inline' | 'other' = 'other';

  const startRow = ({ r, hidden }: Attributes): void => {
    line = r === undefined ? line + 1 : Number(r);
    if (!(line >= 1 && line <= rowNumberMax)) throw damaged(workbook.file, `a row has the number ${r}`);
    isHiddenRow = isTrue(hidden);
    cells = [];
    column = -1;
  };

  const startCell = (attributes: Attributes): void => {
    cell = attributes;
    column = attributes.r === undefined ? column + 1 : columnIndex(attributes.r);
    if (!(column >= 0 && column < columnNumberMax)) throw damaged(workbook.file, `a cell is called ${attributes.r}`);
    value = null;
    hasFormula = false;
    inside = 'other';
    inline.clear();
  };

  const endCell = (): void => {
    const place = (): string => `${columnLetters(column)}${line}`;
    if (hasFormula && (value === null || (value === '' && cell.t !== 'str'))) sight(seen.valuelessFormulas, place());
    const text = cellText(place);
    if (text === '') return;
    const before = cells[column] ?? '';
    if (before !== '' && before !== text) throw damaged(workbook.file, `there are two cells ${place()}`);
    while (cells.length < column) cells.push('');
    cells[column] = text;
  };

  const formatOf = ({ s = '0' }: Attributes): CellFormat => workbook.formats[Number(s)] ?? generalFormat;

  const cellText = (place: () => string): string => {
    if (cell.t === 'inlineStr') return inline.text();
    if (value === null || value === '') return '';
    switch (cell.t) {
      case 's': {
        const text = workbook.texts.get(Number(value));
        if (text === null) throw damaged(workbook.file, `the cell ${place()} names a text that is missing`);
        return text;
      }
      case 'str':
        return unescaped(value);
      case 'b':
        return isTrue(value.trim()) ? 'TRUE' : 'FALSE';
      case 'e':
        return value.trim();
      case 'd':
        return isoDateText(value.trim(), formatOf(cell));
      default: {
        const text = numberText(value, formatOf(cell), workbook.daysAdded);
        if (lostDigits(text)) sight(seen.lostDigits, place());
        if (isHiddenZero(value, text)) sight(seen.hiddenZeros, place());
        return text;
      }
    }
  };

  const endRow = (): void => {
    if (cells.every((text) => text.trim() === '')) return;
    // A stray space far to the right is no cell of the table.
    while (cells.length > limits.columnsMax && cells.at(-1)?.trim() === '') cells.pop();
    const text = cells.join(',');
    refuseLongRow(workbook.file, { line, text }, limits.recordBytesMax);
    if (isHiddenRow) sight(seen.hiddenRows, `${line}`);
    // Blank rows are those between others: sheets often end with formatted rows that hold nothing.
    seen.blankRows.count += Math.max(0, line - lastFilled - 1);
    lastFilled = line;
    records.push({ line, text, cells });
  };

  return {
    onStart: (element, attributes) => {
      if (element === 'c') startCell(attributes);
      else if (element === 'v') {
        inside = 'value';
        value = '';
      } else if (element === 'row') startRow(attributes);
      else if (element === 'f') hasFormula = true;
      else if (element === 'is') inside = 'inline';
      else if (element === 'col') noteHiddenColumns(attributes, limits.columnsMax, seen.hiddenColumns);
      else if (element === 'mergeCell') noteMerge(attributes, seen.merges);
      if (inside === 'inline') inline.onStart(element);
    },
    onText: (text) => {
      if (inside === 'value' && value !== null && value.length < valueCharsMax) value += text.slice(0, valueCharsMax);
      else if (inside === 'inline') inline.onText(text);
    },
    onEnd: (element) => {
      if (inside === 'inline') inline.onEnd(element);
      if (element === 'c') endCell();
      else if (element === 'row') endRow();
      if (element === 'v' || element === 'is' || element === 'c') inside = 'other';
    },
  };
}

function noteHiddenColumns({ min, max, hidden }: Attributes, columnsMax: number, indexes: number[]): void {
  if (!isTrue(hidden)) return;
  const last = Math.min(Number(max), columnsMax);
  for (let number = Math.max(1, Number(min)); number <= last && indexes.length < columnsMax; number++) {
    indexes.push(number - 1);
  }
}

function noteMerge({ ref = '' }: Attributes, merges: Range[]): void {
  const [, first, firstRow, last, lastRow] = /^\$?([A-Z]+\$?(\d+)):(\$?[A-Z]+\$?(\d+))$/.exec(ref) ?? [];
  if (first === undefined || first === last || merges.length >= rangesKeptMax) return;
  merges.push({ name: ref, firstRow: Number(firstRow), lastRow: Number(lastRow) });
}

/** 0 for `A5`, 26 for `AA5`; NaN for what names no cell. */
function columnIndex(reference: string): number {
  let number = 0;
  for (let index = 0; index < reference.length; index++) {
    const letter = reference.charCodeAt(index) & ~0x20;
    if (letter < 0x41 || letter > 0x5a) return index === 0 ? Number.NaN : number - 1;
    number = number * 26 + letter - 0x40;
  }
  return Number.NaN;
}

function damaged(file: string, why: string): PatchbayError {
  const hint = 'Open it in the spreadsheet program, save it again, and drop the new file.';
  return fileError('xlsxDamaged', `${file} is a damaged workbook: ${why}`, { file }, hint);
}

/** @throws PatchbayError `file` `recordTooLong`. */
export function refuseLongRow(
  file: string,
  { line, text }: Pick<SheetRecord, 'line' | 'text'>,
  recordBytesMax: number,
): void {
  if (text.length <= recordBytesMax) return;
  const message = `${file}, line ${line}: the row is longer than ${recordBytesMax} bytes`;
  const hint = 'Check that the sheet is a table with one contact per row.';
  throw fileError('recordTooLong', message, { file, line, recordBytesMax }, hint);
}
