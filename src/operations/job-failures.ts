/** Jobs that end early again and again, in words: a folder takes no file, the service refuses a request, or it is an error of Patchbay's own. */

import { type Clock, isoInstant } from '#src/clock.ts';
import { failuresGoingOn, isDefect } from '#src/ledger/follow.ts';
import type { JobFailure, Ledger } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { isFolderCode } from '#src/whole-file.ts';

/** Within a sentence: what a job of the run at hand ends with. */
export function failureWords(failure: JobFailure): string {
  return isDefect(failure) ? `${plainFailureWords(failure)}: ${failure.message}` : failure.message;
}

/**
 * The same without an error's own words, which may hold data, also the service's about a person: those about a folder name the folder alone
 * (`src/whole-file.ts`).
 */
function plainFailureWords(failure: JobFailure): string {
  const { job, runId, code, count, sinceMs } = failure;
  if (isFolderCode(code)) return failure.message;
  if (waitedFor(failure) === 'service') return `the service refuses a request (${code})`;
  if (!isDefect(failure)) return `work ends early again and again (${code})`;
  const whose = runId === null ? '' : ` of the run ${runId}`;
  return `the job ${job}${whose} has ended with an error inside Patchbay ${counted(count, 'time')} since ${isoInstant(sinceMs)}`;
}

/** The same of another run, which comes first. */
export function aheadWords(failure: JobFailure): string {
  const { runId } = failure;
  return isDefect(failure) || runId === null
    ? failureWords(failure)
    : `the run ${runId} waits, since ${failure.message}`;
}

/** What must change before the job can end well; null where its own words alone say it. Pure. @param failure no error of Patchbay's own. */
export function waitedFor({ code }: Pick<JobFailure, 'code'>): 'service' | 'folder' | null {
  if (code === 'requestRefused') return 'service';
  return isFolderCode(code) ? 'folder' : null;
}

interface FailureHome {
  readonly ledger: Pick<Ledger, 'jobFailures'> & { readonly runs: Pick<Ledger['runs'], 'get'> };
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** What to do about each, for people; empty where no job ends so now. */
export async function readJobFailures(home: FailureHome): Promise<readonly string[]> {
  return sentencesOf(await failuresGoingOn(home), failureWords);
}

/** The same twice: whole, and for readers without a token. */
export async function readOpenJobFailures(
  home: FailureHome,
): Promise<{ readonly whole: readonly string[]; readonly plain: readonly string[] }> {
  const going = await failuresGoingOn(home);
  return { whole: sentencesOf(going, failureWords), plain: sentencesOf(going, plainFailureWords) };
}

function sentencesOf(going: readonly JobFailure[], wordsOf: (failure: JobFailure) => string): readonly string[] {
  const [defect] = going.filter(isDefect);
  const others = Map.groupBy(
    going.filter((failure) => !isDefect(failure)),
    (failure) => wordsOf(failure),
  );
  return [
    ...(defect === undefined ? [] : [defectSentence(wordsOf(defect))]),
    ...[...others].map(([words, failures]) => waitingSentence(words, failures)),
  ];
}

function defectSentence(words: string): string {
  return `${capital(words)}. Nothing is lost; patchbay logs has the lines that a report of this defect needs.`;
}

/** One folder may keep many runs waiting. */
function waitingSentence(words: string, failures: readonly JobFailure[]): string {
  const runs = [...new Set(failures.flatMap(({ runId }) => (runId === null ? [] : [runId])))];
  const jobs = [...new Set(failures.map(({ job }) => job))].join(', ');
  const who =
    runs.length > 1 ? `${runs.length} runs wait` : runs.length === 1 ? `the run ${runs[0]} waits` : `${jobs} waits`;
  return `${capital(words)}; ${who}. Nothing is lost: work goes on once that is repaired.`;
}

function capital(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
