/** Tells the ledger of jobs that end early and begin again with the next sweep, since people should know; and of those that have ended well since. */
import type { Home } from '#src/app.ts';
import { messageOf } from '#src/errors.ts';
import type { JobEnd } from '#src/queue/workers.ts';

/** @returns what workers call after each job that is worth a note; where it ended well, what was noted of that very job goes. */
export function jobFailureNotes({ ledger, clock, log }: Pick<Home, 'ledger' | 'clock' | 'log'>): (end: JobEnd) => void {
  /** Ids of jobs whose failure was noted here. Of other processes the note goes with its run, or when it is a minute old. */
  const noted = new Set<string>();
  const note = async ({ job, runId, failure }: JobEnd): Promise<void> => {
    if (failure === null) await ledger.endJobFailure({ job, runId });
    else await ledger.noteJobFailure({ job, runId, ...failure, atMs: clock.nowMs() });
  };
  return (end) => {
    if (end.failure === null && !noted.delete(end.id)) return;
    if (end.failure !== null) noted.add(end.id);
    note(end).catch((error: unknown) => {
      // The next one is noted again; trouble of the ledger is reported by `health.ts`.
      log.debug({ reason: messageOf(error) }, 'failure of a job not noted');
    });
  };
}

/** What another engine noted is over: each of its jobs begins anew. Of the one engine of a ledger, at its start. */
export async function forgetJobFailures({ ledger }: Pick<Home, 'ledger'>): Promise<void> {
  for (const failure of await ledger.jobFailures()) await ledger.endJobFailure(failure);
}
