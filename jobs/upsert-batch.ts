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

/** A batch whose reads get no answer rests so long. */
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
 * Works on a batch; with `recordsMax` on so many of its records alone. A guard stops its run; a read that got no answer
 * puts it off; other trouble of the service pauses all work.
 * @returns false where the service did not answer as it should.
 * @throws what `processBatch` throws else.
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
      await ledger.staging.releaseBatch(runId, batch, generation, clock.nowMs() + restMs);
      await context.exhausted(error);
      return false;
    }
    if (await context.pause(error)) return false;
    throw error;
  }
}

const exhaustedCodes: ReadonlySet<string> = new Set(['serviceUnreachable', 'serviceFailing', 'rateLimited']);

/** Whether it was one read alone, or an outage, the breakers tell. */
export function isExhaustedRead(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && error.kind === 'unreachable' && exhaustedCodes.has(error.code);
}
