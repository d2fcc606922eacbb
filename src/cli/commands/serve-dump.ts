/** `patchbay serve --dump FILE`: the whole workspace of a store as a workspace file; starts no service. */
import { resolve } from 'node:path';
import { PatchbayError } from '#src/errors.ts';
import { dumpWorkspace } from '#src/service/workspace-file/dump-workspace.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { createOutput } from '../output.ts';
import { sectionCountsText } from '../section-counts.ts';
import { tellInterrupted } from '../tell-interrupted.ts';

export interface DumpOptions extends GlobalOptions {
  readonly store?: string;
}

/** `file` is a path, or `-` for stdout: then the dump is all that stands there. */
export async function dumpStore(file: string, options: DumpOptions): Promise<number> {
  const output = createOutput(options);
  const store = options.store ?? ':memory:';
  if (store === ':memory:') {
    throw new PatchbayError('usage', 'storeMissing', '--dump needs the store to be dumped', {
      hint: 'Name its file with --store FILE.',
    });
  }
  const interrupt = listenForInterrupt(() => undefined);
  try {
    const { signal } = interrupt;
    const target = file === '-' ? file : resolve(file);
    const counts = await dumpWorkspace({ store: resolve(store), file: target, stdout: () => process.stdout, signal });
    if (file === '-') output.note(`dumped ${sectionCountsText(counts)}`);
    else if (output.json) output.document({ store, dump: file, ...counts });
    else output.line(`dumped ${sectionCountsText(counts)} to ${file}`);
    return 0;
  } catch (error) {
    const exitCode = interrupt.exitCode();
    if (exitCode === null) throw error;
    // Of a dump on standard output a part stands there already.
    const isStdoutTaken = file === '-';
    return tellInterrupted(
      isStdoutTaken ? { ...output, json: false } : output,
      'interrupted; no dump was written',
      exitCode,
    );
  } finally {
    interrupt.dispose();
  }
}
