/**
 * Jobs: the entries of the catalog, their names and ids in the queue, and how long ended ones are kept.
 *
 * A job's id is a hash of what the job is about. BullMQ ignores a job whose id exists, without an error, so the same job is
 * never in the queue twice. Ended jobs of some names are kept, so that people see them and their log lines in a queue page;
 * an ended job must be removed before one with its id is added again. One that waits or is active stays, so that no work is
 * handed out twice.
 */
import { createHash } from 'node:crypto';
import type { Queue } from 'bullmq';
import type { z } from 'zod';
import type { LogContext } from '#src/log.ts';

export interface JobDefinition<Payload, Context> {
  readonly name: string;
  /** No personal data in a payload: ids and numbers only. */
  readonly schema: z.ZodType<Payload>;
  /** Jobs of this name that are active at once in one process. */
  readonly concurrency: number;
  /** Its end is logged for people: nothing else reports it. */
  readonly reportsEnd?: boolean;
  /** What its log lines carry beyond `runId`, `batch` and `tickId` of its payload. Called once, before it begins. */
  about?(payload: Payload, context: Context): Promise<LogContext>;
  /** Calls one use case. If it throws, the job ends; the ledger knows what remains to be done. */
  process(payload: Payload, context: Context, signal: AbortSignal): Promise<void>;
}

/** An entry with any payload: its schema checks what comes from the queue. */
// biome-ignore lint/suspicious/noExplicitAny: a catalog holds definitions of different payloads; `run` parses before it processes.
export type AnyJobDefinition<Context> = JobDefinition<any, Context>;

/** Jobs that need files of one data folder. */
export const jobsOfHost: readonly string[] = ['import-file', 'finish-run'];

/**
 * The queue of a job. It contains the ledger's id, so that two ledgers on one Redis never share a job.
 * @param host where several hosts work on the ledger: jobs that need its files have a queue of their own. Null: there is one data folder.
 */
export function queueName(ledgerId: string, job: string, host: string | null = null): string {
  return `patchbay-${ledgerId}-${job}${host !== null && jobsOfHost.includes(job) ? `-${host}` : ''}`;
}

/** The id of a job about these things. BullMQ refuses colons, and ids that are numbers. */
export function jobId(...parts: readonly (string | number)[]): string {
  return `j${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`;
}

/** For each of these names: completed jobs, and again failed jobs. */
export const jobsKeptMax = 100;

const keptNames: ReadonlySet<string> = new Set([
  'import-file',
  'upsert-batch',
  'finish-run',
  'audit',
  'take-files',
  'snapshot-phone-numbers',
]);

/** How many ended jobs of that name are kept, as an option of BullMQ. */
export function keptWhenEnded(name: string): { readonly count: number } {
  return { count: keptNames.has(name) ? jobsKeptMax : 0 };
}

/**
 * Removes ended jobs with these ids: one query, and one command for each that was found. A job that became active between
 * the two is locked and stays; one that waits again is removed, and is about to be added anyway.
 */
export async function removeEnded(queue: Queue, name: string, ids: readonly string[]): Promise<void> {
  if (!keptNames.has(name)) return;
  const ended = new Set(await queue.getRanges(['completed', 'failed'], 0, jobsKeptMax - 1));
  await Promise.all(ids.filter((id) => ended.has(id)).map((id) => queue.remove(id)));
}
