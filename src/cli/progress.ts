/** What people see of a run that is followed. */
import { SingleBar } from 'cli-progress';
import { pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import { type Output, printable } from './output.ts';
import { progressLine } from './present-run.ts';

/** Progress: a bar on a terminal, a plain line every few seconds elsewhere, nothing where quiet. */
export interface Progress {
  update(run: RunRecord): void;
  /** Takes the bar away, so that other lines can be written. */
  clear(): void;
}

const plainEveryMs = 5_000;

export function createProgress(output: Output): Progress {
  if (output.quiet) return { update: () => undefined, clear: () => undefined };
  return process.stderr.isTTY === true ? barProgress() : plainProgress(output);
}

function barProgress(): Progress {
  let bar: SingleBar | null = null;
  return {
    update: (run) => {
      if (run.counts.rows === 0) return;
      if (bar === null) {
        bar = new SingleBar({
          format: '{file} {bar} {value}/{total} rows  {phase}',
          stream: process.stderr,
          clearOnComplete: true,
          hideCursor: true,
          barsize: 30,
        });
        bar.start(run.counts.rows, 0, { file: printable(run.fileName), phase: run.state });
      }
      bar.setTotal(run.counts.rows);
      bar.update(run.counts.rows - pendingCount(run.counts), { file: printable(run.fileName), phase: run.state });
    },
    clear: () => {
      bar?.stop();
      bar = null;
    },
  };
}

function plainProgress(output: Output): Progress {
  let saidAtMs = performance.now();
  let said = '';
  return {
    update: (run) => {
      const line = progressLine(run);
      if (line === said || performance.now() - saidAtMs < plainEveryMs) return;
      saidAtMs = performance.now();
      said = line;
      output.note(line);
    },
    clear: () => undefined,
  };
}
