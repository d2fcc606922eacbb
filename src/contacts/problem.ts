/** What is wrong, or worth a note, with one row: in the words of the person who wrote the file. */
export interface Problem {
  /** Stable; scripts may compare it. */
  readonly code: string;
  /** The physical line in the file, counted from 1. */
  readonly line: number;
  /** The column or member as the file names it; null where the row as a whole is meant. */
  readonly field: string | null;
  /** The cell as the file holds it, cut after 200 characters; null where there is none. */
  readonly value: string | null;
  /** What happened, in one sentence. */
  readonly message: string;
  /** What to do next, in one sentence. */
  readonly hint: string;
}
