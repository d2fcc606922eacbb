/** Undoes runs over the parts of a runs bench: entered as a person asks for them, staged, applied and finished. */
import type { RunRecord } from '#src/ledger/runs.ts';
import { beginUndo, type UndoChoice } from '#src/operations/undo.ts';
import { stageUndo } from '#src/runs/stage-undo.ts';
import type { RunsBench } from '#test/runs/support/runs-bench.ts';

export const actor = { who: 'ann', by: 'command' } as const;

export async function enterUndo(
  { parts }: RunsBench,
  undone: RunRecord,
  choice: Partial<UndoChoice & { accept: boolean }> = {},
): Promise<RunRecord> {
  const home = { ledger: parts.ledger, clock: parts.clock, log: parts.log, actor, submit: parts };
  return (await beginUndo(home, undone, { deleteCreated: false, accept: false, reason: null, ...choice })).run;
}

export async function stageEntered(bench: RunsBench, run: RunRecord): Promise<RunRecord> {
  await stageUndo(bench.parts, run, new AbortController().signal);
  return bench.again(run);
}

export async function undoRun(
  bench: RunsBench,
  undone: RunRecord,
  choice: Parameters<typeof enterUndo>[2] = {},
): Promise<RunRecord> {
  return bench.finish(await bench.apply(await stageEntered(bench, await enterUndo(bench, undone, choice))));
}
