/**
 * `patchbay runs approve`: lets a run go on that guards have stopped, as it was shown. On a terminal the run is shown and a
 * person is asked, unless `--yes` has answered.
 */
import { createInterface } from 'node:readline';
import { exitCodes } from '#src/runs/exit-code.ts';
import { approveRun } from '#src/runs/stop-run.ts';
import { findRun } from '../find-run.ts';
import { finishOneShot } from '../finish-one-shot.ts';
import type { GlobalOptions } from '../global-options.ts';
import { patienceOf } from '../one-shot.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput } from '../output.ts';
import { presentRun } from '../present-run.ts';
import { presentationOf } from '../run-document.ts';
import { type Terminal, terminalOf } from '../terminal.ts';

interface ApproveOptions extends GlobalOptions {
  readonly reason?: string;
  readonly wait?: string;
  readonly detach?: boolean;
}

export async function approve(options: ApproveOptions, id: string): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openCliHome(options, 'work');
  try {
    const output = createOutput(options);
    const run = await findRun(home, id);
    const terminal = run.state === 'stopped' ? terminalOf(options) : null;
    const shown = terminal === null ? '' : presentRun(output, await presentationOf(home, run, null));
    const answer = terminal === null ? agreed(options.reason) : await askApproval(terminal, shown, options.reason);
    if (!answer.isApproved) {
      output.note(`run ${run.id} stays stopped`);
      return exitCodes.guard;
    }
    const goOn = async () => {
      await approveRun(home.submit, run, answer.why);
      return [{ run, isNew: false }];
    };
    if (options.detach === true) {
      await goOn();
      output.note(`run ${run.id} goes on with the running engine, or the next one`);
      return exitCodes.done;
    }
    return await finishOneShot(home, { output, patienceMs, sameWorkspace: false, refused: [] }, goOn);
  } finally {
    await home.close();
  }
}

export interface ApprovalAnswer {
  readonly isApproved: boolean;
  readonly why: string | null;
}

function agreed(why: string | undefined): ApprovalAnswer {
  return { isApproved: true, why: why ?? null };
}

/** Anything but yes is no, and so is the end of the input. Asks why where nobody has said; nothing is an answer, too. */
export async function askApproval(
  { input, output }: Terminal,
  shown: string,
  why: string | undefined,
): Promise<ApprovalAnswer> {
  // The terminal edits the line by itself; Ctrl-C ends the process, and nothing has happened yet.
  const reader = createInterface({ input, terminal: false });
  const lines = reader[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    output.write(question);
    const { value, done } = await lines.next();
    return done === true ? '' : value.trim();
  };
  try {
    output.write(`${shown}\n`);
    const isApproved = /^y(es)?$/i.test(await ask('Let it go on as it is? [y/N] '));
    if (!isApproved || why !== undefined) return { isApproved, why: why ?? null };
    return { isApproved, why: (await ask('Why? It will stand in the report (Enter: no reason) ')) || null };
  } finally {
    reader.close();
  }
}
