/**
 * A queue as bad as a queue may be: it delivers at least once, in any order, and forgets everything when told to.
 *
 * What it should hold is derived from the ledger (`jobsToDo`). As in the real one, an id that it holds is not added again.
 */
import type { DueJob } from '#src/queue/dispatcher.ts';
import type { JobToAdd } from '#src/queue/producer.ts';

export interface QueuedJob extends JobToAdd {
  readonly dueAtMs: number;
}

export interface LooseQueue {
  add(jobs: readonly DueJob[], nowMs: number): void;
  /** The first that is due; null where none is. It is held as the last one taken. */
  take(nowMs: number): QueuedJob | null;
  /** The job taken last is delivered once more, whatever became of it. */
  putBackLast(): void;
  /** Forgets all jobs. */
  flush(): void;
  reorder(by: number): void;
  /** When the next job is due; null for none. */
  nextDueAtMs(): number | null;
}

export function looseQueue(): LooseQueue {
  let jobs: readonly QueuedJob[] = [];
  let last: QueuedJob | null = null;
  return {
    add: (wanted, nowMs) => {
      const held = new Set(jobs.map((job) => job.id));
      const fresh = wanted.filter((job) => !held.has(job.id));
      jobs = [...jobs, ...fresh.map((job) => ({ ...job, dueAtMs: nowMs + job.inMs }))];
    },
    take: (nowMs) => {
      const job = jobs.find((one) => one.dueAtMs <= nowMs) ?? null;
      if (job === null) return null;
      jobs = jobs.filter((one) => one !== job);
      last = job;
      return job;
    },
    putBackLast: () => {
      if (last !== null) jobs = [{ ...last, dueAtMs: 0 }, ...jobs];
    },
    flush: () => {
      jobs = [];
    },
    reorder: (by) => {
      const turned = jobs.length === 0 ? 0 : by % jobs.length;
      jobs = [...jobs.slice(turned), ...jobs.slice(0, turned)].toReversed();
    },
    nextDueAtMs: () => (jobs.length === 0 ? null : Math.min(...jobs.map((job) => job.dueAtMs))),
  };
}
