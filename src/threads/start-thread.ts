/** Starts a worker thread on a program of ours. */

import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker, type WorkerOptions, workerData } from 'node:worker_threads';

/** What `thread-entry.mjs` is given. */
interface EntryData {
  readonly program: string;
  /** Where this process keeps what it has compiled. */
  readonly compileCache: string | undefined;
  readonly given: unknown;
}

/** @param given what the program reads by `givenToThread`; copied. */
export function startThread(program: URL, given: unknown, options: Omit<WorkerOptions, 'workerData'>): Worker {
  // The launcher's flag would win over the limit of the thread. The heap of the process read it when it was made, and keeps to it.
  if (options.resourceLimits?.maxYoungGenerationSizeMb !== undefined) setFlagsFromString('--max-semi-space-size=0');
  const own = getCompileCacheDir();
  const entry: EntryData = { program: program.href, compileCache: own && dirname(own), given };
  return new Worker(new URL('./thread-entry.mjs', import.meta.url), { ...options, workerData: entry });
}

/** In a thread: what it was started with. */
export function givenToThread<Given>(): Given {
  // Written by `startThread`, whose caller names the program that reads it.
  return (workerData as EntryData).given as Given;
}
