/** Jobs that end early again and again, in words: a folder takes no file, or it is an error of Patchbay's own. */
import { type Clock, isoInstant } from '#src/clock.ts';
import { failuresGoingOn, isDefect } from '#src/ledger/follow.ts';
import type { JobFailure, Ledger } from '#src/ledger/port.ts';

/** Within a sentence: what a job of the run at hand ends with. */
export function failureWords(failure: JobFailure): string {
  if (!isDefect(failure)) return failure.message;
  const { job, runId, count, sinceMs, message } = failure;
  const whose = runId === null ? '' : ` of the run ${runId}`;
  return `the job ${job}${whose} has ended with an error inside Patchbay ${count} times since ${isoInstant(sinceMs)}: ${message}`;
}

/** The same of another run, which comes first. */
export function aheadWords(failure: JobFailure): string {
  const { runId } = failure;
  return isDefect(failure) || runId === null
    ? failureWords(failure)
    : `the run ${runId} waits, since ${failure.message}`;
}

/** What to do about each, for people; empty where no job ends so now. */
export async function readJobFailures(home: {
  readonly ledger: Pick<Ledger, 'jobFailures'> & { readonly runs: Pick<Ledger['runs'], 'get'> };
  readonly clock: Pick<Clock, 'nowMs'>;
}): Promise<readonly string[]> {
  const going = await failuresGoingOn(home);
  const [defect] = going.filter(isDefect);
  const others = Map.groupBy(
    going.filter((failure) => !isDefect(failure)),
    ({ message }) => message,
  );
  return [
    ...(defect === undefined ? [] : [defectSentence(defect)]),
    ...[...others].map(([message, failures]) => waitingSentence(message, failures)),
  ];
}

function defectSentence(defect: JobFailure): string {
  return `${capital(failureWords(defect))}. Nothing is lost; patchbay logs has the lines that a report of this defect needs.`;
}

/** One folder may keep many runs waiting. */
function waitingSentence(message: string, failures: readonly JobFailure[]): string {
  const runs = [...new Set(failures.flatMap(({ runId }) => (runId === null ? [] : [runId])))];
  const jobs = [...new Set(failures.map(({ job }) => job))].join(', ');
  const who =
    runs.length > 1 ? `${runs.length} runs wait` : runs.length === 1 ? `the run ${runs[0]} waits` : `${jobs} waits`;
  return `${capital(message)}; ${who}. Nothing is lost: work goes on once that is repaired.`;
}

function capital(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
