/** The catalog of all jobs. */
import type { AnyJobDefinition } from '#src/queue/job-definition.ts';
import { audit } from './audit.ts';
import type { BatchContext, JobContext, RunContext } from './context.ts';
import { deliver } from './deliver.ts';
import { finishRunJob } from './finish-run.ts';
import { importFile } from './import-file.ts';
import { snapshotPhoneNumbers } from './snapshot-phone-numbers.ts';
import { sweep } from './sweep.ts';
import { takeFiles } from './take-files.ts';
import { upsertBatch } from './upsert-batch.ts';
import { wakeSchedules } from './wake-schedules.ts';

/** The jobs of worker processes. All others need files or state of the engine. */
export const batchCatalog: readonly AnyJobDefinition<BatchContext>[] = [upsertBatch];

/** The jobs of every engine: those of its own files, and batches of any. */
export const engineCatalog: readonly AnyJobDefinition<RunContext>[] = [importFile, ...batchCatalog, finishRunJob];

/** The jobs of the engine that leads. */
export const ledCatalog: readonly AnyJobDefinition<JobContext>[] = [
  ...[audit, sweep, takeFiles, snapshotPhoneNumbers, deliver, wakeSchedules],
];

/** All jobs. */
export const jobCatalog: readonly AnyJobDefinition<JobContext>[] = [...engineCatalog, ...ledCatalog];

/** What a run needs from staging to its end. */
export const runCatalog: readonly AnyJobDefinition<RunContext>[] = [...engineCatalog, audit, sweep];
