/** `patchbay import FILE…`: the whole job, then exit. */
import { resolve } from 'node:path';
import type { Home } from '#src/app.ts';
import { openCliHome } from '#src/cli/open-home.ts';
import { PatchbayError } from '#src/errors.ts';
import { takeEngineLock } from '#src/ledger/engine-lock.ts';
import type { RunOptions } from '#src/ledger/run-options.ts';
import { noOptions } from '#src/ledger/run-options.ts';
import { checkCountry } from '#src/mapping/country.ts';
import { submitFile } from '#src/runs/submit-run.ts';
import { checkDelimiter, checkEncoding } from '#src/sources/read-options.ts';
import { type ErrorDocument, errorDocument, errorLines } from '../exit.ts';
import { findMapping } from '../find-mapping.ts';
import { finishOneShot } from '../finish-one-shot.ts';
import type { GlobalOptions } from '../global-options.ts';
import { type EnteredRun, patienceOf } from '../one-shot.ts';
import { createOutput, type Output, printable } from '../output.ts';

interface ImportOptions extends GlobalOptions {
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
      hint: 'Leave one of them away. Every run is audited; look at it later with: patchbay runs show RUN',
    });
  }
  const home = await openCliHome(options, 'work');
  try {
    const output = createOutput(options);
    const mapping = options.mapping === undefined ? home.mapping : await findMapping(options.mapping);
    const refused: ErrorDocument[] = [];
    const submit = async (): Promise<readonly EnteredRun[]> => {
      const runs: EnteredRun[] = [];
      for (const file of files) {
        try {
          const { run, resumed } = await submitFile(home.submit, resolve(file), runOptions, mapping);
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
