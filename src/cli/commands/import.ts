/** `patchbay import FILE…`: the whole job, then exit. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Home } from '#src/app.ts';
import { finishOneShot } from '#src/cli/one-shot.ts';
import { type GlobalOptions, openCliHome } from '#src/cli/open-home.ts';
import { PatchbayError } from '#src/errors.ts';
import { findMapping, folderNamesOf } from '#src/feeds/feeds.ts';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { noOptions, type RunOptions } from '#src/ledger/runs.ts';
import { checkCountry } from '#src/mapping/phone-cell.ts';
import { type SubmitChoice, submitFile } from '#src/runs/enter-run.ts';
import { checkDelimiter } from '#src/sources/csv-layout.ts';
import { checkEncoding } from '#src/sources/decode.ts';
import { type ErrorDocument, errorDocument, errorLines } from '../exit.ts';
import { type EnteredRun, patienceOf } from '../one-shot.ts';
import { createOutput, type Output, printable } from '../output.ts';

interface ImportOptions extends GlobalOptions {
  readonly feed?: string;
  readonly mapping?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly defaultCountry?: string;
  readonly onBlank?: 'keep' | 'clear';
  readonly maxChange?: number;
  readonly maxDead?: number;
  readonly accept?: boolean;
  readonly adopt?: boolean;
  readonly reason?: string;
  readonly sameWorkspace?: boolean;
  readonly wait?: string;
  readonly detach?: boolean;
  readonly audit?: boolean;
}

export async function importFiles(options: ImportOptions, files: readonly string[]): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const runOptions = runOptionsOf(options);
  if (options.audit === true && options.detach === true) {
    throw new PatchbayError('usage', 'auditDetached', '--audit waits for the audit, and --detach waits for nothing', {
      hint: 'Remove one of them. Every run is audited; look at it later with: patchbay runs show RUN',
    });
  }
  const home = await openCliHome(options, 'work');
  try {
    const output = createOutput(options);
    const choice = await choiceOf(home, options, output);
    const refused: ErrorDocument[] = [];
    const submit = async (): Promise<readonly EnteredRun[]> => {
      const runs: EnteredRun[] = [];
      for (const file of files) {
        try {
          const { run, resumed } = await submitFile(home.submit, resolve(file), runOptions, choice);
          if (resumed) output.note(`${printable(run.fileName)}: going on with run ${run.id}, which was cut off`);
          runs.push({ run, isNew: !resumed });
        } catch (error) {
          if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
          refused.push(errorDocument(error));
        }
      }
      return runs;
    };
    if (options.detach === true) return await handOver(home, output, submit, refused);
    return await finishOneShot(
      home,
      { output, patienceMs, sameWorkspace: options.sameWorkspace === true, audit: options.audit === true, refused },
      submit,
    );
  } finally {
    await home.close();
  }
}

/** `--feed` and `--mapping`. @throws PatchbayError `usage`: what is wrong with the feed's name, label or mapping. */
async function choiceOf(home: Home, options: ImportOptions, output: Output): Promise<SubmitChoice> {
  const name = options.feed ?? mainFeed;
  const named = options.mapping === undefined ? {} : { mapping: await findMapping(options.mapping) };
  const feed = await home.feeds.get(name);
  if (!(await isKnown(home, feed.name))) {
    output.note(`${printable(feed.name)} is a new feed: it is not configured, has no folder and no run yet`);
  }
  return { feed, ...named };
}

async function isKnown({ feeds, ledger, folders }: Home, name: string): Promise<boolean> {
  if (name === mainFeed || feeds.configured.some((feed) => feed.name === name)) return true;
  if (folders.importFolders.some((folder) => folderNamesOf(name).some((each) => existsSync(join(folder, each)))))
    return true;
  return (await ledger.runs.list({ feed: name, limit: 1 })).length > 0;
}

/** `--detach`: the running engine does the work. */
async function handOver(
  home: Home,
  output: Output,
  submit: () => Promise<readonly EnteredRun[]>,
  refused: readonly ErrorDocument[],
): Promise<number> {
  const lock = takeEngineLock(home.folders.lockFile);
  if (lock !== null) {
    lock.release();
    throw new PatchbayError('usage', 'noEngine', 'there is no engine to hand the file to', {
      hint: 'Start one with: patchbay start. Or leave --detach away.',
    });
  }
  for (const { run } of await submit()) {
    if (output.json)
      output.document({ run: run.id, feed: run.feed, file: run.fileName, state: run.state, exitCode: 0 });
    else output.line(`${printable(run.fileName)}: handed over as run ${run.id}`);
  }
  for (const document of refused) {
    if (output.json) output.document(document);
    else output.note(errorLines(document));
  }
  return refused[0]?.exitCode ?? 0;
}

function runOptionsOf(options: ImportOptions): RunOptions {
  const delimiter = options.delimiter === 'tab' ? '\t' : (options.delimiter ?? null);
  if (delimiter !== null) checkDelimiter(delimiter);
  if (options.encoding !== undefined) checkEncoding(options.encoding);
  return {
    ...noOptions,
    delimiter,
    encoding: options.encoding ?? null,
    defaultCountry: options.defaultCountry === undefined ? null : checkCountry(options.defaultCountry),
    onBlank: options.onBlank ?? null,
    maxChange: options.maxChange ?? null,
    maxDead: options.maxDead ?? null,
    accept: options.accept === true,
    adopt: options.adopt === true,
    acceptReason: options.reason ?? null,
  };
}
