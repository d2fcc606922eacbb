/**
 * Ended jobs that stay for a while, so that people see them and their log lines in a page that shows queues.
 *
 * Invariant: no job stands in the way of another. A job's id is what it is about, and BullMQ takes an id that is there
 * for a silent no-op: whoever adds a job first takes an ended one of the same id away. One that waits or is at work
 * stays as it is, so that nothing is handed out twice.
 */
import type { Queue } from 'bullmq';

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
