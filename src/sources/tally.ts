/**
 * What is counted and noted while a file is read; becomes the tail.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError } from '#src/sources/file-error.ts';
import type { SourceTail } from '#src/sources/row.ts';

/** Warnings of one code that are kept; a million rows with the same flaw need not be told a million times. */
const warningsPerCodeMax = 20;

export interface Tally {
  /** Counts a record and returns its number, from 1. Throws `tooManyRows` (file). */
  nextRecord(line: number): number;
  blankLine(): void;
  warn(warning: Problem): void;
  tail(): SourceTail;
}

export function createTally(name: string, rowsMax: number): Tally {
  let recordCount = 0;
  let blankLineCount = 0;
  const warnings: Problem[] = [];
  const countByCode = new Map<string, number>();
  return {
    nextRecord: (line) => {
      recordCount++;
      if (recordCount > rowsMax) {
        const message = `${name} holds more than ${rowsMax} rows`;
        throw fileError('tooManyRows', message, { file: name, line, rowsMax }, 'Split the export into several files.');
      }
      return recordCount;
    },
    blankLine: () => {
      blankLineCount++;
    },
    warn: (warning) => {
      const count = countByCode.get(warning.code) ?? 0;
      countByCode.set(warning.code, count + 1);
      if (count < warningsPerCodeMax) warnings.push(warning);
    },
    tail: () => ({ recordCount, blankLineCount, warnings: [...warnings] }),
  };
}
