/** The common end of one-shot commands: work, show progress, print what became of each run, choose the exit code. */
import type { Home } from '#src/app.ts';
import { isFinal, type RunRecord } from '#src/ledger/run-record.ts';
import { worstExitCode } from '#src/runs/exit-code.ts';
import { auditResultOf, runAuditOf } from './audit-result.ts';
import { type ErrorDocument, errorLines } from './exit.ts';
import { listenForInterrupt } from './interrupt.ts';
import { type EnteredRun, type OneShotEnd, workUntilRest } from './one-shot.ts';
import { type Output, printable } from './output.ts';
import { auditLines } from './present-audit.ts';
import { presentRun } from './present-run.ts';
import { createProgress } from './progress.ts';
import { presentationOf, runDocument } from './run-document.ts';

export interface OneShotCommand {
  readonly output: Output;
  readonly patienceMs: number;
  readonly sameWorkspace: boolean;
  /** `--audit`: waits for the first audit of each run. */
  readonly audit?: boolean;
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
        audit: command.audit === true,
      },
      async () => {
        const entered = await submit();
        followed = entered.map(({ run }) => run);
        return entered;
      },
    );
    const codes = await printEnds(home, command, ends);
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

async function printEnds(
  home: Home,
  { output, audit: asked }: OneShotCommand,
  ends: readonly OneShotEnd[],
): Promise<number[]> {
  const codes: number[] = [];
  for (const { end, audit } of ends) {
    const run = (await home.ledger.runs.get(end.run.id)) ?? end.run;
    const presentation = await presentationOf(home, run, end);
    const result = audit === null ? null : await auditResultOf(home, audit, output.values);
    const exitCode = worstExitCode([presentation.summary.exitCode, result?.exitCode ?? 0]);
    if (output.json) {
      const document = { ...runDocument(presentation, output.values), exitCode };
      const told = result === null ? null : runAuditOf(result);
      const error = result === null || result.reason === null ? {} : { error: result.reason };
      output.document(asked === true ? { ...document, audit: told, ...error } : document);
    } else {
      output.line(presentRun(output, presentation));
      for (const line of result === null ? [] : auditLines(output, result.document)) output.line(line);
      if (result !== null && result.reason !== null) output.line(`  ${printable(result.reason.hint)}`);
    }
    codes.push(exitCode);
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
    const ended = isFinal(run.state);
    if (output.json) output.document({ ...summary, ...(ended ? {} : { state: 'stopped' }), exitCode, problems: [] });
    else if (ended)
      output.note(`${printable(summary.file)}: done; what was not audited yet is left to the next engine`);
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
