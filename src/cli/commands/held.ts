/** `patchbay held ls|take`: fields that file and app changed differently, and what a person decides about them. */
import type { Home } from '#src/app.ts';
import { finishOneShot } from '#src/cli/one-shot.ts';
import type { GlobalOptions } from '#src/cli/open-home.ts';
import { PatchbayError } from '#src/errors.ts';
import type { HeldRecord } from '#src/ledger/contacts.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { type HeldChoice, heldPerDecisionMax, listHeld, takeHeld } from '#src/runs/take-held.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { heldDocument, heldTable } from '../present-held.ts';
import { askYes, terminalOf } from '../terminal.ts';

interface ChoiceOptions extends GlobalOptions {
  readonly feed?: string;
  readonly field?: string;
}

interface ListOptions extends ChoiceOptions {
  readonly limit: number;
}

export async function listHeldFields(options: ListOptions, keys: readonly string[]): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const choice = choiceOf(options, keys);
    const held = await listHeld(home, choice, options.limit);
    if (output.json) {
      for (const one of held) output.document(heldDocument(one, output.values));
      return exitCodes.done;
    }
    const [first] = held;
    if (first === undefined) {
      output.line(keys.length === 0 ? 'no held fields' : `no held fields of ${keys.map(printable).join(', ')}`);
      return exitCodes.done;
    }
    output.line(heldTable(output, held));
    const more = (await home.ledger.contacts.heldCount(choice)) - held.length;
    if (more > 0) output.line(`… and ${more} more: patchbay held ls --limit ${held.length + more}`);
    output.line(`write the file's value: ${takeCommand(home, output, 'file', first)}`);
    output.line(`keep the app's value:   ${takeCommand(home, output, 'app', first)}`);
    return exitCodes.done;
  } finally {
    await home.close();
  }
}

/** As it is to be typed for the first one of the list. */
function takeCommand({ mode }: Home, { values }: Output, side: Side, { key, field }: HeldRecord): string {
  const named = values ? quoted(key) : 'KEY';
  return `patchbay held take ${side} ${named} --field ${quoted(field)}${mode === 'sandbox' ? ' --sandbox' : ''}`;
}

/** One word for a shell. */
function quoted(text: string): string {
  return /^[\w@.+:/][\w@.+:/-]*$/.test(text) ? text : `'${printable(text).replaceAll("'", `'\\''`)}'`;
}

type Side = 'file' | 'app';

interface TakeOptions extends ChoiceOptions {
  readonly all?: boolean;
  readonly wait?: string;
  readonly detach?: boolean;
}

export async function takeHeldFields(options: TakeOptions, side: Side, keys: readonly string[]): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const isChosen = keys.length > 0 || options.feed !== undefined || options.field !== undefined;
  if (!isChosen && options.all !== true) {
    throw new PatchbayError('usage', 'nothingChosen', 'say which held fields to decide about', {
      hint: `Name their keys, or use --field FIELD, --feed FEED or --all: patchbay held take ${side} --all`,
    });
  }
  // The app's value stays as it is: nothing is sent, and no service is needed.
  const home = await openCliHome(options, side === 'file' ? 'work' : 'look');
  try {
    const output = createOutput(options);
    const shown = await listHeld(home, choiceOf(options, keys));
    requireFound(output, keys, shown);
    const terminal = terminalOf(options);
    if (terminal !== null && !(await askYes(terminal, willHappen(output, side, shown), 'Go on?'))) {
      output.note('nothing was decided');
      return exitCodes.guard;
    }
    return side === 'app'
      ? await takeApp(home, output, shown)
      : await takeFile(home, output, { ...options, patienceMs }, shown);
  } finally {
    await home.close();
  }
}

function choiceOf({ feed, field }: ChoiceOptions, keys: readonly string[]): HeldChoice {
  return {
    ...(feed === undefined ? {} : { feed }),
    ...(field === undefined ? {} : { field }),
    ...(keys.length === 0 ? {} : { keys }),
  };
}

/** @throws PatchbayError `usage` `noHeldFields`. Keys without any are told. */
function requireFound(output: Output, keys: readonly string[], shown: readonly HeldRecord[]): void {
  if (shown.length === 0) {
    throw new PatchbayError('usage', 'noHeldFields', 'no held field fits this choice', {
      hint: 'See what waits with: patchbay held ls',
    });
  }
  const found = new Set(shown.map(({ key }) => key));
  const missing = keys.filter((key) => !found.has(key)).map(printable);
  if (missing.length > 0) output.note(`no held field fits ${missing.join(', ')}`);
  if (shown.length === heldPerDecisionMax)
    output.note(`this decides about the first ${heldPerDecisionMax}; run the same command again for the others`);
}

const shownBeforeQuestion = 20;

function willHappen(output: Output, side: Side, shown: readonly HeldRecord[]): string {
  const more = shown.length - shownBeforeQuestion;
  const what =
    side === 'file'
      ? `The file's value is written over the app's: ${counted(shown.length)}.`
      : `The app's value stays, and the file's is left out: ${counted(shown.length)}.`;
  const table = heldTable(output, shown.slice(0, shownBeforeQuestion));
  return [table, ...(more > 0 ? [`… and ${more} more`] : []), what].join('\n');
}

async function takeApp(home: Home, output: Output, shown: readonly HeldRecord[]): Promise<number> {
  const { taken, moved } = await decide(home, output, 'app', shown);
  if (output.json) {
    output.document({ taken: 'app', fields: taken, moved, exitCode: exitCodes.done });
  } else {
    output.line(`${counted(taken)}: the app's value stays; another value in the file is held again`);
  }
  return exitCodes.done;
}

async function takeFile(
  home: Home,
  output: Output,
  { patienceMs, detach }: { readonly patienceMs: number; readonly detach?: boolean },
  shown: readonly HeldRecord[],
): Promise<number> {
  // A decision stands where no engine can be started for it: the next one writes.
  const submit = async () => (await decide(home, output, 'file', shown)).runs.map((run) => ({ run, isNew: false }));
  if (detach !== true) {
    return finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, submit);
  }
  for (const { run } of await submit()) {
    if (output.json) output.document({ run: run.id, state: run.state, exitCode: exitCodes.done });
    else output.line(`run ${run.id} writes ${run.fileName} with the running engine, or the next one`);
  }
  return exitCodes.done;
}

/** @throws PatchbayError `guard` `heldMoved` where none is as it was shown; those that are not are told. */
async function decide(home: Home, output: Output, side: Side, shown: readonly HeldRecord[]) {
  const { rowsPerBatch } = home.config.upsert;
  const { taken, moved, runs } = await takeHeld({ ...home.submit, identity: home.identity, rowsPerBatch }, side, shown);
  if (taken.length === 0) {
    throw new PatchbayError('guard', 'heldMoved', 'the held fields have changed since they were read', {
      hint: 'Nothing was decided. See them anew with: patchbay held ls',
    });
  }
  if (moved.length > 0)
    output.note(`${counted(moved.length)} changed meanwhile, and nothing was decided about them: patchbay held ls`);
  return { taken: taken.length, moved: moved.length, runs };
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'field' : 'fields'}`;
}
