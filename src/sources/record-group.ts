/**
 * The records of a table before their cells are known, in groups as they come from a file: as text, or as bytes of which nothing is
 * decoded before it is asked for.
 */
import { type HashWords, hashText } from './record-hash.ts';

/** One record, before its cells are known. */
export interface TableRecord {
  /** The physical line on which it begins, from 1. */
  readonly line: number;
  /** All of its cells as one text, for messages and bounds. */
  readonly text: string;
  /** The file ends in it: it may be cut off. */
  readonly isUnclosed?: true;
}

/** Records one after the other, each of which can be hashed before it is text. */
export interface RecordGroup<Kind> {
  /** Goes on to the next record; the first call, to the first one. @returns false behind the last. */
  next(): boolean;
  /** The physical line on which the record begins. */
  readonly line: number;
  /** Writes the hash of the record's text. @returns whether that is ASCII alone. */
  hash(seed: HashWords, into: HashWords): boolean;
  /** The record, to be kept. */
  take(): Kind;
}

/** The records of a table. */
export interface TableRecords<Kind> {
  /** From the first one on, in lists. */
  readonly first: AsyncGenerator<readonly Kind[]>;
  /** Those behind what was taken of `first`, which is not taken any further. A group is gone when the next one is asked for. */
  rest(): AsyncGenerator<RecordGroup<Kind>>;
}

/** Records that are text already. */
export function groupOf<Kind extends TableRecord>(records: readonly Kind[]): RecordGroup<Kind> {
  let index = -1;
  const at = (): Kind => records[index] as Kind;
  return {
    next: () => {
      index++;
      return index < records.length;
    },
    get line() {
      return at().line;
    },
    hash: (seed, into) => hashText(at().text, seed, into),
    take: at,
  };
}

/** Ends with the lists. */
export async function* groupsOf<Kind extends TableRecord>(
  lists: AsyncGenerator<readonly Kind[]>,
): AsyncGenerator<RecordGroup<Kind>> {
  for await (const records of lists) yield groupOf(records);
}
