/**
 * One record of a table to a row, or to a broken row with the reason: filled up and cut to the header's columns, with the columns
 * without a name that hold something, and text that was decoded wrongly.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { cellCount } from './cell-count.ts';
import { looksMisread, misreadWarning } from './code-page.ts';
import { type Header, type HeaderRule, type SourceLimits, type Tally, tooManyColumns } from './format-reader.ts';
import { createPsqlLines, type PsqlLines } from './psql-lines.ts';
import type { TableRecord } from './record-group.ts';
import type { HashWords } from './record-hash.ts';
import {
  type CellsRow,
  cellProblem,
  holdsControlCharacter,
  isLongerThan,
  type NamelessColumn,
  type SourceItem,
} from './row.ts';
import { createHeaderCheck, secondHeader } from './second-header.ts';
import type { CutRows } from './short-rows.ts';
import { createRefusal } from './swallowed-rows.ts';

export interface TableOptions {
  readonly name: string;
  /** Null: the first line that is not blank is the header. */
  readonly header: HeaderRule | null;
  /** Whether rows that an exporter cut are read, with blank cells at their end. */
  readonly mayBeCut?: boolean;
  readonly limits: SourceLimits;
}

/** What differs between the formats of tables. */
export interface TableFormat<Kind extends TableRecord> {
  /** Of CSV; null where cells are not separated by a character. */
  readonly delimiter: string | null;
  /**
   * Whether rows may be shorter or longer than the header: a sheet has no end to the right. Missing cells are then blank, and
   * further ones belong to columns without a name.
   */
  readonly isOpen: boolean;
  isBlank(record: Kind): boolean;
  /** Lines that are no part of the table, such as `sep=;`. */
  isDirective(record: Kind): boolean;
  /** The cells of each record, in order. */
  cellsOf(records: readonly Kind[]): readonly (readonly string[])[];
  /** What is wrong with the record as such, or null. */
  flawOf(record: Kind): Problem | null;
  /**
   * The record with values that it has from records above it. Called with each that is read, in order.
   */
  filledFromAbove?(record: Kind, key: KeyColumns): Kind;
  /** The cells of such a record without those values: they tell whether it is a total. Null of any other record. */
  ownCellsOf?(record: Kind): readonly string[] | null;
}

/** Columns by their indexes. */
export interface KeyColumns {
  /** Those that the key refers to, also where they hold something else, too. */
  readonly known: readonly number[];
  /** Those of which it is put together. */
  readonly joined: readonly number[];
}

export const noKeyColumns: KeyColumns = { known: [], joined: [] };

/** Turns the cells of one record into a row, or a broken row with the reason. */
export interface TableRows<Kind extends TableRecord> {
  /** The columns with the key, or with parts of it that are nothing else. */
  readonly keyIndexes: readonly number[];
  readonly keyColumns: KeyColumns;
  /** Those of which the key is put together. */
  readonly joinedIndexes: readonly number[];
  /** The first column whose name alone makes a header; null where there is none. */
  readonly headerIndex: number | null;
  readonly psql: PsqlLines;
  /** Whether columns without a name are left of which it is not known whether they hold something: all rows are looked at. */
  mustSee(): boolean;
  /** Those of which a row was seen that holds something. */
  nameless(): readonly NamelessColumn[];
  /**
   * Whether the row is the header once more, as in a file that was joined from several.
   * @throws PatchbayError `file` `secondHeader` where it has other columns, or in another order: the rows below would be misread.
   */
  repeatsHeader(record: Kind, cells: readonly string[]): boolean;
  /** @param number of the record among those of the file. @throws PatchbayError `file` `tooManyColumns`, `rowsInQuotes`. */
  item(record: Kind, cells: readonly string[], number: number, hash: HashWords | undefined): SourceItem;
}

