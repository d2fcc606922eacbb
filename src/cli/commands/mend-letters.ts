/** `patchbay dead edit|drop|export`. */

import { resolve } from 'node:path';
import { PatchbayError } from '#src/errors.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import type { LetterSelection } from '#src/operations/letter-selection.ts';
import { chooseToDrop, dropLetters, editLetter, exportDeadLetters } from '#src/operations/mend-letters.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { shellWord } from '#src/shell-words.ts';
import { noteUnknownFeed } from '../feed-notes.ts';
import { openDetached } from '../handed-over.ts';
import { finishOneShot, patienceOf } from '../one-shot.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput } from '../output.ts';
import { askDecision, askWhy, type Decision, terminalOf, whyQuestions } from '../questions.ts';
import { openPatiently } from '../waiting.ts';

interface EditOptions extends GlobalOptions {
  readonly set?: readonly string[];
  readonly reason?: string;
  readonly wait?: string;
  readonly detach?: boolean;
}

/** Works until the row has gone in or is rejected again, unless detached. */
export async function editDead(options: EditOptions, id: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const { set = [], reason = null } = options;
  if (set.length === 0) {
    throw new PatchbayError('usage', 'nothingChosen', 'nothing was set', {
      hint: `Say which cell gets which value: patchbay dead edit ${id} --set "Phone=+14155550100". Its cells: patchbay dead show ${id}`,
    });
  }
  const home = await openPatiently(options, 'act', patienceMs);
  try {
    const output = createOutput(options);
    const submit = async () => [await editLetter(home, id, set, reason)];
    if (options.detach !== true) {
      return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, submit);
    }
    const print = await openDetached(home, output);
    for (const run of await submit())
      print(run, `${run.fileName}: tried again as run ${run.id} by the running engine, or the next one`);
    return exitCodes.done;
  } finally {
    await home.close();
  }
}

interface DropOptions extends GlobalOptions, Omit<LetterSelection, 'ids'> {
  readonly reason?: string;
}

export async function dropDead(options: DropOptions, named: readonly string[]): Promise<number> {
  const ids = [...new Set(named)];
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    await noteUnknownFeed(home, output, options.feed);
    const chosen = await chooseToDrop(home, { ...options, ids });
    const { isYes, why } = await askDropping(options, ids);
    if (!isYes) {
      output.note('nothing was dropped');
      return exitCodes.guard;
    }
    const { letters, notices } = await dropLetters(home, chosen, why);
    const dropped = letters + notices;
    if (output.json) output.document({ dropped, exitCode: exitCodes.done });
    if (!output.json && letters > 0)
      output.line(`${counted(letters, 'dead letter')} dropped; a file that brings such a row again opens it again`);
    if (!output.json && notices > 0) output.line(`${counted(notices, 'notice')} dropped: not sent any more`);
    const left = ids.length - dropped;
    if (left > 0) output.note(output.paste(`${left} of those named were not open: patchbay dead ls --state all`));
    return exitCodes.done;
  } finally {
    await home.close();
  }
}

/** Without ids a person at a terminal is asked, unless `--yes` has answered: what fits may be more than was meant. */
async function askDropping(options: DropOptions, ids: readonly string[]): Promise<Decision> {
  const terminal = terminalOf(options);
  const [given, whyQuestion] = [options.reason, whyQuestions.acts];
  if (ids.length > 0) return { isYes: true, why: await askWhy(terminal, whyQuestion, given) };
  const shown =
    'This drops all open dead letters that fit: their rows do not go in, and notices among them are not sent.';
  return askDecision(terminal, { shown, question: 'Continue?', whyQuestion, given });
}

interface ExportOptions extends GlobalOptions, Omit<LetterSelection, 'ids'> {
  readonly output?: string;
}

export async function exportDead(options: ExportOptions, ids: readonly string[]): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    await noteUnknownFeed(home, output, options.feed);
    const folder = options.output === undefined ? null : resolve(options.output);
    for (const { file, feed, letters } of await exportDeadLetters(home, { ...options, ids }, folder)) {
      if (output.json) output.document({ file, feed, letters });
      else output.line(`${shellWord(file)}: ${counted(letters, 'row')} of feed ${feed}`);
    }
    output.note('fix the rows and drop the files in again');
    return exitCodes.done;
  } finally {
    await home.close();
  }
}
