/** What the job processors call into. */
import type { AuditParts } from '#src/audits/carry-out-audit.ts';
import type { PatchbayError } from '#src/errors.ts';
import type { Notices } from '#src/notices/deliver.ts';
import type { RunParts } from '#src/runs/parts.ts';
import type { SchedulesContext } from '#src/schedules/carry-out-tick.ts';
import type { SnapshotParts } from '#src/snapshots/take-snapshot.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';

/** Of the jobs that any process may take. */
export interface BatchContext {
  readonly runs: RunParts;
  readonly upsert: UpsertParts;
  /** Stops all work: the service refuses the key, or does not answer as it should. */
  pause(error: unknown): Promise<boolean>;
  /** A read got no answer after all its tries; work stops where that happens again and again. */
  exhausted(error: PatchbayError): Promise<void>;
  /** Fires when this process stops all work. */
  atWork(): AbortSignal;
}

/** Of the jobs that bring a file from its taking to its audit. */
export interface RunContext extends BatchContext {
  readonly audits: AuditParts;
  /** Whether this process is already reading the file of that run. */
  readonly staging: Set<string>;
  /** One round of the sweeper. */
  sweep(): Promise<void>;
}

/** Of all jobs: the engine's. */
export interface JobContext extends RunContext {
  readonly schedules: SchedulesContext;
  readonly snapshots: SnapshotParts;
  readonly notices: Notices;
}
