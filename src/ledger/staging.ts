/** A staged record: a changed row of a run, waiting for its outcome (`docs/design.md`, "Stage, then apply"). */
import type { ContactPart, DesiredContact } from '#src/contacts/desired.ts';
import type { DeadClass, HeldField, JournalEntry, Problem, SkipReason, WriteWarning } from '#src/contacts/outcome.ts';
import type { Row } from '#src/sources/row.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { BoundContact, LeaseMoment, MovedSaid, SaidRecord, SettledSaid } from './contacts.ts';
import type { CountDelta, RunState } from './runs.ts';
import type { KnownPage } from './tables/keys.ts';

export interface NewStagedRecord {
  readonly line: number;
  /** Of the run whose file said it: older than the run itself where a dead letter is tried again. */
  readonly sequence: number;
  readonly key: string;
  readonly rowHash: string;
  readonly fingerprint: string;
  readonly mappingVersion: string;
  /** Or its JSON, where that is written already. */
  readonly desired: DesiredContact | string;
  /** The row as read, for the fix-file. */
  readonly row: Row;
  /** The dead letter that the row corrects or tries again. */
  readonly letterId?: string;
}

/**
 * What a row whose contact is to be made was found to be: the contact of that id, which has no externalId, or one of several
 * (`docs/rules.md`, "Contacts without an externalId"). `again`: its key's contact is gone, and it was found to be none of these.
 */
export type RowLink = (
  | { readonly kind: 'contact'; readonly contactId: string }
  | { readonly kind: 'unclear' }
  | { readonly kind: 'again' }
) & {
  /** No person is asked: the run or the feed adopts, or the row was rejected in an earlier run whose rows were to be linked. */
  readonly isDecided?: true;
};

/** The codes of rows that were to be linked, and could not be: such a row is not made into a contact by the next file either. */
export const linkCodes = ['linkUnclear', 'linkTaken', 'linkGone'] as const;
export type LinkCode = (typeof linkCodes)[number];

/** Of a staged row whose key has no contact, as far as the ledger knows. */
export interface NewKey {
  readonly position: number;
  readonly key: string;
  /** As what it was rejected before, and still waits. */
  readonly unlinked: readonly LinkCode[];
}

export interface StagedRecord extends NewStagedRecord {
  readonly desired: DesiredContact;
  readonly runId: string;
  readonly feed: string;
  /** Counts from 1 in the order of the file; names the record in its run. */
  readonly position: number;
  /** An update of this record was sent, or was about to be. */
  readonly sent: boolean;
  /** Writes of this record that ended in doubt while other writes succeeded. */
  readonly attempts: number;
  readonly link?: RowLink;
}

/** A row given up, on its way into the dead letters. */
export interface DeadRow {
  readonly class: DeadClass;
  readonly code: string;
  readonly line: number;
  /** Null where the row has none that can be used. */
  readonly key: string | null;
  readonly problems: readonly Problem[];
  readonly row: Row | null;
  readonly desired: DesiredContact | null;
  /** The dead letter that the row was to correct: it is the same one again, or answered by another. */
  readonly letterId?: string;
  /** What the service answered, where it did. */
  readonly answer: ServiceAnswer | null;
}

export interface ServiceAnswer {
  readonly status: number | null;
  readonly code: string | null;
  readonly title: string | null;
  readonly message: string | null;
  readonly trace: string | null;
}

/** How a staged record ended. */
export type RecordEnd =
  | {
      readonly outcome: 'created' | 'updated' | 'unchanged';
      readonly adopted: boolean;
      /** The contact had no externalId, and has it now. */
      readonly linked?: boolean;
      /** The contact was deleted: an undo counts that as an update, and counts it separately as well. */
      readonly deleted?: boolean;
      readonly heldFields: readonly HeldField[];
      /** The names of the fields that an update wrote. */
      readonly changedFields?: readonly string[];
      readonly removedValues: number;
      readonly warnings: readonly WriteWarning[];
    }
  | { readonly outcome: 'skipped'; readonly reason: SkipReason }
  | { readonly outcome: 'dead'; readonly dead: DeadRow };

/** A slice of a file, as it goes into the ledger in one transaction. */
export interface StagedSlice {
  readonly runId: string;
  readonly feed: string;
  readonly rowsPerBatch: number;
  readonly records: readonly NewStagedRecord[];
  readonly dead: readonly DeadRow[];
  /** Rows staged earlier in this run that must not be written after all. */
  readonly withdrawnRows?: readonly WithdrawnRow[];
  /** Rows that now look like this while their contacts need no change: they are known by this hash from now on. */
  readonly refreshed?: readonly { readonly key: string; readonly rowHash: string; readonly mappingVersion: string }[];
  /** Keys of dead letters whose rows are unchanged: the runs of these sequences, which are older, have spoken for them. */
  readonly spoken?: readonly { readonly key: string; readonly sequence: number }[];
  /** Dead letters whose rows need nothing any more. */
  readonly answered?: readonly string[];
  readonly events: readonly RunEvent[];
  readonly counts: CountDelta;
  readonly atMs: number;
  /** When this reading of the file began: a letter that was met since is counted as new once. Where it is absent, with this slice. */
  readonly readSinceMs?: number;
}

