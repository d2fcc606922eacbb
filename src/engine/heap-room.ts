/**
 * How far the heap may grow between two collections of all of it, by the jobs at work.
 *
 * The launcher lets it grow by little (`src/cli/patchbay.mjs`), so that reading a large file takes little memory. What a batch makes lives
 * as long as its requests, some hundred rows at a time, and grows old before it dies: with so little room it would be marked again
 * several times a second. So the heap has more room while batches are at work and no file is being read.
 *
 * V8 looks at the flag whenever it sets its next limit. A process that was started without the flag is left alone.
 */
import { setFlagsFromString } from 'node:v8';
import { importFile } from '#jobs/import-file.ts';
import { upsertBatch } from '#jobs/upsert-batch.ts';

const flag = '--heap-growing-percent=';
/** What lives while batches are at work is some 50 MB: as much again is less than reading a large file takes. */
const percentForBatches = 100;

/** Both are to be called for each job, by its name. */
export interface HeapRoom {
  begins(job: string): void;
  ends(job: string): void;
}

/** @param launchedWith the flags of this process (`process.execArgv`). @param setFlag takes effect in the whole process. */
export function createHeapRoom(
  launchedWith: readonly string[] = process.execArgv,
  setFlag: (flag: string) => void = setFlagsFromString,
): HeapRoom {
  const launched = launchedWith.findLast((one) => one.startsWith(flag));
  const atWork = new Map<string, number>();
  let now = launched;
  const add = (job: string, by: number): void => {
    atWork.set(job, (atWork.get(job) ?? 0) + by);
    const isAtWork = ({ name }: { readonly name: string }) => (atWork.get(name) ?? 0) > 0;
    const wanted = isAtWork(upsertBatch) && !isAtWork(importFile) ? `${flag}${percentForBatches}` : launched;
    if (launched === undefined || wanted === undefined || wanted === now) return;
    now = wanted;
    setFlag(wanted);
  };
  return { begins: (job) => add(job, 1), ends: (job) => add(job, -1) };
}
