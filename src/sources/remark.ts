/** Rows that hold one text alone, as a footer does: the condition of a mapping that leaves such a row out. Pure. */
import type { Problem } from '#src/contacts/outcome.ts';
import { isIgnoredHeader } from './column-name.ts';
import type { Row } from './row.ts';

const remarkCharsMin = 4;
const remarkCharsMax = 60;

/**
 * The condition that holds for all that the row has, if that is one text. Digits are left out: they may be a date or a page, and others in
 * the next file. Null where the row may be a person.
 */
export function remarkIn(cells: readonly string[], delimiter: string | null): string | null {
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

/** @param remark what `remarkIn` gave. */
export function skipHint(remark: string): string {
  return `If it is a remark of the export, such as a footer, add { ${remark}, isAlone: true } to the list skipRows of the mapping.`;
}

/**
 * A problem of a row that lacks nearly everything: where the row holds one text alone, its hint names the condition that leaves it out. The
 * columns of a fix-file do not count, and a key of one word is rather a key.
 */
export function withSkipHint(problem: Problem, row: Row): Problem {
  if (row.kind !== 'cells') return problem;
  const { cells, columns } = row;
  const isOfFile = (index: number): boolean => columns[index] === undefined || !isIgnoredHeader(columns[index]);
  const filled = cells.filter((cell, index) => cell.trim() !== '' && isOfFile(index));
  const remark = remarkIn(filled, null);
  const isOneWord = !/\s/.test((filled[0] ?? '').trim());
  if (remark === null || (isOneWord && problem.code === 'contactEmpty')) return problem;
  return { ...problem, hint: `${skipHint(remark)} Otherwise: ${problem.hint}` };
}