/** A row that another one of the file has ended. A dead one leaves a letter with its content, which the ledger holds. */
export interface WithdrawnRow {
  readonly position: number;
  readonly end: { readonly kind: 'skipped' } | { readonly kind: 'dead'; readonly problem: Problem };
}

/** Which keys of its feed a file holds: bitmaps by the numbers of their contacts (`rules/bitmap.ts`). */
export interface KeysOfFile {
  /** Those whose rows are unchanged. */
  readonly unchanged: Uint8Array;
  /** All that the feed knows, whatever their rows say. */
  readonly met: Uint8Array;
  /** Those that the feed knows and the file lacks; null or absent where a file need not have all. */
  readonly missing?: Uint8Array | null;
}

export interface BatchRecord {
  readonly runId: string;
  readonly batch: number;
  /** Goes up each time the batch is put back; part of the job's id. */
  readonly generation: number;
  readonly dueAtMs: number;
}

/** The end of one record, with both halves of the base where they moved. */
export interface SettledRecord {
  readonly position: number;
  readonly line: number;
  readonly key: string;
  /** Of the run whose file said it. */
  readonly sequence: number;
  readonly end: RecordEnd;
  /** Null where the service told nothing about the contact. */
  readonly bound: BoundContact | null;
  /** Null where the row did not reach the contact as it wanted. */
  readonly said: SettledSaid | null;
  /** Absent where it stands for a whole row (`partOf` in `contacts/desired.ts`). */
  readonly part?: ContactPart;
  /** What the row says of fields. */
  readonly says?: Pick<DesiredContact, 'scalars' | 'customFields'>;
  /** How a create that was in doubt ended: its contact was found, or a further create was answered. */
  readonly afterDoubt?: 'adopted' | 'created';
  /** What other feeds are to have said from now on. */
  readonly others: readonly MovedSaid[];
  /** The writes that landed, in their order. */
  readonly journal?: readonly JournalEntry[];
}

export interface SettleRequest {
  readonly runId: string;
  readonly feed: string;
  readonly owner: string;
  readonly records: readonly SettledRecord[];
  readonly atMs: number;
}

export interface StagingLedger {
  /** What the feed knows of keys with greater numbers, in their order. */
  knownPage(feed: string, afterNumber: number, limit: number): Promise<KnownPage>;
  /** Goes up whenever what the feed knows has changed. */
  feedRevision(feed: string): Promise<number>;
  /** The numbers of keys whose write is on its way or in doubt, whichever feed's: their rows are never unchanged. Sorted. */
  numbersInDoubt(): Promise<readonly number[]>;
  keysAt(numbers: readonly number[]): Promise<ReadonlyMap<number, string>>;
  saidOf(feed: string, keys: readonly string[]): Promise<ReadonlyMap<string, SaidRecord>>;
  /** The file in which another thread can read the same (`sqlite/said-reads.ts`); null where there is none. */
  readonly saidFile: string | null;
  /** How many keys the feed has settled. */
  knownKeyCount(feed: string): Promise<number>;
  /** Staged rows at these positions that have no outcome. */
  stagedAt(runId: string, positions: readonly number[]): Promise<readonly StagedRecord[]>;
  /** Staged rows without an outcome behind that position, in order. `next`: the position to go on behind; null at the end. */
  stagedPage(
    runId: string,
    afterPosition: number,
    limit: number,
  ): Promise<{ readonly records: readonly StagedRecord[]; readonly next: number | null }>;
  /** @returns the position of its first record, behind which the others follow one by one; and the run's state by then. */
  stage(slice: StagedSlice): Promise<{ readonly first: number; readonly state: RunState }>;
  /**
   * The file was read to its end: the run has spoken for these keys, and an older row of the feed does not any more, unless the run is
   * stopped or cancelled before it is applied. A run of dead letters or of a fix-file has not: its rows are older than itself (`spoken`
   * of their slice). Nothing where the run is not being staged.
   */
  confirm(runId: string, keys: KeysOfFile): Promise<void>;
  /** What runs of the feed behind that sequence have found unchanged, except for those that were stopped or cancelled before they were applied; the newest first. */
  confirmedSince(
    feed: string,
    sequence: number,
  ): Promise<readonly { readonly sequence: number; readonly bits: Uint8Array }[]>;
  /** The keys of rows without an outcome that are bound to no contact, in the order of the file. */
  newKeys(runId: string, afterPosition: number, limit: number): Promise<readonly NewKey[]>;
  /** Enters what such rows were found to be. */
  linkRows(runId: string, links: readonly { readonly position: number; readonly link: RowLink }[]): Promise<void>;
  /** The keys that the feed knows and a row of the run has, by their numbers (`rules/bitmap.ts`); empty while the file is read. */
  keysOfRun(runId: string): Promise<Uint8Array>;
  /** How many keys the rows of a run have, and how many of these the other run has too. None where they are forgotten. */
  sharedKeys(runId: string, otherRunId: string): Promise<{ readonly keys: number; readonly shared: number }>;

