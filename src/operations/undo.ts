/**
 * Undo: takes back what a run wrote, as a run of its own (`docs/plans.md`, "Undo"). Look at it first, or begin it.
 */
import { createHash } from 'node:crypto';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { PlanRecord } from '#src/ledger/plans.ts';
import { isFinal, type NewRun, noOptions, type RunOptions, type RunRecord } from '#src/ledger/runs.ts';
import { onDraft, openDraft } from '#src/plans/draft-file.ts';
import { type MadePlan, makePlan } from '#src/plans/make-plan.ts';
import { importFolderOf, type SubmitParts } from '#src/runs/enter-run.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { stageUndo } from '#src/runs/stage-undo.ts';
import { actOf } from './acts.ts';
import type { PlanRequest, PlanService } from './plan.ts';
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
  { reading, plan, draftsFolder }: PlanService,
  submit: SubmitParts,
  undone: RunRecord,
  choice: UndoChoice,
  { signal, onProgress }: Pick<PlanRequest, 'signal' | 'onProgress'>,
): Promise<MadePlan> {
  await requireUndoable(submit, undone);
  const draft = await openDraft(plan.ledger, draftsFolder);
  try {
    const { ledger } = draft;
    const entered = await ledger.runs.create(undoRun(submit, undone, { ...choice, accept: false, reason: null }));
    await stageUndo(onDraft(reading, draft), entered, signal);
    const run = (await ledger.runs.get(entered.id)) ?? entered;
    const kept = { runId: null, path: null, reading: null, mappingNamed: null, undoes: undone.id };
    const made = await makePlan(plan, { run, ledger, only: null, kept, signal, onProgress });
    const { stop } = made.plan;
    if (stop === null) return made;
    const hint = `The undo stops there and waits for an approval. If this is expected: patchbay runs undo ${undone.id} --accept`;
    return { ...made, plan: { ...made.plan, stop: { ...stop, hint } } };
  } finally {
    await draft.close();
  }
}

export interface UndoRequest extends UndoChoice {
  /** Passes the guards on the staged run. */
  readonly accept: boolean;
  readonly reason: string | null;
  /** The plan that was shown: contacts for which something else would be written by then are skipped. */
  readonly plan?: Pick<PlanRecord, 'id'>;
}

/**
 * Enters the run that takes back what that run wrote. The engine does the rest.
 * @throws PatchbayError `usage` `runNotEnded` | `nothingToUndo`.
 */
export async function beginUndo(
  home: Pick<Home, 'ledger' | 'clock' | 'log' | 'actor' | 'submit'>,
  undone: RunRecord,
  request: UndoRequest,
): Promise<RunRecord> {
  await requireUndoable(home, undone);
  const { deleteCreated, reason } = request;
  const act = await actOf(home, 'undo', reason, { undoes: undone.id, deleteCreated });
  const run = await home.ledger.runs.create(undoRun(home.submit, undone, request), act);
  home.log.info({ run: run.id, feed: run.feed, undoes: undone.id }, 'undo entered');
  return run;
}

async function requireUndoable({ ledger }: Pick<Home, 'ledger'>, { id, state }: RunRecord): Promise<void> {
  if (!isFinal(state)) {
    throw new PatchbayError('usage', 'runNotEnded', `run ${id} has not ended: it is ${stateWords[state]}`, {
      hint: `Wait for its end, or cancel it first: patchbay runs cancel ${id}`,
    });
  }
  if ((await ledger.contacts.journal({ runId: id, limit: 1 })).length > 0) return;
  throw new PatchbayError('usage', 'nothingToUndo', `run ${id} has written nothing that the ledger still knows`, {
    hint: `What runs wrote is kept for data.keepJournal. Look at the run: patchbay runs show ${id}`,
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
