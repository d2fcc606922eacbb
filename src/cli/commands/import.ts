/** `patchbay import FILE…`: the whole job, then exit. */
import { rm } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import { isEngineRunning } from '#src/ledger/engine-presence.ts';
import { type ErrorDocument, errorDocument } from '#src/operations/error-document.ts';
import {
  checkImportOptions,
  chooseTarget,
  enterFiles,
  type ImportOptions,
  readStandardInput,
} from '#src/operations/import.ts';
import type { NamedFile } from '#src/runs/enter-run.ts';
import type { InputFormat } from '#src/sources/file-name.ts';
import { withFlagsInHint } from '../exit.ts';
import { listenForInterrupt, reportInterrupted } from '../interrupt.ts';
import { type EnteredRun, finishOneShot, patienceOf, printRefused } from '../one-shot.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';

interface ImportCommandOptions extends GlobalOptions, ImportOptions {
  readonly feed?: string;
  readonly mapping?: string;
  readonly sameWorkspace?: boolean;
  readonly wait?: string;
  readonly detach?: boolean;
  readonly audit?: boolean;
  /** Of standard input. */
  readonly format?: InputFormat;
}

export async function importFiles(options: ImportCommandOptions, files: readonly string[]): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const runOptions = checkImportOptions(options);
  requireSense(options, files);
  const home = await openCliHome(options, 'import');
  let input: ReadInput | null = null;
  try {
    const output = createOutput(options);
    const { choice, isNewFeed } = await chooseTarget(home, options);
    if (isNewFeed) output.note(`creating new feed "${printable(choice.feed.name)}" (no configuration or folder found)`);
    const refused: ErrorDocument[] = [];
    if (files.includes('-')) {
      const read = await readInput(home, output, options);
      if (typeof read === 'number') return read;
      input = read;
      if (read.refused !== undefined) refused.push(read.refused);
    }
    const named = files.flatMap((file) => (file === '-' ? (input?.file ?? []) : file));
    const submit = async (): Promise<readonly EnteredRun[]> => {
      const entered = await enterFiles(home, named, runOptions, choice);
      refused.push(...entered.refused.map((error) => withFlagsInHint(errorDocument(error), options)));
      for (const { run, resumed } of entered.runs)
        if (resumed) output.note(`${printable(run.fileName)}: continuing run ${run.id}, which was interrupted`);
      return entered.runs.map(({ run, resumed }) => ({ run, isNew: !resumed }));
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

/** @throws PatchbayError `usage` `auditDetached` | `fileNameEmpty` | `stdinTwice` | `formatNotUsed`. */
function requireSense({ audit, detach, format }: ImportCommandOptions, files: readonly string[]): void {
  if (audit === true && detach === true) {
    throw new PatchbayError('usage', 'auditDetached', '--audit waits for the audit, and --detach waits for nothing', {
      hint: 'Remove one of them. Every run is audited; look at the result later with: patchbay runs show RUN',
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
      hint: 'The ending of a file says what it is; rename the file, or pipe it in: patchbay import - --format csv < FILE',
    });
  }
}

/** `--detach`: the running engine does the work. */
async function handOver(
  home: Home,
  output: Output,
  submit: () => Promise<readonly EnteredRun[]>,
  refused: readonly ErrorDocument[],
): Promise<number> {
  if (!isEngineRunning(home)) {
    throw new PatchbayError('usage', 'noEngine', 'no engine is running to hand the file to', {
      hint: 'Start one with: patchbay start. Or leave out --detach.',
    });
  }
  for (const { run } of await submit()) {
    if (output.json)
      output.document({ run: run.id, feed: run.feed, file: run.fileName, state: run.state, exitCode: 0 });
    else output.line(`${printable(run.fileName)}: handed over as run ${run.id}`);
  }
  for (const document of refused) printRefused(output, document);
  return refused[0]?.exitCode ?? 0;
}
