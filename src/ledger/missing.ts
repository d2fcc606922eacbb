/** The part of the ledger that holds which people the newest full file of their feed no longer has (`docs/rules.md`, "People who left"). */

export interface MissingPerson {
  readonly feed: string;
  readonly key: string;
  /** Of the key's contact. */
  readonly number: number;
  /** When the first file without them arrived. */
  readonly sinceMs: number;
  /** The run of that file. */
  readonly runId: string;
}

export interface MissingLedger {
  /** Those of these keys that were missing before. */
  of(feed: string, keys: readonly string[]): Promise<readonly MissingPerson[]>;
  /** In the order in which they were missed. */
  list(feed: string, afterKey: string | null, limit: number): Promise<readonly MissingPerson[]>;
  count(feed: string): Promise<number>;
  /**
   * The run has ended, and its file counts: those whom it lacks are missing from now on, unless they were before, and those whom it
   * has are back. In slices. Nothing for a run that has left no bitmap of them, nor for one that is pruned, even while this goes on.
   */
  enter(runId: string): Promise<void>;
  /**
   * The run has ended, and its file, which need not have all, counts: those whom it has are back, unless a younger file was the first to
   * lack them. Otherwise as `enter`.
   */
  enterBack(runId: string): Promise<void>;
}
