/**
 * One record's cells under the header: a row, or a broken row with the reason.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { cellProblem, holdsControlCharacter, isLongerThan, shownValue } from '#src/sources/cell-text.ts';
import { type Header, tooManyColumns } from '#src/sources/csv-header.ts';
import type { CsvRecord } from '#src/sources/csv-splitter.ts';
import type { CellsRow, SourceItem } from '#src/sources/row.ts';
import type { SourceLimits } from '#src/sources/source-limits.ts';
import type { Tally } from '#src/sources/tally.ts';

export interface CsvRows {
  /** Throws `tooManyColumns`, `tooManyRows` (file). */
  item(record: CsvRecord, cells: readonly string[]): SourceItem;
}

export function createCsvRows(header: Header, name: string, limits: SourceLimits, tally: Tally): CsvRows {
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
