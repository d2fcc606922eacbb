/** One entry of the job catalog: what its payload looks like, and who processes it. */
import type { z } from 'zod';
import type { LogContext } from '#src/log.ts';

export interface JobDefinition<Payload, Context> {
  readonly name: string;
  /** No personal data in a payload: ids and numbers only. */
  readonly schema: z.ZodType<Payload>;
  /** Jobs of this name at work at once in one process. */
  readonly concurrency: number;
  /** Its end is worth a line for people: nothing else tells that it was done. */
  readonly tellsEnd?: boolean;
  /** What its log lines carry besides `runId`, `batch` and `tickId` of its payload. Asked once, before it begins. */
  about?(payload: Payload, context: Context): Promise<LogContext>;
  /** Calls one use case. What it throws ends this job; the ledger knows what is still to be done. */
  process(payload: Payload, context: Context, signal: AbortSignal): Promise<void>;
}

/** Any entry, whatever its payload: the schema stands between the queue and the processor. */
// biome-ignore lint/suspicious/noExplicitAny: a catalog holds definitions of different payloads; `run` parses before it processes.
export type AnyJobDefinition<Context> = JobDefinition<any, Context>;
