/** `patchbay held ls|take|export`. */

import { resolve } from 'node:path';
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import type { HeldSide } from '#src/contacts/take-held.ts';
import { PatchbayError } from '#src/errors.ts';
import type { HeldRecord } from '#src/ledger/contacts.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import {
  choiceOfListed,
  chooseHeld,
  exportHeld,
  type HeldChoice,
  type HeldOfFile,
  type HeldQuery,
  type HeldTaken,
  heldBySeveral,
  heldDocument,
  heldPages,
  heldPerDecisionMax,
  heldTakeCommand,
  readHeldPage,
  takeHeld,
} from '#src/operations/held-fields.ts';
import { findRun } from '#src/operations/runs.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { shellWord } from '#src/shell-words.ts';
import { fileAndLine } from '#src/sources/row.ts';
import type { Again } from '../describe.ts';
import { noteUnknownFeed } from '../feed-notes.ts';
import { openDetached } from '../handed-over.ts';
import { finishOneShot, patienceOf, type Submit } from '../one-shot.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { instantText, valueText } from '../present-values.ts';
import { askDecision, terminalOf, whyQuestions } from '../questions.ts';
import { openPatiently } from '../waiting.ts';

interface ChoiceOptions extends GlobalOptions {
  readonly feed?: string;
  readonly field?: string;
  readonly key?: readonly string[];
  readonly run?: string;
}

interface ListOptions extends ChoiceOptions {
  readonly limit?: number;
  readonly again: Again;
}

/** Unless `--limit` says how many. */
const listedInTextMax = 1_000;

export async function listHeldFields(options: ListOptions, keys: readonly string[]): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const choice = await choiceOf(home, options, keys);
    await noteUnknownFeed(home, output, options.feed);
    if (output.json) {
      await output.documents(listDocuments(home, output, { ...choice, ...limitOf(options) }));
      return exitCodes.done;
    }
    const { held, moreCount } = await readHeldPage(home, { limit: listedInTextMax, ...choice, ...limitOf(options) });
    const [first] = held;
    if (first === undefined) {
      output.line(keys.length === 0 ? 'no held fields' : `no held fields of ${keys.map(printable).join(', ')}`);
      return exitCodes.done;
    }
    output.line(heldTable(output, held));
    if (moreCount > 0)
      output.line(output.paste(`… and ${moreCount} more: ${options.again({ limit: held.length + moreCount })}`));
    const chosen = await choiceOfListed(home, first, choice);
    output.line(output.paste(`write the file's value: ${heldTakeCommand('file', first, output.values, chosen)}`));
    output.line(output.paste(`keep the app's value:   ${heldTakeCommand('app', first, output.values, chosen)}`));
    return exitCodes.done;
  } finally {
    await home.close();
  }
}

function limitOf({ limit }: ListOptions): { readonly limit?: number } {
  return limit === undefined ? {} : { limit };
}

async function* listDocuments(home: Home, { values }: Output, query: HeldQuery): AsyncGenerator<object> {
  for await (const page of heldPages(home, query)) yield* page.map((one) => heldDocument(one, values));
}

function heldTable(output: Output, held: readonly HeldOfFile[]): string {
  const rows = held.map(({ feed, key, field, ours, theirs, runId, line, sinceMs, sourceFile }) => [
    feed,
    ...(output.values ? [key] : []),
    field,
    ...(output.values ? [valueText(ours), valueText(theirs)] : []),
    instantText(isoInstant(sinceMs)),
    fileAndLine(sourceFile ?? `run ${runId}`, { line }),
  ]);
  const ofValues = output.values ? ['file', 'app'] : [];
  return output.table(['feed', ...(output.values ? ['key'] : []), 'field', ...ofValues, 'since', 'from'], rows);
}

interface TakeOptions extends ChoiceOptions {
  readonly all?: boolean;
  readonly reason?: string;
  readonly wait?: string;
  readonly detach?: boolean;
}

/** On a terminal the fields are shown and the person is asked, unless `--yes` has answered. */
export async function takeHeldFields(options: TakeOptions, side: HeldSide, keys: readonly string[]): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const { feed, field, key = [], run } = options;
  const isChosen = keys.length + key.length > 0 || [feed, field, run].some((given) => given !== undefined);
  if (!isChosen && options.all !== true) {
    throw new PatchbayError('usage', 'nothingChosen', 'no held fields were chosen', {
      hint: 'Name keys, or use --field FIELD, --feed FEED, --run RUN or --all. List the held fields first: patchbay held ls',
    });
  }
  // To keep the app's value nothing is sent, and no service is needed.
  const home = await openPatiently(options, side === 'file' ? 'act' : 'look', patienceMs);
  try {
    const output = createOutput(options);
    await noteUnknownFeed(home, output, options.feed);
    const { held, missingKeys } = await chooseHeld(home, await choiceOf(home, options, keys));
    if (missingKeys.length > 0) output.note(`no held field fits ${missingKeys.map(printable).join(', ')}`);
    if (held.length === heldPerDecisionMax)
      output.note(`this decides about the first ${heldPerDecisionMax}; run the same command again for the others`);
    if (side === 'file') noteSeveral(output, held);
    const shown = preview(output, side, held);
    const asked = { shown, question: 'Continue?', whyQuestion: whyQuestions.acts, given: options.reason };
    const { isYes, why } = await askDecision(terminalOf(options), asked);
    if (!isYes) {
      output.note('nothing was decided');
      return exitCodes.guard;
    }
    return side === 'app'
      ? await takeApp(home, output, why, held)
      : await takeFile(home, output, { ...options, patienceMs, why }, held);
  } finally {
    await home.close();
  }
}

