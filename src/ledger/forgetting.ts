/**
 * The part of the ledger that forgets a person (`docs/rules.md`, "Forgetting a person"): everything that names the key is deleted, and a
 * salted hash of it stays, so that later files do not bring the person back.
 */
import type { NewAct } from './acts.ts';

/** The people who were forgotten, known by salted hashes of their keys. */
export interface ForgottenPeople {
  /** Only grows: by it shows whether further people were forgotten since. */
  readonly count: number;
  has(key: string): boolean;
}

/** What of the ledger is theirs. */
export interface PersonInLedger {
  readonly key: string;
  /** Dead letters without a key that hold rows of the person. */
  readonly letterIds: readonly string[];
  /** The key and others by which reasons name the person: addresses, numbers. None is so short that it is a part of other words. */
  readonly texts: readonly string[];
}

export type Forgotten =
  /** How many rows were deleted; and how many reasons that people gave named the person: they do no longer. */
  | { readonly kind: 'done'; readonly rows: number; readonly reasons: number }
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
  forgottenPeople(): Promise<ForgottenPeople | null>;
  /** Whether a run that has not ended has a row of the key, or reads a file that may have one. */
  isInOpenRuns(key: string): Promise<boolean>;
  /** One transaction, durable; the act is entered with it. Done again it deletes what was entered since. */
  forgetPerson(person: PersonInLedger, act: NewAct): Promise<Forgotten>;
  /** Lets later files bring a forgotten person again; the act is entered with it. False where the person is not forgotten. */
  allowAgain(key: string, act: NewAct): Promise<boolean>;
  /**
   * Notes that the files of a host were searched for a forgotten person: another host's files are not at hand.
   * @returns the hosts that were, so far. Empty of a person who was not forgotten.
   */
  searchedOn(key: string, host: string | null): Promise<readonly string[]>;
  /** Rows with one of these texts in any column, by table. Looks at every row. */
  search(texts: readonly string[]): Promise<readonly FoundInLedger[]>;
  /** Overwrites what deleted rows have left in the ledger's files, as far as they are ours. */
  scrub(): Promise<Scrubbed>;
}
