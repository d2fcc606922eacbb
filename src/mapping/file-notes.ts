/**
 * Warnings that concern a column rather than a row: told once for the file, with their number. One for each of a million
 * rows would bury all others.
 */
import type { Problem } from '#src/contacts/problem.ts';
import type { WarningCode } from './flaw.ts';
import type { MappedRow } from './row-draft.ts';

const ofTheFile: ReadonlySet<string> = new Set<WarningCode>(['keyUnguarded', 'keyDecimalsDropped']);

export interface FileNotes {
  /** The row without the warnings that are told for the file. */
  take(row: MappedRow): MappedRow;
  /** One for each code, with the number of its rows; complete after the last row. */
  list(): readonly Problem[];
}

export function createFileNotes(): FileNotes {
  const met = new Map<string, { readonly first: Problem; count: number }>();
  const isCounted = (warning: Problem): boolean => {
    if (!ofTheFile.has(warning.code)) return false;
    const known = met.get(warning.code);
    if (known === undefined) met.set(warning.code, { first: warning, count: 1 });
    else known.count += 1;
    return true;
  };
  return {
    take: (row) => ({ ...row, warnings: row.warnings.filter((warning) => !isCounted(warning)) }),
    list: () =>
      [...met.values()].map(({ first, count }) => {
        const rows = count === 1 ? `line ${first.line}` : `${count} rows, first in line ${first.line}`;
        return { ...first, message: `${rows}: ${first.message}` };
      }),
  };
}
