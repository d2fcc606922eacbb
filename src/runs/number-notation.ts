/**
 * Whether points in the numbers of a column separate thousands, as `12.500` does in many countries: a number alone does not tell, and another
 * one of its column may. That all have three digits behind the point tells nothing: rows that are known already are not read. Pure.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { RejectionCode, WarningCode } from '#src/mapping/cell.ts';

const inDoubt: WarningCode = 'numberInDoubt';
const wrongType: RejectionCode = 'customFieldType';

/** A comma before decimals, or two points: `1.234,56`, `1.234.567`. Of `1,234` nothing is known. */
const withPointForThousands = /^[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,(?!\d{3}$)\d+|\d{1,3}(?:\.\d{3}){2,})$/;

/** In JSON the place of an element of a list is part of a name. */
const columnsMax = 1_000;

/** Of one reading of a file. */
export interface NumberNotations {
  /** Takes what was read with a point, and what could not be read. */
  see(found: readonly Problem[] | undefined): void;
  /** One for each column whose points seem to separate thousands. */
  list(): readonly Problem[];
}

interface Column {
  first: Problem | null;
  count: number;
  /** The first number in which the point, or a comma before decimals, leaves no doubt. */
  proofLine: number | null;
}

export function createNumberNotations(): NumberNotations {
  const columns = new Map<string, Column>();
  const columnOf = (field: string): Column | undefined => {
    if (!columns.has(field) && columns.size < columnsMax)
      columns.set(field, { first: null, count: 0, proofLine: null });
    return columns.get(field);
  };
  const seeOne = (found: Problem): void => {
    const text = (found.value ?? '').trim();
    if (found.field === null || (found.code !== inDoubt && found.code !== wrongType)) return;
    if (found.code === wrongType && !withPointForThousands.test(text)) return;
    const column = columnOf(found.field);
    if (column === undefined) return;
    if (found.code === wrongType) {
      column.proofLine ??= found.line;
      return;
    }
    column.first ??= found;
    column.count += 1;
  };
  return {
    see: (found) => found?.forEach(seeOne),
    list: () =>
      [...columns.values()].flatMap((column) => {
        const message = messageOf(column);
        return column.first === null || message === null ? [] : [{ ...column.first, message }];
      }),
  };
}

/** Null where nothing tells that the point is another one than that of decimals. */
function messageOf({ count, proofLine }: Column): string | null {
  if (proofLine === null) return null;
  const rows = count === 1 ? '1 row' : `${count} rows`;
  return `a number like 12.500 was read as 12.5, though the column has other numbers with a comma before decimals or a point between thousands, first in line ${proofLine} (${rows})`;
}
