/** `patchbay serve --dump FILE`: the whole workspace of a store as a workspace file; starts no service. */
import { resolve } from 'node:path';
import { PatchbayError } from '#src/errors.ts';
import { dumpWorkspace } from '#src/service/workspace-file/dump-workspace.ts';
import { tellBrokenStdoutMyself, wasStdoutClosed } from '../broken-stdout.ts';
import { errorDocument, errorLines } from '../exit.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { createOutput } from '../output.ts';
import { sectionCountsText } from '../section-counts.ts';
import { tellInterrupted } from '../tell-interrupted.ts';

export interface DumpOptions extends GlobalOptions {
  readonly store?: string;
}

/** `file` is a path, or `-` for stdout: then the dump is all that stands there, and a part of it is a failure. */
export async function dumpStore(file: string, options: DumpOptions): Promise<number> {
  const output = createOutput(options);
  const store = options.store ?? ':memory:';
  if (store === ':memory:') {
    throw new PatchbayError('usage', 'storeMissing', '--dump needs the store to be dumped', {
      hint: 'Name its file with --store FILE.',
    });
  }
  const interrupt = listenForInterrupt(() => undefined, { hangUp: true });
  const isForStdout = file === '-';
  let isStdoutTaken = isForStdout && wasStdoutClosed();
  const stdout = () => {
    isStdoutTaken = true;
    tellBrokenStdoutMyself();
    return process.stdout;
  };
  try {
    const { signal } = interrupt;
    if (isStdoutTaken) throw stdoutClosed();
    const target = isForStdout ? file : resolve(file);
    const counts = await dumpWorkspace({ store: resolve(store), file: target, stdout, signal });
    if (isForStdout) output.note(`dumped ${sectionCountsText(counts)}`);
    else if (output.json) output.document({ store, dump: file, ...counts });
    else output.line(`dumped ${sectionCountsText(counts)} to ${file}`);
    return 0;
  } catch (error) {
    const exitCode = interrupt.exitCode();
    if (exitCode !== null) {
      const told = isForStdout ? { ...output, json: false } : output;
      return tellInterrupted(told, 'interrupted; no dump was written', exitCode);
    }
    if (!isStdoutTaken) throw error;
    // A part of the dump stands on standard output already, and nobody may be there to take more.
    process.stderr.write(`${errorLines(errorDocument(error))}\n`);
    return errorDocument(error).exitCode;
  } finally {
    interrupt.dispose();
  }
}

function stdoutClosed(): PatchbayError {
  return new PatchbayError('usage', 'dumpNotWritten', 'cannot write the dump -: standard output is closed', {
    hint: 'Send it into a file or a pipe, or name a file.',
  });
}
