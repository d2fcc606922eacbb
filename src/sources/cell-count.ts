/** What is wrong with a row that has too few or too many cells, and what to do about it. Pure. */
import type { Problem } from '#src/contacts/outcome.ts';
import type { TableRecord } from './record-group.ts';
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
  return `If it is a remark of the export, such as a footer, add { ${remark}, isAlone: true } to the list skipRows of the mapping. Otherwise add the missing delimiters.`;
}

const remarkCharsMin = 4;
const remarkCharsMax = 60;

/**
 * The condition that holds for all that the row has, if that is one text. Digits are left out: they may be a date or a page, and others in
 * the next file. Null where the row may be a person.
 */
function remarkIn(cells: readonly string[], delimiter: string | null): string | null {
  const [text, ...others] = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  if (text === undefined || others.length > 0 || text.includes('@')) return null;
  if (delimiter !== null && text.includes(delimiter)) return null;
  const pieces = text
    .split(/\p{Nd}[\p{Nd}\p{P}]*|[\r\n]+/u)
    .map((piece) => piece.slice(0, remarkCharsMax).toWellFormed().trim());
  const isTelling = (piece: string): boolean => piece.length >= remarkCharsMin && /\p{L}/u.test(piece);
  const [beginning = ''] = pieces;
  if (isTelling(beginning)) return `beginsWith: ${JSON.stringify(beginning)}`;
  const found = pieces.find(isTelling);
  return found === undefined ? null : `contains: ${JSON.stringify(found)}`;
}