export function createTableRows<Kind extends TableRecord>(
  header: Header,
  format: TableFormat<Kind>,
  { name, limits, header: rule }: TableOptions,
  tally: Tally,
  cut: CutRows | null,
): TableRows<Kind> {
  const nameless = new Map<number, NamelessColumn>();

  const noteNameless = (cells: readonly string[], line: number): void => {
    for (let index = 0; index < Math.min(cells.length, header.width); index++) {
      if ((header.columns[index] ?? '').trim() !== '' || (cells[index] ?? '').trim() === '') continue;
      if (!nameless.has(index)) nameless.set(index, { position: index + 1, line, value: cells[index] ?? '' });
    }
  };

  const hasNameless = header.columns.length < header.width || header.columns.some((column) => column.trim() === '');
  const namelessCount = header.width - header.columns.filter((column) => column.trim() !== '').length;

  const found = header.columns.findIndex((column) => rule?.isHeader([column]) === true);
  const headerIndex = found < 0 ? null : found;
  const keyIndexes = header.columns.flatMap((column, index) =>
    (rule?.isKey?.(column) ?? index === headerIndex) ? [index] : [],
  );
  const indexesOf = (isWanted: (column: string) => boolean): readonly number[] =>
    header.columns.flatMap((column, index) => (isWanted(column) ? [index] : []));
  const joinedIndexes = indexesOf((column) => rule?.isKeyPart?.(column) === true);
  const known = [...keyIndexes, ...indexesOf((column) => rule?.isHeader([column]) === true), ...joinedIndexes];

  const complete = (cells: readonly string[], record: Kind): readonly string[] => {
    if (format.isOpen) return filledUp(cells, header.columns.length);
    if (cut === null || record.isUnclosed === true || format.flawOf(record) !== null || !cut.isCut(cells)) return cells;
    tally.cutRow(record.line);
    return filledUp(cells, header.columns.length);
  };

  const secondHeaderOf = createHeaderCheck(header.columns, headerIndex, rule && ((cells) => rule.isHeader(cells)));

  const repeatsHeader = (record: Kind, cells: readonly string[]): boolean => {
    const found = secondHeaderOf(cells);
    if (found === 'other') throw secondHeader(name, record.line, header.line);
    return found === 'same';
  };

  const refuseSwallowed = createRefusal(name, header, headerIndex ?? keyIndexes[0] ?? 0, format.delimiter);

  const psql = createPsqlLines(format.delimiter);

  return {
    psql,
    ...{ keyIndexes, keyColumns: { known, joined: joinedIndexes }, joinedIndexes, headerIndex },
    mustSee: () => !format.isOpen && nameless.size < namelessCount,
    nameless: () => [...nameless.values()],
    repeatsHeader,
    item: (record, found, number, hash) => {
      const { line } = record;
      refuseSwallowed(record, found);
      const isShort = found.length < header.columns.length;
      const cells = isShort ? complete(found, record) : found;
      if (cells.length > limits.columnsMax && cells.length > header.width) {
        throw tooManyColumns(name, line, cells.length, limits.columnsMax, format.delimiter);
      }
      const fitted = fitToHeader(cells, header);
      const row: CellsRow = {
        kind: 'cells',
        line,
        record: number,
        columns: header.columns,
        cells: fitted ?? cells,
        ...beyondOf(cells, fitted),
      };
      const problem =
        format.flawOf(record) ??
        psql.flawOf(record, cells) ??
        recordProblem(record, cells, fitted, header, { limits, delimiter: format.delimiter });
      if (problem !== null) return { type: 'broken', row, problem };
      if (hasNameless) noteNameless(cells, line);
      if (looksMisread(record.text)) warnOfMisread(row, tally);
      // Whether a short row is read depends on the rows around it, so its text alone does not tell that it is known.
      if (format.isOpen || isShort) return { type: 'row', row };
      return { type: 'row', row, text: record.text, ...(hash === undefined ? {} : { hash }) };
    },
  };
}

function warnOfMisread({ columns, cells, line }: CellsRow, tally: Tally): void {
  const index = cells.findIndex(looksMisread);
  if (index >= 0) tally.warnOnce(misreadWarning(cells[index] ?? '', line, columns[index] ?? ''));
}

function filledUp(cells: readonly string[], count: number): readonly string[] {
  return cells.length >= count ? cells : [...cells, ...Array<string>(count - cells.length).fill('')];
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
  record: TableRecord,
  cells: readonly string[],
  fitted: readonly string[] | null,
  header: Header,
  { limits, delimiter }: { readonly limits: SourceLimits; readonly delimiter: string | null },
): Problem | null {
  if (fitted === null) return cellCount(record, cells, header.columns.length, delimiter);
  if (!holdsControlCharacter(record.text) && !isLongerThan(record.text, limits.cellBytesMax)) return null;
  for (const [index, cell] of fitted.entries()) {
    const problem = cellProblem(cell, record.line, header.columns[index] ?? '', limits.cellBytesMax);
    if (problem !== null) return problem;
  }
  return null;
}
