/** Job: look up, plan and write one batch of staged rows. */
import { z } from 'zod';
import { PatchbayError } from '#src/errors.ts';
import type { JobDefinition } from '#src/queue/job-definition.ts';
import { stopForGuard } from '#src/runs/stop-run.ts';
import { type BatchReference, processBatch } from '#src/upsert/process-batch.ts';
import { aboutRun, type BatchContext } from './context.ts';

const payload = z.object({
  runId: z.string(),
  batch: z.number().int().positive(),
  generation: z.number().int().nonnegative(),
});

/** How long a batch is deferred after a read without an answer. */
const restMs = 3_000;

export const upsertBatch: JobDefinition<z.infer<typeof payload>, BatchContext> = {
  name: 'upsert-batch',
  schema: payload,
  concurrency: 2,
  reportsEnd: true,
  about: ({ runId }, { runs }) => aboutRun(runs, runId),
  process: async (reference, context, signal) => {
    if ((await context.runs.ledger.pause()) !== null) return;
    await workOnBatch(reference, context, AbortSignal.any([signal, context.atWork()]));
  },
};

/**
 * Works on a batch, or on at most `recordsMax` of its records. A guard stops the run; a read without an answer defers the
 * batch; other failures of the service pause all work.
 * @returns false if the service did not answer as it should.
 * @throws any other error of `processBatch`.
 */
export async function workOnBatch(
  reference: BatchReference,
  context: Pick<BatchContext, 'runs' | 'upsert' | 'pause' | 'exhausted'>,
  signal: AbortSignal,
  limits: { readonly recordsMax?: number } = {},
): Promise<boolean> {
  try {
    await processBatch(context.upsert, reference, signal, limits);
    return true;
  } catch (error) {
    if (await stopForGuard(context.runs, reference.runId, error)) return true;
    if (isExhaustedRead(error)) {
      const { ledger, clock } = context.upsert;
      const { runId, batch, generation } = reference;
      const dueAtMs = (await ledger.nowMs(clock)) + restMs;
      await ledger.runs.releaseBatch(runId, batch, generation, dueAtMs);
      await context.exhausted(error);
      return false;
    }
    if (await context.pause(error)) return false;
    throw error;
  }
}

const exhaustedCodes: ReadonlySet<string> = new Set(['serviceUnreachable', 'serviceFailing', 'rateLimited']);

/** The breakers show whether it was one read or an outage. */
export function isExhaustedRead(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && error.kind === 'unreachable' && exhaustedCodes.has(error.code);
}
