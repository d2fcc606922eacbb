/**
 * Cells that are merged down over several rows: `ACME` beside its three people. A person who merges them means the value for each
 * row, and a sheet holds it in the first one only. Which cells are merged is written behind the last row, so that the part is read
 * for it beforehand, as bytes: unpacked, not parsed.
 *
 * Invariant: in memory are the merged ranges, `rangesMax` at most, and one value for each column.
 */
import type { KeyColumns } from '#src/sources/table-rows.ts';
import type { SheetRecord } from './sheet-records.ts';
import { inUtf8 } from './xml-part.ts';

/** A range of several rows; its value is in the first cell. */
export interface MergedDown {
  /** From 0. */
  readonly column: number;
  /** From 1. */
  readonly firstRow: number;
  readonly lastRow: number;
}

export interface MergedRanges {
  /** In the order of their first rows. */
  readonly ranges: readonly MergedDown[];
  /** Whether there are more than were kept. */
  readonly isCutShort: boolean;
}

const rangesMax = 100_000;
const marker = 'mergeCell';
const element = /<(?:[\w.-]+:)?mergeCell\s[^<>]*>/g;
const reference = /\sref\s*=\s*["']\$?([A-Z]{1,3})\$?(\d{1,8}):\$?[A-Z]{1,3}\$?(\d{1,8})["']/;
/** An element is shorter; what of it is at the end of one chunk is looked at with the next. */
const elementBytesMax = 256;

/** @param bytes of the sheet. Throws what `bytes` throws. */
export async function findMergedDown(bytes: AsyncGenerator<Buffer>): Promise<MergedRanges> {
  const ranges: MergedDown[] = [];
  let isCutShort = false;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of inUtf8(bytes)) {
    const window = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let end = 0;
    if (window.includes(marker)) {
      for (const { 0: found, index } of window.toString('latin1').matchAll(element)) {
        end = index + found.length;
        const range = rangeOf(found);
        if (range === null) continue;
        if (ranges.length < rangesMax) ranges.push(range);
        else isCutShort = true;
      }
    }
    rest = window.subarray(Math.max(end, window.length - elementBytesMax));
  }
  ranges.sort((left, right) => left.firstRow - right.firstRow);
  return { ranges, isCutShort };
}

/** Null for one row. */
function rangeOf(text: string): MergedDown | null {
  const [, letters = '', first, last] = reference.exec(text) ?? [];
  const [firstRow, lastRow] = [Number(first), Number(last)];
  if (!(lastRow > firstRow)) return null;
  let number = 0;
  for (const letter of letters) number = number * 26 + letter.charCodeAt(0) - 0x40;
  return { column: number - 1, firstRow, lastRow };
}

/** @param headerLine ranges that begin above or in the header are titles. */
export function isOfRows({ firstRow }: Pick<MergedDown, 'firstRow'>, headerLine: number): boolean {
  return firstRow > headerLine;
}

/**
 * Gives each record the values that are merged down to it, where its own cell is blank. To be called with all records, in their order.
 *
 * A key is not taken from the row above: a column that it refers to is filled only where the key is put together of several, beside another
 * one that the row has of its own. Rows that share the whole key, as two numbers of one person do, would be taken for two people with one key.
 * Where the columns of the key are not known, nothing is filled.
 */
export function createMergeFiller({ ranges }: MergedRanges, headerLine: number) {
  const open = new Map<number, { readonly lastRow: number; readonly value: string }>();
  let next = 0;
  return (record: SheetRecord, { known, joined }: KeyColumns): SheetRecord => {
    const { line, cells } = record;
    // Each turn takes one more range.
    for (let range = ranges[next]; range !== undefined && range.firstRow <= line; range = ranges[++next]) {
      const { column, firstRow, lastRow } = range;
      if (!isOfRows(range, headerLine)) continue;
      // A first row that holds nothing gives no record.
      open.set(column, { lastRow, value: firstRow === line ? (cells[column] ?? '') : '' });
    }
    if (open.size === 0 || known.length === 0) return record;
    const isBlank = (column: number): boolean => (cells[column] ?? '').trim() === '';
    const mayFill = (column: number): boolean =>
      !known.includes(column) ||
      (joined.includes(column) && joined.some((other) => other !== column && !isBlank(other)));
    const filled = [...cells];
    let isFilled = false;
    for (const [column, { lastRow, value }] of open) {
      if (line > lastRow) open.delete(column);
      else if (value.trim() !== '' && isBlank(column) && mayFill(column)) {
        while (filled.length < column) filled.push('');
        filled[column] = value;
        isFilled = true;
      }
    }
    return isFilled ? { line, cells: filled, text: filled.join(','), own: cells } : record;
  };
}