interface ExportOptions extends ChoiceOptions {
  readonly output: string;
}

export async function exportHeldFields(options: ExportOptions, keys: readonly string[]): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const file = resolve(options.output);
    await noteUnknownFeed(home, output, options.feed);
    const fields = await exportHeld(home, await choiceOf(home, options, keys), file);
    if (output.json) output.document({ file, fields });
    else output.line(`${shellWord(file)}: ${counted(fields, 'held field')}`);
    return exitCodes.done;
  } finally {
    await home.close();
  }
}

async function choiceOf(
  home: Home,
  { feed, field, key = [], run }: ChoiceOptions,
  named: readonly string[],
): Promise<HeldChoice> {
  const keys = [...named, ...key];
  return {
    ...(run === undefined ? {} : { runId: (await findRun(home, run)).id }),
    ...(feed === undefined ? {} : { feed }),
    ...(field === undefined ? {} : { field }),
    ...(keys.length === 0 ? {} : { keys }),
  };
}

/** Says beforehand whose value stays of fields that several feeds hold, and how to decide for another one. */
function noteSeveral(output: Output, held: readonly HeldRecord[]): void {
  const several = heldBySeveral(held);
  const [first, last] = [several[0]?.[0], several[0]?.at(-1)];
  if (first === undefined || last === undefined) return;
  const what =
    several.length === 1
      ? `1 field is held for several feeds, and the value of the last one stays: ${printable(last.feed)}`
      : `${several.length} fields are held for several feeds, and the value of the last one of each stays, as ${printable(last.feed)} for the first of them`;
  const forFirst = heldTakeCommand('file', first, output.values, { feed: first.feed });
  output.note(output.paste(`${what}; to decide for another feed alone: ${forFirst}`));
}

const shownBeforeQuestion = 20;

function preview(output: Output, side: HeldSide, held: readonly HeldOfFile[]): string {
  const more = held.length - shownBeforeQuestion;
  const fields = counted(held.length, 'field');
  const what =
    side === 'file'
      ? `This writes the file's value over the app's: ${fields}.`
      : `This keeps the app's value and drops the file's: ${fields}.`;
  const table = heldTable(output, held.slice(0, shownBeforeQuestion));
  return [table, ...(more > 0 ? [`… and ${more} more`] : []), what].join('\n');
}

async function takeApp(home: Home, output: Output, why: string | null, held: readonly HeldRecord[]): Promise<number> {
  const { taken, moved } = await decide(home, output, { side: 'app', why }, held);
  if (output.json) {
    output.document({ taken: 'app', fields: taken.length, moved: moved.length, exitCode: exitCodes.done });
  } else {
    const fields = counted(taken.length, 'field');
    output.line(`${fields}: the app's value stays; a different value in the file will be held again`);
  }
  return exitCodes.done;
}

async function takeFile(
  home: Home,
  output: Output,
  {
    patienceMs,
    detach,
    why,
  }: Pick<TakeOptions, 'detach'> & { readonly patienceMs: number; readonly why: string | null },
  held: readonly HeldRecord[],
): Promise<number> {
  const decision = { side: 'file', why } as const;
  const submit: Submit = async (_isEngine, onEntered) => (await decide(home, output, decision, held, onEntered)).runs;
  if (detach !== true) {
    return finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, submit);
  }
  const print = await openDetached(home, output);
  await submit(false, (run) =>
    print(run, `${run.fileName}: written as run ${run.id} by the running engine, or the next one`),
  );
  return exitCodes.done;
}

async function decide(
  home: Home,
  output: Output,
  { side, why }: { readonly side: HeldSide; readonly why: string | null },
  held: readonly HeldRecord[],
  onEntered?: (run: RunRecord) => void,
): Promise<HeldTaken> {
  const result = await takeHeld(home, side, held, why, onEntered);
  if (result.moved.length > 0) {
    const fields = counted(result.moved.length, 'field');
    output.note(
      output.paste(
        `${fields} changed meanwhile; nothing was decided about ${result.moved.length === 1 ? 'it' : 'them'}: patchbay held ls`,
      ),
    );
  }
  return result;
}
