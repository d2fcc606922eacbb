/**
 * The problems of the records in a workspace file: where each is, in the words of the file.
 *
 * All are counted and the first are told: a million contacts with the same slip need not all be named.
 */
import { PatchbayError } from '#src/errors.ts';
import type { SectionName } from './sections.ts';

export interface RecordPlace {
  readonly section: SectionName;
  /** Counted from 0; null for `workspace`. */
  readonly index: number | null;
  /** On which the record begins. */
  readonly line: number;
}

export interface Problems {
  /** `path` leads to the member inside the record; empty for the record as a whole. The value itself is not told. */
  readonly add: (place: RecordPlace, path: readonly PropertyKey[], message: string) => void;
  readonly count: () => number;
  /**
   * Throws a `usage` error, `workspaceFileInvalid`, where there is a problem. Its cause is an `AggregateError` with one
   * error for each that is told.
   */
  readonly throwIfAny: () => void;
}

export const toldProblemCountMax = 20;

export function createProblems(file: string): Problems {
  let count = 0;
  const told: string[] = [];
  return {
    add: ({ section, index, line }, path, message) => {
      count += 1;
      if (told.length >= toldProblemCountMax) return;
      told.push(`${section}${index === null ? '' : `[${index}]`}${memberPath(path)} (line ${line}): ${message}`);
    },
    count: () => count,
    throwIfAny: () => {
      const [first] = told;
      if (first === undefined) return;
      const others = count === 1 ? '' : `; ${count} problems in all`;
      throw new PatchbayError('usage', 'workspaceFileInvalid', `${file}: ${first}${others}`, {
        facts: { file, problemCount: count },
        hint: 'Nothing was loaded. Correct the file and load it again.',
        cause: new AggregateError(
          told.map((one) => new Error(one)),
          'problems of a workspace file',
        ),
      });
    },
  };
}

/** `.defaultFields.phoneNumbers[0].value` */
function memberPath(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
}
