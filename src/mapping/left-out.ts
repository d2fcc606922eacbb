/**
 * Which columns that look like contact data a file leaves out: those that nothing maps and that hold something in at least
 * one row. A full name beside a first and a last name is not missed.
 */
import type { Row } from '#src/sources/row.ts';
import { type ContactColumn, contactColumnOf } from './contact-columns.ts';
import { isPlaceholder } from './placeholder.ts';

export interface LeftOut {
  /** Looks at every row, those too that are known and need no mapping. */
  see(row: Row): void;
  /** Complete after the last row; in the order in which they were first filled. */
  list(): readonly ContactColumn[];
}

/** Of a CSV file: `unmapped` are the positions of its columns that nothing maps. Costs nothing where none is of interest. */
export function leftOutOfCells(columns: readonly string[], unmapped: readonly number[], namesPeople: boolean): LeftOut {
  const filled: ContactColumn[] = [];
  let open = unmapped.flatMap((index) => {
    const column = contactColumnOf(columns[index] ?? '');
    return column === null ? [] : [{ index, column }];
  });
  return {
    see: (row) => {
      if (open.length === 0 || row.kind !== 'cells') return;
      const met = open.filter(({ index }) => isFilled(row.cells[index]));
      if (met.length === 0) return;
      filled.push(...met.map(({ column }) => column));
      open = open.filter((one) => !met.includes(one));
    },
    list: () => missed(filled, namesPeople),
  };
}

/** A file with more names of members than this has names for keys. */
const namesMax = 500;

/**
 * Of JSON. `isMapped` says whether a member has a meaning, or is ignored by choice; `namesPeople` is asked after the last
 * row.
 */
export function leftOutOfObjects(isMapped: (name: string) => boolean, namesPeople: () => boolean): LeftOut {
  const filled: ContactColumn[] = [];
  /** Null: of no interest, or known to be filled. */
  const met = new Map<string, ContactColumn | null>();
  const columnOf = (name: string): ContactColumn | null => {
    const known = met.get(name);
    if (known !== undefined || met.size >= namesMax) return known ?? null;
    const found = isMapped(name) ? null : contactColumnOf(name);
    met.set(name, found);
    return found;
  };
  return {
    see: (row) => {
      if (row.kind !== 'object') return;
      for (const name of Object.keys(row.object)) {
        const column = columnOf(name);
        if (column === null || !isFilled(row.object[name])) continue;
        filled.push(column);
        met.set(name, null);
      }
    },
    list: () => missed(filled, namesPeople()),
  };
}

function missed(filled: readonly ContactColumn[], namesPeople: boolean): readonly ContactColumn[] {
  return filled.filter(({ kind }) => kind !== 'fullName' || !namesPeople);
}

function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && !isPlaceholder(value);
  return typeof value === 'number' || (Array.isArray(value) && value.some(isFilled));
}
