/**
 * The part of the ledger that forgets a person (`docs/rules.md`, "Forgetting a person"): everything that names the key is deleted, and a
 * salted hash of it stays, so that later files do not bring the person back.
 */
import type { NewAct } from './acts.ts';

/** Whether the key of a row is one that was forgotten. */
export type IsForgotten = (key: string) => boolean;

export type Forgotten =
  /** How many rows were deleted. */
  | { readonly kind: 'done'; readonly rows: number }
  /** A run that has not ended has a row of the key, or reads a file that may have one. */
  | { readonly kind: 'busy'; readonly runId: string | null };

/** A place where one of the texts still stands. */
export interface FoundInLedger {
  readonly table: string;
  readonly rows: number;
}

/** What became of the bytes of deleted rows. `overwritten`: no file of the ledger has them any more. */
export type Scrubbed = 'overwritten' | 'later' | 'database';

export interface ForgettingLedger {
  /** Null where no person was forgotten: most ledgers. */
  isForgotten(): Promise<IsForgotten | null>;
  /** One transaction, durable; the act is entered with it. Done again it deletes what was entered since. */
  forgetPerson(key: string, act: NewAct): Promise<Forgotten>;
  /** Rows with one of these texts in any column, by table. Looks at every row. */
  search(texts: readonly string[]): Promise<readonly FoundInLedger[]>;
  /** Overwrites what deleted rows have left in the ledger's files, as far as they are ours. */
  scrub(): Promise<Scrubbed>;
}
