/**
 * What programs of PostgreSQL leave in a table. The aligned output of `psql` cuts a cell with line breaks into several lines, with a `+` at the right edge
 * of each that goes on; which line is a row, and which the rest of one, cannot be read with certainty, so both are rejected. `COPY … TO` ends with `\.`. Pure.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { TableRecord } from './record-group.ts';
import { shownValue } from './row.ts';

/** Below the header: `----+-------+----`. */
const rule = /^-+(?:\+-+)+$/;

/** Of one file, whose records come in order. */
export interface PsqlLines {
  /** Takes a line of dashes: that of psql makes the file one of its aligned output. */
  seeRule(text: string): void;
  /** What is wrong with a record that goes on in the next line, or goes on from the last one. */
  flawOf(record: TableRecord, cells: readonly string[]): Problem | null;
}

export function createPsqlLines(delimiter: string | null): PsqlLines {
  let width = 0;
  /** Which cells of the last line go on. */
  let open: readonly number[] = [];
  return {
    seeRule: (text) => {
      if (delimiter === '|' && rule.test(text.trimEnd())) width = text.trimEnd().length;
    },
    flawOf: (record, cells) => {
      if (width === 0) return null;
      const wasOpen = open;
      const last = cells.length - 1;
      // A blank is between any other value and the bar; behind the last column there is none, but what goes on is filled up to its width.
      const goesOn = (cell: string, index: number): boolean =>
        cell.endsWith('+') && (index < last || [...record.text].length >= width);
      open = cells.flatMap((cell, index) => (goesOn(cell, index) ? [index] : []));
      const isRest = wasOpen.length > 0 && cells.every((cell, index) => cell.trim() === '' || wasOpen.includes(index));
      return isRest || open.length > 0 ? cellGoesOn(record, isRest) : null;
    },
  };
}

function cellGoesOn(record: TableRecord, isRest: boolean): Problem {
  const message = isRest
    ? 'the line is the rest of cells that begin in a line above it'
    : 'a cell goes on in the next line, as psql shows a value with line breaks';
  const hint = "Export the query as CSV: psql --csv, or \\copy (SELECT …) TO 'people.csv' CSV HEADER.";
  return { code: 'cellGoesOn', line: record.line, field: null, value: shownValue(record.text), message, hint };
}

/** The last line of `COPY … TO`. */
export function isCopyEnd(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0]?.trim() === '\\.';
}
