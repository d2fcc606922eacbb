/**
 * Acts: what people did, who did it, when, and why (`docs/rules.md`, "Acts of people"). An act is entered in the transaction of what
 * it did, so that neither is there without the other.
 *
 * An act names no person but the one who acted: no key, no value, no name of a file.
 */

export type ActKind =
  | (
      | 'import'
      | 'approve'
      | 'restage'
      | 'cancel'
      | 'heldTake'
      | 'deadRetry'
      | 'deadEdit'
      | 'deadDrop'
      | 'undo'
      | 'forget'
      | 'forgetAllow'
    )
  | ('schedulePause' | 'scheduleResume' | 'scheduleRun')
  | ('hostForget' | 'ledgerCopy' | 'sameWorkspace');

/** Who acts, and where. */
export interface Actor {
  /** A user of the operating system; on a page the name of the token, or what is known of the page. */
  readonly who: string;
  readonly by: 'command' | 'page' | 'queue';
}

/** Facts of an act: ids, counts, names of columns and fields, choices. No personal data. */
export type ActFacts = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface NewAct extends Actor {
  readonly kind: ActKind;
  /** In the person's own words. */
  readonly reason: string | null;
  /** By the wall clock of the machine, and by the ledger's clock. */
  readonly atMs: number;
  readonly ledgerAtMs: number;
  readonly facts: ActFacts;
}

export interface ActRecord extends NewAct {
  /** In the order of entry. */
  readonly number: number;
  readonly id: string;
  /** The run, the feed and the schedule that it was about; null where it was about none. */
  readonly run: string | null;
  readonly feed: string | null;
  readonly schedule: string | null;
}

export interface ActFilter {
  /** About this run. */
  readonly runId?: string;
  /** The last one of the page before. */
  readonly after?: Pick<ActRecord, 'number' | 'id' | 'atMs'>;
  readonly limit: number;
}

export interface ActLedger {
  /** Newest first. */
  list(filter: ActFilter): Promise<readonly ActRecord[]>;
}
