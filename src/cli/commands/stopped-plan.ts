/** What a run that a guard has stopped would write: shown by `runs show`, and before an approval. */
import type { Home } from '#src/app.ts';
import { pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import { planStoppedRun } from '#src/operations/plan.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { listenForInterrupt } from '../interrupt.ts';
import type { Output } from '../output.ts';
import { presentPlan } from '../present-plan.ts';
import { waitNote, withService } from './plan.ts';

/** Few enough to be looked up while a person waits: a hundred requests. */
const plannedAtOnceMax = 2_000;
/** Contacts of each group. */
const contactsShown = 10;

/**
 * Makes a plan of the run now, and keeps it; null where the run is too large for that while a person waits.
 * @throws PatchbayError as `planStoppedRun`.
 */
export async function planNow(
  home: Home,
  output: Output,
  run: RunRecord,
  patienceMs: number,
): Promise<MadePlan | null> {
  if (pendingCount(run.counts) > plannedAtOnceMax) return null;
  const interrupt = listenForInterrupt(() => undefined);
  try {
    const { signal } = interrupt;
    return await withService(home, { patienceMs, signal, sameWorkspace: false }, (service) =>
      planStoppedRun(service, run, { signal, onProgress: () => undefined, onWait: waitNote(output) }),
    );
  } finally {
    interrupt.dispose();
  }
}

/** Why the run stopped is said with the run. */
export function presentStoppedPlan(output: Output, made: MadePlan): Promise<string> {
  const plan = { ...made.plan, stop: null };
  return presentPlan(output, { ...made, plan }, { limit: contactsShown, values: output.values });
}
