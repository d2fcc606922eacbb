/**
 * Which line of a table is its header, for a mapping or the generic layout. The columns of the key alone tell: a line above
 * the header may well hold a word such as `Company`.
 */
import type { HeaderRule } from '#src/sources/format-reader.ts';
import { normaliseHeader } from './header.ts';
import { genericKeyColumns } from './layout.ts';
import type { Mapping } from './mapping-schema.ts';
import { referencesIn } from './value-schema.ts';

const delimiterHint = 'or name the delimiter with --delimiter';

/** Null where the key is picked by its position: the header is then the first line that is not blank. */
export function headerRule(mapping: Mapping | null): HeaderRule | null {
  const columns = keyColumns(mapping);
  const [key] = columns;
  if (key === undefined) return null;
  const names = new Set(columns.map(normaliseHeader));
  return {
    isHeader: (cells) => cells.some((cell) => names.has(normaliseHeader(cell))),
    wanted: `column ${key}`,
    hint:
      mapping === null
        ? `Add the column ${key}, describe the columns in a mapping (--mapping, or _mapping.yaml in the folder of a feed), ${delimiterHint}.`
        : `The mapping names ${key} as the column of the key: correct the mapping or the file, ${delimiterHint}.`,
  };
}

/** The names of the columns that make the key; none if they are picked by their positions. */
export function keyColumns(mapping: Mapping | null): readonly string[] {
  if (mapping === null) return genericKeyColumns;
  return referencesIn(mapping.key).flatMap(({ reference }) => (typeof reference === 'number' ? [] : [reference]));
}
