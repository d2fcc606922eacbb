/**
 * Which columns of a file an entry of a mapping reads, as the facts about the file name them: in JSON a list is one column, while a mapping
 * may name its elements (`mails[]`, `mails[0]`, `phones[1].nr`). Pure.
 */
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { columnUses, positionsOf } from '#src/mapping/show/explain-row.ts';
import type { ColumnRef } from '#src/mapping/value-schema.ts';
import type { FileFacts } from './column-facts.ts';

/** What the mapping makes of each column, by position. */
export function usesOf(mapping: Mapping, file: FileFacts): readonly (readonly string[])[] {
  const found = headersOf(file, JSON.stringify(mapping)).map((header) => columnUses(mapping, header));
  return file.columns.map((_, index) => [...new Set(found.flatMap((uses) => uses[index] ?? []))]);
}

/** Whether the file has the column. Which one is at a position is known of one without a name alone. */
export function isThere(reference: ColumnRef, file: FileFacts, mapping: Mapping): boolean {
  return headersOf(file, String(reference)).some((header) =>
    positionsOf(reference, header, mapping).some(
      (index) => typeof reference !== 'number' || file.columns[index]?.isNamed === false,
    ),
  );
}

/**
 * The names of the columns; and of JSON those of elements of its lists: all, the first, and the others that the text names. Where a list is,
 * any of its elements may be.
 */
function headersOf({ columns, isJson }: FileFacts, text: string): readonly (readonly string[])[] {
  const names = columns.map(({ name }) => name);
  if (!isJson) return [names];
  const firsts = columns.map(({ name, firstPath }) => firstPath ?? name);
  const elements = new Set(['[]', '[0]', ...(text.match(/\[\d+\]/g) ?? [])]);
  return [names, ...[...elements].map((element) => firsts.map((path) => path.replaceAll('[0]', element)))];
}
