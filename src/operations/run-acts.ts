/** What a person decides about a run that has not ended: it is approved, or cancelled (`docs/rules.md`, "Guards"). */
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { PlanRecord } from '#src/ledger/plans.ts';
import { approvalOf, type LinkChoice } from '#src/ledger/rules/approval.ts';
import { isFinal, type OlderWrites, type RunReason, type RunRecord } from '#src/ledger/runs.ts';
import { unlessAway } from '#src/ledger/wait-out.ts';
import { asksForLinks } from '#src/runs/guard-reason.ts';
import { removeStoppedNote } from '#src/runs/stop-run.ts';
import { actOf } from './acts.ts';
import { stateWords } from './runs.ts';

/**
 * Whether a run is under way because of that act, the last one of a person on it: the same command, given again, follows it.
 * @param choice what was chosen with it.
 */
export async function isUnderWayBy(
  { ledger }: Pick<Home, 'ledger'>,
  { id, state }: RunRecord,
  kind: 'approve' | 'restage',
  choice: LinkChoice | null = null,
): Promise<boolean> {
  if (state !== 'queued' && state !== 'staging' && state !== 'applying') return false;
  const [last] = await ledger.acts.list({ runId: id, limit: 1 });
  return last?.kind === kind && (last.facts.choice ?? null) === choice;
}

/**
 * Whether a run that is not approved any more (`notApproved`) was approved, with the same choice, by another person since it was shown: the
 * run goes on, or has gone on, as this one wanted it to.
 */
export async function wasApprovedMeanwhile(
  { ledger }: Pick<Home, 'ledger'>,
  { id }: RunRecord,
  choice: LinkChoice | null,
): Promise<boolean> {
  const run = await ledger.runs.get(id);
  // Its approval must be the last act on it: a run that was cancelled, or is read anew, does not go on as approved.
  const isGoingOn = run?.state === 'applying' || run?.state === 'done' || run?.state === 'doneWithDead';
  const [last] = isGoingOn ? await ledger.acts.list({ runId: id, limit: 1 }) : [];
  return last?.kind === 'approve' && (last.facts.choice ?? null) === choice;
}

/**
 * Lets a stopped run continue as it was shown: past the guards that stopped it, up to their figures. Its rows are written as
 * they were staged; the file is not read again.
 * @param shown the run as the person saw it.
 * @param choice what becomes of contacts that are there already, without an externalId.
 * @param plan the plan that was shown: contacts whose plan is another one by then are skipped.
 * @throws PatchbayError `usage` `notStopped` | `choiceMissing` | `nothingToLink`; `guard` `notApproved` where the run was cancelled or replaced, or stopped anew,
 *   after it was shown, or where an older file of its feed has written contacts that it found unchanged, or is being written.
 */
export async function approveRun(
  home: Pick<Home, 'ledger' | 'clock' | 'log' | 'actor'>,
  shown: RunRecord,
  why: string | null,
  choice: LinkChoice | null = null,
  plan: Pick<PlanRecord, 'id' | 'checksum'> | null = null,
): Promise<void> {
  const { ledger, clock, log } = home;
  if (shown.state !== 'stopped' || shown.reason === null) {
    const isEnded = shown.state === 'cancelling' || shown.state === 'cancelled';
    const why = isEnded && shown.reason !== null ? `: ${shown.reason.message}` : '';
    const message = `run ${shown.id} cannot be approved: it is not stopped but ${stateWords[shown.state]}${why}`;
    throw new PatchbayError('usage', 'notStopped', message, {
      hint: 'List the stopped runs with: patchbay runs ls --state stopped',
    });
  }
  const asks = asksForLinks(shown.reason);
  if (asks && choice === null) throw choiceMissing(shown, shown.reason);
  if (!asks && choice === 'adopt') throw nothingToLink(shown);
  const chosen = choice === null ? {} : { choice };
  const planned = plan === null ? {} : { plan: { id: plan.id, checksum: plan.checksum } };
  const approval = approvalOf(shown.reason, { reason: why, atMs: clock.nowMs(), ...chosen, ...planned });
  const act = await actOf(home, 'approve', why, {
    stoppedBy: shown.reason.code,
    ...chosen,
    ...(plan === null ? {} : { plan: plan.id }),
  });
  if (!(await ledger.runs.approve(shown.id, approval, act))) {
    const older = await ledger.runs.olderWrites(shown.id);
    throw older === null ? notApproved(shown, await ledger.runs.get(shown.id)) : notAsStaged(shown, older);
  }
  await removeStoppedNote(shown);
  log.info({ run: shown.id, feed: shown.feed, code: shown.reason.code }, 'run approved');
}

