/** What is wrong with a row that has too few or too many cells, and what to do about it. Pure. */
import type { Problem } from '#src/contacts/outcome.ts';
import type { TableRecord } from './record-group.ts';
import { remarkIn, skipHint } from './remark.ts';
import { shownValue } from './row.ts';

/**
 * @param wanted how many cells the header has.
 * @param delimiter of CSV; null where no character separates the cells.
 */
export function cellCount(
  record: TableRecord,
  cells: readonly string[],
  wanted: number,
  delimiter: string | null,
): Problem {
  const found = cells.length;
  const isLast = record.isUnclosed === true && found < wanted;
  const remark = found < wanted ? remarkIn(cells, delimiter) : null;
  return {
    code: 'cellCount',
    line: record.line,
    field: null,
    value: shownValue(record.text),
    message: `the row has ${found} ${found === 1 ? 'cell' : 'cells'}, the header has ${wanted}`,
    hint: hintFor(isLast, remark),
  };
}

function hintFor(isLast: boolean, remark: string | null): string {
  if (isLast)
    return 'The file ends in this row and may be cut off: export the file again, or add the missing delimiters.';
  const reshape = 'Put a value that contains the delimiter into quotes, or add the missing delimiters.';
  if (remark === null) return reshape;
  return `${skipHint(remark)} Otherwise add the missing delimiters.`;
}
