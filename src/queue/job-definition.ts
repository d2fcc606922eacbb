/** One entry of the job catalog: what its payload looks like, and who processes it. */

import { createHash } from 'node:crypto';
import type { Queue } from 'bullmq';
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

/** Names in the queue. They carry the ledger's id, so that two ledgers on one Redis never share a job. */
export function queueName(ledgerId: string, job: string): string {
  return `patchbay-${ledgerId}-${job}`;
}

/**
 * A job's id is a hash of what it is about: BullMQ takes an existing id for a silent no-op, so that the same job is
 * never there twice, and refuses pure numbers and colons.
 */
export function jobId(...parts: readonly (string | number)[]): string {
  return `j${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`;
}

// Ended jobs that stay for a while, so that people see them and their log lines in a page that shows queues.
//
// Invariant: no job stands in the way of another. A job's id is what it is about, and BullMQ takes an id that is there
// for a silent no-op: whoever adds a job first takes an ended one of the same id away. One that waits or is at work
// stays as it is, so that nothing is handed out twice.

/** Of each of these names so many that ended well, and so many that failed. */
export const jobsKeptMax = 100;

const keptNames: ReadonlySet<string> = new Set([
  'import-file',
  'upsert-batch',
  'finish-run',
  'audit',
  'take-files',
  'snapshot-phone-numbers',
]);

/** How many ended jobs of that name stay, as BullMQ wants it said. */
export function keptWhenEnded(name: string): { readonly count: number } {
  return { count: keptNames.has(name) ? jobsKeptMax : 0 };
}

/**
 * Takes ended jobs of these ids away, in one question and one command for each that is there. Who gets it between the
 * two, and is at work on it, has it locked: it stays. One that waits again by then goes, and is about to be added.
 */
export async function makeWay(queue: Queue, name: string, ids: readonly string[]): Promise<void> {
  if (!keptNames.has(name)) return;
  const ended = new Set(await queue.getRanges(['completed', 'failed'], 0, jobsKeptMax - 1));
  await Promise.all(ids.filter((id) => ended.has(id)).map((id) => queue.remove(id)));
}