function choiceMissing({ id }: RunRecord, { message, hint }: RunReason): PatchbayError {
  const problem = `run ${id} was not approved, since its stop is a choice between two things: ${message}`;
  return new PatchbayError('usage', 'choiceMissing', problem, hint === null ? {} : { hint });
}

function nothingToLink({ id }: RunRecord): PatchbayError {
  const message = `run ${id} was not approved: it was not stopped by contacts without an externalId, so that --adopt has nothing to link`;
  return new PatchbayError('usage', 'nothingToLink', message, { hint: `Look at it: patchbay runs show ${id}` });
}

/** The rows of these contacts are not staged, and would leave them as an older file wrote them. */
function notAsStaged({ id }: RunRecord, older: OlderWrites): PatchbayError {
  if (older.kind === 'underWay') {
    const message = `run ${id} was not approved: run ${older.runId}, of an older file of its feed, is being written`;
    return new PatchbayError('guard', 'notApproved', message, {
      hint: `Approve it again when that one has ended: patchbay runs approve ${id}`,
    });
  }
  const [contacts, were] = older.count === 1 ? ['contact', 'was'] : ['contacts', 'were'];
  const message = `run ${id} was not approved: ${older.count} ${contacts} that it found unchanged ${were} written by an older file of its feed since`;
  return new PatchbayError('guard', 'notApproved', message, {
    hint: `Read its file anew: patchbay runs restage ${id}`,
  });
}

function notApproved(shown: RunRecord, now: RunRecord | null): PatchbayError {
  const why =
    now?.state === 'stopped'
      ? 'it has since been stopped again, for a different reason than the one shown'
      : `it is now ${now === null ? 'gone' : stateWords[now.state]}${now?.reason ? `: ${now.reason.message}` : ''}`;
  return new PatchbayError('guard', 'notApproved', `run ${shown.id} was not approved: ${why}`, {
    hint: `Check it again: patchbay runs show ${shown.id}`,
  });
}

/**
 * Begins to end a run: what was written stays written, the rest is left out. The engine ends it.
 * @throws PatchbayError `usage` `notCancellable` where it has ended already.
 */
export async function cancelRun(
  home: Pick<Home, 'ledger' | 'clock' | 'actor'>,
  run: RunRecord,
  reason: string | null = null,
): Promise<void> {
  const { ledger, clock } = home;
  const moved = await ledger.runs.move(run.id, ['queued', 'staging', 'applying', 'stopped'], 'cancelling', {
    atMs: clock.nowMs(),
    reason: { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} },
    act: await actOf(home, 'cancel', reason, { state: run.state }),
  });
  if (moved) return;
  const { state } = (await ledger.runs.get(run.id)) ?? run;
  const why = state === 'cancelling' ? 'it is being cancelled already' : `it has ended (${stateWords[state]})`;
  throw new PatchbayError('usage', 'notCancellable', `run ${run.id} cannot be cancelled: ${why}`, {
    hint: 'List the runs with: patchbay runs ls. A run can be cancelled until it has ended.',
  });
}

/** How long the end of a cancelled run is waited for. */
const cancelWaitMs = 10_000;
const cancelLookMs = 50;

/** Waits for the end of a run that is being cancelled, whichever engine ends it. @returns whether it came, within ten seconds. */
export async function untilCancelled({ ledger, clock }: Pick<Home, 'ledger' | 'clock'>, id: string): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + cancelWaitMs;
  for (;;) {
    const run = await unlessAway(() => ledger.runs.get(id), undefined);
    if (run === null || (run !== undefined && isFinal(run.state))) return true;
    if (clock.monotonicMs() >= deadlineMs) return false;
    await clock.sleep(cancelLookMs);
  }
}
