/**
 * Undo: takes back what a run wrote, as a run of its own (`docs/plans.md`, "Undo"). Look at it first, or begin it.
 */
import { createHash } from 'node:crypto';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { eachRun } from '#src/ledger/paged-lists.ts';
import type { PlanRecord } from '#src/ledger/plans.ts';
import { isFinal, type NewRun, noOptions, openRunStates, type RunOptions, type RunRecord } from '#src/ledger/runs.ts';
import { onDraft, openDraft } from '#src/plans/draft-file.ts';
import { type MadePlan, makePlan } from '#src/plans/make-plan.ts';
import { importFolderOf, type SubmitParts } from '#src/runs/enter-run.ts';
import { asksForLinks } from '#src/runs/guard-reason.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { isStopOfStagedUndo, stageUndo } from '#src/runs/stage-undo.ts';
import { actOf } from './acts.ts';
import type { PlanFollowing, PlanService } from './plan.ts';
import { approveRun } from './run-acts.ts';
import { stateWords } from './runs.ts';

export interface UndoChoice {
  /** Contacts that the run made are deleted, where they are still as it left them. */
  readonly deleteCreated: boolean;
}

/**
 * What undoing the run would write. Nothing is written but the plan itself.
 * @throws PatchbayError as `beginUndo`; `auth`, `unreachable`; the signal's reason.
 */
export async function planUndoOf(
  { reading, plan }: PlanService,
  submit: SubmitParts,
  undone: RunRecord,
  choice: UndoChoice,
  following: PlanFollowing,
): Promise<MadePlan> {
  await requireUndoable(submit, undone);
  const draft = await openDraft(plan, plan.draftsFolder);
  try {
    const { ledger } = draft;
    const entered = await ledger.runs.create(undoRun(submit, undone, { ...choice, accept: false, reason: null }));
    await stageUndo(onDraft(reading, draft), entered, following.signal);
    const run = (await ledger.runs.get(entered.id)) ?? entered;
    const kept = { runId: null, path: null, reading: null, mappingNamed: null, undoes: undone.id };
    const made = await makePlan(plan, { run, ledger, only: null, kept, ...following });
    const { stop } = made.plan;
    if (stop === null) return made;
    const hint = asksForLinks(stop)
      ? `The undo stops there and asks: people may have made these contacts again by hand. Begin it with: ${undoCommand(undone, choice)}`
      : `The undo stops there and waits for an approval. If this is expected: ${undoCommand(undone, choice)} --accept`;
    return { ...made, plan: { ...made.plan, stop: { ...stop, hint } } };
  } finally {
    await draft.close();
  }
}

/** What to type for it. */
export function undoCommand({ id }: Pick<RunRecord, 'id'>, { deleteCreated }: UndoChoice): string {
  return `patchbay runs undo ${id}${deleteCreated ? ' --delete-created' : ''}`;
}

export interface UndoRequest extends UndoChoice {
  /** Passes the guards on the staged run; one that they have stopped is approved. */
  readonly accept: boolean;
  readonly reason: string | null;
  /** The plan that was shown: contacts for which something else would be written by then are skipped. */
  readonly plan?: Pick<PlanRecord, 'id' | 'checksum'>;
}

/**
 * Enters the run that takes back what that run wrote. The engine does the rest. One that has been entered and has not ended, as after
 * a crash, is gone on with: the same command again makes no second one. With `accept` one that guards on the staged run have stopped is
 * approved.
 * @throws PatchbayError `usage` `runNotEnded` | `nothingToUndo`; `undoUnderWay` where one is under way that this one differs from;
 *   `guard` `notApproved` where it was decided about meanwhile.
 */
export async function beginUndo(
  home: Pick<Home, 'ledger' | 'clock' | 'log' | 'actor' | 'submit'>,
  undone: RunRecord,
  request: UndoRequest,
): Promise<{ readonly run: RunRecord; readonly isNew: boolean }> {
  await requireUndoable(home, undone);
  const { deleteCreated, accept, plan, reason } = request;
  const underWay = await undoUnderWay(home, undone);
  if (underWay !== null) {
    requireSame(underWay, undone, request);
    // Guards that watch the writing are passed by an approval alone.
    if (!accept || underWay.state !== 'stopped' || underWay.reason === null || !isStopOfStagedUndo(underWay.reason))
      return { run: underWay, isNew: false };
    await approveRun(home, underWay, reason, null, plan ?? null);
    return { run: (await home.ledger.runs.get(underWay.id)) ?? underWay, isNew: false };
  }
  const facts = { undoes: undone.id, deleteCreated, accept, ...(plan === undefined ? {} : { plan: plan.id }) };
  const act = await actOf(home, 'undo', reason, facts);
  const run = await home.ledger.runs.create(undoRun(home.submit, undone, request), act);
  home.log.info({ run: run.id, feed: run.feed, undoes: undone.id }, 'undo entered');
  return { run, isNew: true };
}

/** Also one that guards have stopped: it waits for an approval. */
async function undoUnderWay({ ledger }: Pick<Home, 'ledger'>, undone: RunRecord): Promise<RunRecord | null> {
  for await (const run of eachRun(ledger.runs, { states: openRunStates, feed: undone.feed }))
    if (run.options.undoes === undone.id && run.state !== 'cancelling') return run;
  return null;
}

function requireSame({ id, state, options }: RunRecord, undone: RunRecord, { deleteCreated }: UndoChoice): void {
  if (options.deleteCreated === deleteCreated) return;
  const how = options.deleteCreated ? 'and deletes what that run made' : 'and deletes nothing';
  const message = `run ${id} undoes run ${undone.id} already: it is ${stateWords[state]}, ${how}`;
  const hint = `Wait for its end, or cancel it: patchbay runs cancel ${id}`;
  throw new PatchbayError('usage', 'undoUnderWay', message, { hint });
}

async function requireUndoable(
  { ledger }: Pick<Home, 'ledger'>,
  { id, feed, state, reason }: RunRecord,
): Promise<void> {
  if (!isFinal(state)) {
    throw new PatchbayError('usage', 'runNotEnded', `run ${id} has not ended: it is ${stateWords[state]}`, {
      hint: `Wait for its end, or cancel it first: patchbay runs cancel ${id}`,
    });
  }
  if ((await ledger.contacts.journal({ runId: id, limit: 1 })).length > 0) return;
  throw new PatchbayError('usage', 'nothingToUndo', `run ${id} has written nothing that the ledger still knows`, {
    hint: [
      ...(reason?.facts.inDoubt === undefined
        ? []
        : [
            `Of some of its writes no answer came: the next run that looks these contacts up counts what landed. If that is a run of feed ${feed}, its undo takes it back.`,
          ]),
      `What runs wrote is kept for data.keepJournal. Look at the run: patchbay runs show ${id}`,
    ].join('\n'),
  });
}

function undoRun(parts: SubmitParts, undone: RunRecord, request: UndoRequest): NewRun {
  const createdAtMs = parts.clock.nowMs();
  const id = newRunId(createdAtMs);
  const options: RunOptions = {
    ...noOptions,
    undoes: undone.id,
    deleteCreated: request.deleteCreated,
    accept: request.accept,
    acceptReason: request.reason,
    planId: request.plan?.id ?? null,
  };
  return {
    ...{ id, feed: undone.feed, kind: 'undo', fileName: `undo of ${undone.fileName}`, claimedPath: '' },
    importFolder: importFolderOf(parts),
    sha256: createHash('sha256').update(`undo ${id}`).digest('hex'),
    ...{ bytes: 0, options, mapping: undone.mapping, host: parts.host, createdAtMs },
  };
}
