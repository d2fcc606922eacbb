/** Tables that stand side by side in one sheet: a sequence of headers is there again, and each row holds two people. Pure. */
import { normaliseHeader } from '#src/sources/column-name.ts';
import type { ColumnFacts } from './column-facts.ts';

/** The positions, from 0, of the columns of a table whose headers, two in a row at least, are those of columns before them. */
export function repeatedColumns(columns: readonly ColumnFacts[]): ReadonlySet<number> {
  const forms = columns.map(({ name, position }) => (position === null ? '' : normaliseHeader(name)));
  const firstAt = new Map<string, number>();
  const repeated = new Set<number>();
  for (const [index, form] of forms.entries()) {
    const next = forms[index + 1] ?? '';
    if (form === '' || next === '' || form === next) continue;
    const pair = JSON.stringify([form, next]);
    const earlier = firstAt.get(pair);
    if (earlier === undefined) firstAt.set(pair, index);
    else repeated.add(index).add(index + 1);
  }
  return repeated;
}

/** Null where no headers are there again. */
export function secondTableNote(columns: readonly ColumnFacts[]): string | null {
  const repeated = [...repeatedColumns(columns)];
  if (repeated.length === 0) return null;
  const names = repeated.slice(0, shownMax).map((index) => `"${columns[index]?.name ?? ''}"`);
  const places = repeated.slice(0, shownMax).map((index) => index + 1);
  return `the headers ${names.join(', ')} (columns ${places.join(', ')}) are there before, in the same order: if two tables stand side by side, put the rows of the second below those of the first; otherwise its addresses and numbers go to the people of the first`;
}

const shownMax = 10;
