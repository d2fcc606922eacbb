/** `patchbay import FILE…`: the whole job, then exit. */
import { rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { isEngineRunning } from '#src/ledger/engine-presence.ts';
import type { RunOptions, RunRecord } from '#src/ledger/runs.ts';
import { isLedgerAway } from '#src/ledger/trouble.ts';
import { waitOut } from '#src/ledger/wait-out.ts';
import { type ErrorDocument, errorDocument } from '#src/operations/error-document.ts';
import {
  checkImportOptions,
  chooseTarget,
  enterFiles,
  type ImportOptions,
  isAnyThere,
  type Patiently,
  readStandardInput,
} from '#src/operations/import.ts';
import { type PlannedImport, planToImport } from '#src/operations/plan.ts';
import type { NamedFile, SubmittedRun } from '#src/runs/enter-run.ts';
import type { InputFormat } from '#src/sources/file-name.ts';
import { withFlagsInHint } from '../exit.ts';
import { perhapsMeant } from '../feed-notes.ts';
import { openDetached } from '../handed-over.ts';
import { listenForInterrupt, reportInterrupted } from '../interrupt.ts';
import { finishOneShot, patienceOf, type Submit } from '../one-shot.ts';
import type { GlobalOptions } from '../open-home.ts';
import { printRefused } from '../outcomes.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { askWhy, terminalOf, whyQuestions } from '../questions.ts';
import { ledgerNotes, openPatiently } from '../waiting.ts';

interface ImportCommandOptions extends GlobalOptions, ImportOptions {
  readonly feed?: string;
  readonly mapping?: string;
  readonly sameWorkspace?: boolean;
  readonly wait?: string;
  readonly detach?: boolean;
  readonly audit?: boolean;
  /** The kept plan to carry out. */
  readonly plan?: string;
  /** Of standard input. */
  readonly format?: InputFormat;
}

export async function importFiles(options: ImportCommandOptions, files: readonly string[]): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const checked = checkImportOptions(options);
  requireSense(options, files);
  const home = await openPatiently(options, 'import', patienceMs);
  let input: ReadInput | null = null;
  try {
    const output = createOutput(options);
    const refused: ErrorDocument[] = [];
    if (files.includes('-')) {
      const read = await readInput(home, output, options);
      if (typeof read === 'number') return read;
      input = read;
      if (read.refused !== undefined) refused.push(read.refused);
    }
    const planned = await openPlan(home, options, input?.file ?? files[0], checked);
    const { choice, newFeed } = planned ?? (await chooseTarget(home, options));
    const named =
      planned === null ? files.flatMap((file) => (file === '-' ? (input?.file ?? []) : file)) : [planned.file];
    if (options.detach === true) requireEngine(home);
    if (newFeed !== null && !checked.verify)
      output.note(
        `creating new feed "${printable(choice.feed.name)}" (no configuration or folder found)${perhapsMeant(newFeed)}`,
      );
    const runOptions = await withReason(options, planned?.options ?? checked, named);
    const onWait = ledgerNotes(output.note, patienceMs);
    const patiently: Patiently = (work) => waitOut({ clock: home.clock, patienceMs, onWait }, work, isLedgerAway);
    const submit: Submit = async (isEngine, onEntered) => {
      const runs: RunRecord[] = [];
      const entering = {
        patiently,
        onEntered: (entered: SubmittedRun): void => {
          const { run } = entered;
          const words = metWords(entered, isEngine && isOwn(home, run));
          if (words !== null) output.note(output.paste(`${printable(run.fileName)}: ${printable(words)}`));
          runs.push(run);
          onEntered(run);
        },
        onRefused: (error: PatchbayError) => refused.push(withFlagsInHint(errorDocument(error), options)),
      };
      await enterFiles(home, named, runOptions, choice, entering);
      return runs;
    };
    if (options.detach === true) return await handOver(home, output, submit, refused);
    return await finishOneShot(
      home,
      { output, patienceMs, sameWorkspace: options.sameWorkspace === true, audit: options.audit === true, refused },
      submit,
    );
  } finally {
    await removeInput(input);
    await home.close();
  }
}

/** A person at a terminal is asked why a run may pass all guards: once nothing is known that refuses it. */
async function withReason(
  options: ImportCommandOptions,
  given: RunOptions,
  named: readonly (string | NamedFile)[],
): Promise<RunOptions> {
  const terminal = options.accept === true && (await isAnyThere(named)) ? terminalOf(options) : null;
  const why = await askWhy(terminal, whyQuestions.report, options.reason);
  return { ...given, acceptReason: why ?? given.acceptReason };
}

function isOwn({ host }: Home, run: RunRecord): boolean {
  return run.host === null || run.host === host?.id;
}

/** What is said of a run of the same content that has not ended; null where there is none. @param isLeft as for `goingOnWords`. */
export function metWords({ run, resumed, uncounted, ahead }: SubmittedRun, isLeft: boolean): string | null {
  if (ahead !== null) {
    const { id } = ahead.run;
    const begun = `begun with other options (${ahead.options.join(', ')})`;
    return `run ${id} of the same file, ${begun}, goes first; to end it: patchbay runs cancel ${id}`;
  }
  if (!resumed) return null;
  const goes = uncounted.length === 1 ? 'does not count' : 'do not count';
  const lost = uncounted.length === 0 ? '' : `, as it was begun: ${uncounted.join(', ')} ${goes}`;
  return `${goingOnWords(run, isLeft)}${lost}`;
}