  /** Batches of runs at work that are not done: those due now first, in the order of their runs. */
  nextBatches(nowMs: number, limit: number): Promise<readonly BatchRecord[]>;
  batch(runId: string, batch: number): Promise<BatchRecord | null>;
  /**
   * Records of a batch without an outcome that may be tried now: those that were never put off in the order of the file,
   * then those that have waited longest.
   */
  pendingRecords(runId: string, batch: number, nowMs: number, limit: number): Promise<readonly StagedRecord[]>;
  pendingCount(runId: string): Promise<number>;
  /** Puts records off; `burnAttempt` where a write ended in doubt while others succeeded. */
  defer(
    runId: string,
    records: readonly { position: number; notBeforeMs: number; burnAttempt: boolean }[],
  ): Promise<void>;
  /**
   * Ends one piece of work on a batch: without pending records it is done; else it is due again when its next record
   * is, with the next generation. Answers whether it is done.
   */
  releaseBatch(runId: string, batch: number, generation: number, notBeforeMs: number): Promise<boolean>;

  /**
   * Writes outcomes, both halves of the base, dead letters and the run's counts, closes dead letters of keys that
   * succeeded, and gives the leases back. Records whose lease was lost to another owner, or that have an outcome, are left
   * out; answers how many were written.
   */
  settle(request: SettleRequest): Promise<number>;
  /** Ends all that is pending, without a write: a run was cancelled. */
  skipPending(runId: string, reason: 'cancelled', atMs: number): Promise<number>;
  /** Whether a process that is alive, as far as its lease tells, waits for the answer to a write of the run. */
  isWriting(runId: string, moment: LeaseMoment): Promise<boolean>;
  /** Of the rows that it ended or would end, those whose write by this run has not ended: it may have landed, and may still do so. */
  skippedInDoubt(runId: string): Promise<number>;
  /** Outcomes by kind, counted from the records themselves: must agree with the run's counts. */
  countEnds(runId: string): Promise<CountDelta>;
  /** What a report has beyond rejected rows, in the order it happened. */
  events(
    runId: string,
    afterOrdinal: number,
    limit: number,
  ): Promise<readonly (RunEvent & { readonly ordinal: number })[]>;
  /** The rejected rows of a run in the order they died: for the fix-file and the report. */
  deadRows(runId: string, afterOrdinal: number, limit: number): Promise<readonly RunDeadRow[]>;
  /** How many rows of a run died of what. */
  deadByCode(runId: string): Promise<readonly DeadCount[]>;
}

interface DeadCount {
  readonly class: DeadRow['class'];
  readonly code: string;
  readonly count: number;
}

/** The most events of a run that are kept; the counts go on. */
export const eventsPerRunMax = 10_000;

/** Changes and matches take at most this share of that room: they must not crowd out warnings, skipped and held rows. */
export const changesPerRunMax = eventsPerRunMax / 2;

/** Something worth reporting that did not reject its row. Holds personal data: never for a log. */
export interface RunEvent {
  /** `match`: a contact to be made that may be there already, or one that would become another person's. `missing`: a person whom the file no longer has. `drift`: what people changed. */
  readonly kind: 'warning' | 'skipped' | 'held' | 'changed' | 'match' | 'missing' | 'drift';
  readonly line: number;
  /** Of a warning: the number of the row's record, only where several records share the line. */
  readonly record?: number;
  readonly key: string | null;
  /** The skip reason, the warning's code, `held`, `updated`, `matchFound`, `matchUnclear`, `matchKey` or `matchOther`. */
  readonly code: string;
  readonly field: string | null;
  /** Of a warning: the cell as the file holds it, where there is one. */
  readonly value?: string | null;
  /** Of a warning about the file: what to do next. */
  readonly hint?: string;
  /** Of a missing person: since when, as an ISO instant. */
  readonly since?: string;
  /** Of a change: the names of all fields that were written. */
  readonly fields?: readonly string[];
  readonly message: string;
  /** Of a held field: what the file says, and what the app holds. Of a match: the names of row and contact; of `matchOther` those of now and before. Of drift: the two values. */
  readonly file?: CustomFieldValue;
  readonly app?: CustomFieldValue;
  /** Of a match: the contact's id, or the other key. Of `samePhone`: the other key. */
  readonly contact?: string;
}

/** A row that died in one run. Two rows may share a dead letter; each is here. */
export interface RunDeadRow extends DeadRow {
  readonly ordinal: number;
  readonly letterId: string;
}
