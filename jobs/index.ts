/** The job catalog: every job there is. */
import type { AnyJobDefinition } from '#src/queue/job-definition.ts';
import { audit } from './audit.ts';
import type { JobContext } from './context.ts';
import { finishRunJob } from './finish-run.ts';
import { importFile } from './import-file.ts';
import { sweep } from './sweep.ts';
import { upsertBatch } from './upsert-batch.ts';

export const jobCatalog: readonly AnyJobDefinition<JobContext>[] = [
  importFile,
  upsertBatch,
  finishRunJob,
  audit,
  sweep,
];
