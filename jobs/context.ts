/** What the job processors call into, and what their log lines say. */

import type { AuditParts } from '#src/audits/carry-out-audit.ts';
import type { PatchbayError } from '#src/errors.ts';
import type { Notices } from '#src/notices/deliver.ts';
import type { StageParts } from '#src/runs/stage.ts';
import type { SupplyParts } from '#src/runs/supply.ts';
import type { SchedulesContext } from '#src/schedules/carry-out-tick.ts';
import type { SnapshotParts } from '#src/snapshots/take-snapshot.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';

/** For the jobs that any process may take. */
export interface BatchContext {
  /** Stages, stops and finishes runs. */
  readonly runs: StageParts & SupplyParts;
  readonly upsert: UpsertParts;
  /** Pauses all work if the service refuses the key or does not answer as it should. @returns whether it did. */
  pause(error: unknown): Promise<boolean>;
  /** A read failed after all its tries; work is paused if that happens repeatedly. */
  exhausted(error: PatchbayError): Promise<void>;
  /** Fires when this process pauses all work. */
  atWork(): AbortSignal;
}

/** For the jobs of a run, from staging to audit. */
export interface RunContext extends BatchContext {
  readonly audits: AuditParts;
  /** Ids of the runs whose files this process is reading. */
  readonly staging: Set<string>;
  /** One sweep of the engine. */
  sweep(): Promise<void>;
}

/** For all jobs: the engine's. */
export interface JobContext extends RunContext {
  readonly schedules: SchedulesContext;
  readonly snapshots: SnapshotParts;
  readonly notices: Notices;
}

/** What the log lines of work on a run carry: its id, and its feed if the run is known. */
export async function aboutRun(
  { ledger }: Pick<StageParts, 'ledger'>,
  runId: string,
): Promise<{ readonly run: string; readonly feed?: string }> {
  const run = await ledger.runs.get(runId);
  return run === null ? { run: runId } : { run: runId, feed: run.feed };
}
