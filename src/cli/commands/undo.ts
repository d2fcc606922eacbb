/** `patchbay runs undo RUN`. */
import type { Home } from '#src/app.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { planDocument } from '#src/operations/plan.ts';
import { findRun } from '#src/operations/runs.ts';
import { beginUndo, planUndoOf, type UndoChoice, undoCommand } from '#src/operations/undo.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { openDetached } from '../handed-over.ts';
import { listenForInterrupt, reportInterrupted } from '../interrupt.ts';
import { finishOneShot, patienceOf } from '../one-shot.ts';
import type { GlobalOptions } from '../open-home.ts';
import { createOutput, type Output } from '../output.ts';
import { type PlanCommands, planLines, presentPlan } from '../present-plan.ts';
import { askDecision, terminalOf, whyQuestions } from '../questions.ts';
import { tellReadingWaits } from '../reading-waits.ts';
import { openPatiently } from '../waiting.ts';
import { createBar, untilShown, waitNote, withService } from './plan.ts';

interface UndoOptions extends GlobalOptions {
  readonly deleteCreated?: boolean;
  readonly plan?: boolean;
  readonly accept?: boolean;
  readonly reason?: string;
  readonly wait?: string;
  readonly detach?: boolean;
}

/** Contacts of each group that are shown. */
const contactsShown = 20;

/** On a terminal what would be written is shown and the person is asked, unless `--yes` has answered. */
export async function undo(options: UndoOptions, id: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openPatiently(options, 'act', patienceMs);
  try {
    const output = createOutput(options);
    const run = await findRun(home, id);
    const terminal = options.plan === true ? null : terminalOf(options);
    const looked = options.plan === true || terminal !== null ? await look(home, output, options, run) : null;
    if (typeof looked === 'number') return looked;
    await using shown = looked;
    const { values } = output;
    const choice = choiceOf(options);
    if (options.plan === true && shown !== null) {
      if (output.json)
        await output.longDocument(planDocument(shown, { limit: Number.POSITIVE_INFINITY, values }, exitCodes.done));
      else await output.lines(planLines(output, shown, { limit: contactsShown, values }, commandsOf(run, choice)));
      return exitCodes.done;
    }
    const text =
      shown === null ? '' : await presentPlan(output, shown, { limit: contactsShown, values }, commandsOf(run, choice));
    const asked = { shown: text, question: 'Undo this?', whyQuestion: whyQuestions.report, given: options.reason };
    const answer = await askDecision(terminal, asked);
    if (!answer.isYes) {
      output.note('nothing was undone');
      return exitCodes.guard;
    }
    const submit = async () => {
      const planned = shown?.isKept === true ? { plan: shown.plan } : {};
      const entered = await beginUndo(home, run, {
        ...choice,
        accept: options.accept === true,
        reason: answer.why,
        ...planned,
      });
      if (!entered.isNew) output.note(`run ${entered.run.id} undoes run ${run.id} already: going on with it`);
      return [entered.run];
    };
    if (options.detach === true) {
      const print = await openDetached(home, output);
      for (const entered of await submit())
        print(entered, `run ${entered.id} undoes run ${run.id}: done by the running engine, or the next one`);
      return exitCodes.done;
    }
    return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, submit);
  } finally {
    await home.close();
  }
}

function choiceOf({ deleteCreated }: UndoOptions): UndoChoice {
  return { deleteCreated: deleteCreated === true };
}

function commandsOf(run: RunRecord, choice: UndoChoice): PlanCommands {
  const command = undoCommand(run, choice);
  return { carryOut: command, all: `all of it: ${command} --plan --json` };
}

/** @returns the exit code after Ctrl-C. */
async function look(home: Home, output: Output, options: UndoOptions, run: RunRecord): Promise<MadePlan | number> {
  const bar = createBar(output);
  const interrupt = listenForInterrupt(() => bar.clear());
  const { signal } = interrupt;
  try {
    const session = { patienceMs: patienceOf(options.wait), signal, sameWorkspace: false };
    const waits = tellReadingWaits(home, output);
    return await withService(home, waits, session, (service) =>
      planUndoOf(service, home.submit, run, choiceOf(options), {
        signal,
        onProgress: untilShown(waits, bar.update),
        onWait: waitNote(output),
      }),
    );
  } catch (error) {
    const code = interrupt.exitCode();
    if (code === null) throw error;
    return reportInterrupted(output, 'interrupted; nothing was undone', code);
  } finally {
    bar.clear();
    interrupt.dispose();
  }
}
