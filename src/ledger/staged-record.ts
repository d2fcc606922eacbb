/** A staged record: a changed row of a run, waiting for its outcome (`design.md`, "Stage, then apply"). */

import type { DesiredContact } from '#src/contacts/desired.ts';
import type { DeadClass, HeldField, Problem, SkipReason } from '#src/contacts/outcome.ts';
import type { Row } from '#src/sources/row.ts';

export interface NewStagedRecord {
  readonly line: number;
  /** Of the run whose file said it: older than the run itself where a dead letter is tried again. */
  readonly sequence: number;
  readonly key: string;
  readonly rowHash: string;
  readonly fingerprint: string;
  readonly mappingVersion: string;
  readonly desired: DesiredContact;
  /** The row as read, for the fix-file. */
  readonly row: Row;
  /** The dead letter that the row mends or tries again. */
  readonly letterId?: string;
}

export interface StagedRecord extends NewStagedRecord {
  readonly runId: string;
  readonly feed: string;
  /** Counts from 1 in the order of the file; names the record in its run. */
  readonly position: number;
  /** An update of this record was sent, or was about to be. */
  readonly sent: boolean;
  /** Writes of this record that ended in doubt while other writes succeeded. */
  readonly attempts: number;
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
  /** The dead letter that the row was to mend: it is the same one again, or answered by another. */
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
      readonly heldFields: readonly HeldField[];
      /** The names of the fields that an update wrote. */
      readonly changedFields?: readonly string[];
      readonly removedValues: number;
      readonly warnings: readonly string[];
    }
  | { readonly outcome: 'skipped'; readonly reason: SkipReason }
  | { readonly outcome: 'dead'; readonly dead: DeadRow };