/**
 * Of a run that was entered for the same content before and has not ended. Only a run that was begun and that no other process can be at work
 * on was interrupted.
 * @param isLeft whether no engine but this process works on it.
 */
export function goingOnWords({ id, state, startedAtMs }: RunRecord, isLeft: boolean): string {
  if (state === 'queued' && startedAtMs === null)
    return `run ${id} holds the same file and has not begun: following it`;
  return isLeft ? `continuing run ${id}, which was interrupted` : `run ${id} is importing the same file: following it`;
}

interface PlannedFile extends PlannedImport {
  readonly newFeed: null;
}

/** `--plan`: the file and its reading are those of the plan; null without it. */
async function openPlan(
  home: Home,
  { plan }: ImportCommandOptions,
  file: string | NamedFile | undefined,
  given: RunOptions,
): Promise<PlannedFile | null> {
  if (plan === undefined) return null;
  const named = typeof file === 'string' ? { path: resolve(file), name: basename(file) } : (file ?? null);
  return { ...(await planToImport(home, plan, named, given)), newFeed: null };
}

interface ReadInput {
  readonly file?: NamedFile;
  readonly refused?: ErrorDocument;
}

/** Reads standard input to its end. @returns the exit code after Ctrl-C. */
async function readInput(home: Home, output: Output, options: ImportCommandOptions): Promise<ReadInput | number> {
  const interrupt = listenForInterrupt(() => undefined);
  try {
    return { file: await readStandardInput(home, options.format ?? null, interrupt.signal) };
  } catch (error) {
    const exitCode = interrupt.exitCode();
    if (exitCode !== null) {
      return reportInterrupted(output, 'interrupted while reading standard input; nothing was imported', exitCode);
    }
    if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
    return { refused: withFlagsInHint(errorDocument(error), options) };
  } finally {
    interrupt.dispose();
  }
}

async function removeInput(input: ReadInput | null): Promise<void> {
  if (input?.file !== undefined) await rm(input.file.path, { force: true });
}

/** @throws PatchbayError `usage` `auditDetached` | `verifyLimited` | `noFile` | `planOptions` | `fileNameEmpty` | `stdinTwice` | `formatNotUsed`. */
function requireSense(options: ImportCommandOptions, files: readonly string[]): void {
  const { audit, detach, format, plan, verify, limit } = options;
  if (plan !== undefined) requirePlanAlone(options, files);
  if (plan === undefined && files.length === 0) {
    throw new PatchbayError('usage', 'noFile', 'no file was named', { hint: 'Name one: patchbay import FILE' });
  }
  if (audit === true && detach === true) {
    throw new PatchbayError('usage', 'auditDetached', '--audit waits for the audit, and --detach waits for nothing', {
      hint: 'Remove one of them. Every run is audited; look at the result later with: patchbay runs show RUN',
    });
  }
  if (plan === undefined && verify === true && limit !== undefined) {
    const message = '--verify looks at each contact of the file, and --limit is of the rows that changed';
    throw new PatchbayError('usage', 'verifyLimited', message, {
      hint: 'Leave out --limit, or name the contacts to look at with --only KEY.',
    });
  }
  if (files.includes('')) {
    throw new PatchbayError('usage', 'fileNameEmpty', 'the name of a file is empty', {
      hint: 'Check the variable or the pattern that the name comes from.',
    });
  }
  const inputs = files.filter((file) => file === '-').length;
  if (inputs > 1) {
    throw new PatchbayError('usage', 'stdinTwice', 'standard input (-) can be read only once', {
      hint: 'Name it once.',
    });
  }
  if (format !== undefined && inputs === 0) {
    throw new PatchbayError('usage', 'formatNotUsed', '--format is for standard input (-) only', {
      hint: 'The format of a file follows from its extension. Rename the file, or pipe it in: patchbay import - --format csv < FILE',
    });
  }
}

/** @throws PatchbayError `usage` `planOptions`. */
function requirePlanAlone(options: ImportCommandOptions, files: readonly string[]): void {
  const { feed, mapping, delimiter, encoding, defaultCountry, onBlank, adopt, createAnyway } = options;
  const { createOnly, updateOnly, only, limit, verify, repair, onGone } = options;
  const ofReading = {
    ...{ feed, mapping, delimiter, encoding, defaultCountry, onBlank, adopt, createAnyway },
    ...{ createOnly, updateOnly, only, limit, verify, repair, onGone },
  };
  const given = Object.entries(ofReading).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0 && files.length <= 1) return;
  const message =
    given.length > 0
      ? 'how the file is read, into which feed, and which of its rows count, is part of the plan'
      : 'a plan is of one file, and several were named';
  throw new PatchbayError('usage', 'planOptions', message, {
    hint: 'Give --plan alone, or with one file; --accept, --max-change, --max-dead and --reason may be added.',
  });
}

/** @throws PatchbayError `usage` `noEngine`. */
function requireEngine(home: Home): void {
  if (isEngineRunning(home)) return;
  throw new PatchbayError('usage', 'noEngine', 'no engine is running to hand the file to', {
    hint: 'Start one with: patchbay start. Or leave out --detach.',
  });
}

/** `--detach`: the running engine does the work. */
async function handOver(
  home: Home,
  output: Output,
  submit: Submit,
  refused: readonly ErrorDocument[],
): Promise<number> {
  // It may have ended while a person was asked.
  requireEngine(home);
  const print = await openDetached(home, output);
  try {
    await submit(false, (run) => print(run, `${printable(run.fileName)}: handed over as run ${run.id}`));
  } finally {
    for (const document of refused) printRefused(output, document);
  }
  return refused[0]?.exitCode ?? 0;
}
