/** One entry of the job catalog: what its payload looks like, and who processes it. */
import type { z } from 'zod';

export interface JobDefinition<Payload, Context> {
  readonly name: string;
  /** No personal data in a payload: ids and numbers only. */
  readonly schema: z.ZodType<Payload>;
  /** `engine`: only there, where its files, its sweep and what it has begun are known. */
  readonly runsIn: 'engine' | 'anywhere';
  /** Jobs of this name at work at once in one process. */
  readonly concurrency: number;
  /** Calls one use case. What it throws ends this job; the ledger knows what is still to be done. */
  process(payload: Payload, context: Context, signal: AbortSignal): Promise<void>;
}

/** Any entry, whatever its payload: the schema stands between the queue and the processor. */
// biome-ignore lint/suspicious/noExplicitAny: a catalog holds definitions of different payloads; `run` parses before it processes.
export type AnyJobDefinition<Context> = JobDefinition<any, Context>;
