/** What snapshots work with. */
import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { Logger } from '#src/log.ts';
import type { Workspace } from '#src/workspace/port.ts';

export interface SnapshotParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  /** The folder of the files, as `data/snapshots/phone-numbers`; it is made where it is not there. */
  readonly folder: string;
  /** How long a snapshot, its file and its changes are kept. */
  readonly keepMs: number;
  /** Snapshots of a series that are kept. */
  readonly keepMax: number;
  /** Whether changes are told to the webhook. */
  readonly notifies: boolean;
}
