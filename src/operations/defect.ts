/** Work that ends again and again with an error of Patchbay's own. */
import { type Clock, isoInstant } from '#src/clock.ts';
import { isGoingOn } from '#src/ledger/follow.ts';
import type { Ledger, WorkDefect } from '#src/ledger/port.ts';

/** Within a sentence: which job, of which run, how often and since when, and the error's own words. */
export function defectWords({ job, runId, count, sinceMs, message }: WorkDefect): string {
  const whose = runId === null ? '' : ` of the run ${runId}`;
  return `the job ${job}${whose} has ended with an error inside Patchbay ${count} times since ${isoInstant(sinceMs)}: ${message}`;
}

/** What to do about it, for people; null where no job ends so now. */
export async function readDefect({
  ledger,
  clock,
}: {
  readonly ledger: Pick<Ledger, 'workDefect'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}): Promise<string | null> {
  const defect = await ledger.workDefect();
  if (defect === null || !isGoingOn(defect, clock.nowMs())) return null;
  const words = defectWords(defect);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}. Nothing is lost; patchbay logs has the lines that a report of this defect needs.`;
}
