/** The common end of one-shot commands: work, show progress, print what became of each run, choose the exit code. */
import type { Home } from '#src/app.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import { worstExitCode } from '#src/runs/exit-code.ts';
import type { FollowEnd } from '#src/runs/follow-run.ts';
import { type ErrorDocument, errorLines } from './exit.ts';
import { listenForInterrupt } from './interrupt.ts';
import { type EnteredRun, workUntilRest } from './one-shot.ts';
import { type Output, printable } from './output.ts';
import { presentRun } from './present-run.ts';
import { createProgress } from './progress.ts';
import { presentationOf, runDocument } from './run-document.ts';

export interface OneShotCommand {
  readonly output: Output;
  readonly patienceMs: number;
  readonly sameWorkspace: boolean;
  /** Files that could not even be copied; filled by `submit`. */
  readonly refused: readonly ErrorDocument[];
}

export async function finishOneShot(
  home: Home,
  command: OneShotCommand,
  submit: () => Promise<readonly EnteredRun[]>,
): Promise<number> {
  const { output } = command;
  const progress = createProgress(output);
  let followed: readonly RunRecord[] = [];
  const interrupt = listenForInterrupt(() => {
    progress.clear();
    output.note('patchbay: finishing the requests on their way; press Ctrl-C again to leave at once');
  });
  try {
    const ends = await workUntilRest(
      home,
      {
        sameWorkspace: command.sameWorkspace,
        patienceMs: command.patienceMs,
        interrupt,
        onEngine: (engine) => {
          if (engine === null) output.note('an engine is running on this data folder: it does the work');
        },
        onProgress: progress.update,
        onEnd: progress.clear,
      },
      async () => {
        const entered = await submit();
        followed = entered.map(({ run }) => run);
        return entered;
      },
    );
    const codes = await printEnds(home, output, ends);
    for (const document of command.refused) printRefused(output, document);
    return worstExitCode([...codes, ...command.refused.map((document) => document.exitCode)]);
  } catch (error) {
    progress.clear();
    const code = interrupt.exitCode();
    if (code === null) throw error;
    await printInterrupted(home, output, followed, code);
    return code;
  } finally {
    interrupt.dispose();
  }
}

async function printEnds(home: Home, output: Output, ends: readonly FollowEnd[]): Promise<number[]> {
  const codes: number[] = [];
  for (const end of ends) {
    const run = (await home.ledger.runs.get(end.run.id)) ?? end.run;
    const presentation = await presentationOf(home, run, end);
    if (output.json) output.document(runDocument(presentation, output.values));
    else output.line(presentRun(output, presentation));
    codes.push(presentation.summary.exitCode);
  }
  return codes;
}

function printRefused(output: Output, document: ErrorDocument): void {
  if (output.json) output.document(document);
  else process.stderr.write(`${errorLines(document)}\n`);
}

/** Interrupted: everything stands in the ledger; the same command goes on. */
async function printInterrupted(
  home: Home,
  output: Output,
  runs: readonly RunRecord[],
  exitCode: number,
): Promise<void> {
  for (const { id } of runs) {
    const run = await home.ledger.runs.get(id);
    if (run === null) continue;
    const { summary } = await presentationOf(home, run, null);
    if (output.json) output.document({ ...summary, state: 'stopped', exitCode, problems: [] });
    else
      output.note(
        `${printable(summary.file)}: interrupted with ${summary.pending} rows to go; run the same command again to go on`,
      );
  }
  if (runs.length === 0 && output.json) {
    output.document({
      error: { code: 'interrupted', message: 'interrupted before a run began', hint: null },
      exitCode,
    });
  }
}
