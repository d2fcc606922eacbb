/** What a run that a guard has stopped would write: shown by `runs show`, and before an approval. */
import type { Home } from '#src/app.ts';
import { pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import { planStoppedRun } from '#src/operations/plan.ts';
import { type MadePlan, readKeptPlan } from '#src/plans/make-plan.ts';
import { asksForLinks } from '#src/runs/guards.ts';
import { listenForInterrupt } from '../interrupt.ts';
import type { Output } from '../output.ts';
import { presentPlan } from '../present-plan.ts';
import { waitNote, withService } from './plan.ts';

/** Few enough to be looked up while a person waits: a hundred requests. */
const plannedAtOnceMax = 2_000;
/** Contacts of each group. */
const contactsShown = 10;

/** Where the stop is a choice that was not made, there is nothing to show: what would be written depends on it. */
export function hasPlan({ state, reason }: RunRecord): boolean {
  return state === 'stopped' && (reason === null || !asksForLinks(reason));
}

/** The newest plan that is kept of the run; null where there is none. */
export async function keptPlanOf({ ledger }: Pick<Home, 'ledger'>, run: RunRecord): Promise<MadePlan | null> {
  const [plan] = await ledger.plans.list({ runId: run.id, limit: 1 });
  return plan === undefined ? null : await readKeptPlan(ledger.plans, plan);
}

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
