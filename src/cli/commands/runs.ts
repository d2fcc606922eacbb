/** `patchbay runs …`: list, look at or cancel runs. */
import { createInterface } from 'node:readline';
import type { Home } from '#src/app.ts';
import { type AuditDocument, readAudit } from '#src/audits/audit-document.ts';
import { finishOneShot, patienceOf } from '#src/cli/one-shot.ts';
import { type GlobalOptions, openCliHome } from '#src/cli/open-home.ts';
import { createOutput, printable } from '#src/cli/output.ts';
import { auditLines, shownAudit } from '#src/cli/present-audit.ts';
import { presentationOf, presentRun, runDocument, shownDocument, tally } from '#src/cli/present-run.ts';
import { type Terminal, terminalOf } from '#src/cli/terminal.ts';
import { startEngine } from '#src/engine/engine.ts';
import { PatchbayError } from '#src/errors.ts';
import { takeEngineLock } from '#src/ledger/engine-presence.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { approveRun } from '#src/runs/stop-run.ts';

/** Audits of one run that `runs show` tells of. */
const auditsShown = 3;

interface ListOptions extends GlobalOptions {
  readonly limit: number;
  readonly feed?: string;
}

export async function listRuns(options: ListOptions): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const runs = await home.ledger.runs.list({
      limit: options.limit,
      ...(options.feed === undefined ? {} : { feed: options.feed }),
    });
    const summaries = await Promise.all(runs.map(async (run) => (await presentationOf(home, run, null)).summary));
    if (output.json) for (const summary of summaries) output.document(summary);
    else if (summaries.length === 0 && options.feed !== undefined)
      output.line(`feed ${printable(options.feed)} has no runs`);
    else if (summaries.length === 0) output.line(`no runs yet: drop a file into ${home.folders.importFolders[0]}`);
    else
      output.line(
        output.table(
          ['run', 'feed', 'file', 'state', 'rows'],
          summaries.map((one) => [one.run, one.feed, one.file, one.state, tally(one)]),
        ),
      );
    return 0;
  } finally {
    await home.close();
  }
}

export async function showRun(options: GlobalOptions, id: string): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const run = await findRun(home, id);
    const presentation = await presentationOf(home, run, null);
    const audits = await auditsOf(home, run.id, output.values);
    if (output.json) output.document({ ...shownDocument(presentation, output.values), audits });
    else
      output.line(
        [
          presentRun(output, presentation, 'whole'),
          ...audits.flatMap((one) => auditLines(output, one, auditLabel(one))),
        ].join('\n'),
      );
    return 0;
  } finally {
    await home.close();
  }
}

function auditLabel({ finishedAt }: AuditDocument): string {
  return finishedAt === null ? 'audit' : `audit at ${finishedAt.slice(0, 19)}Z`;
}

/** The newest ones that are done; the first audit of a run, too, while it waits. */
async function auditsOf(home: Home, runId: string, values: boolean): Promise<readonly AuditDocument[]> {
  const audits = await home.ledger.audits.ofRun(runId);
  const done = audits.filter((one) => one.state === 'done').slice(-auditsShown);
  const shown = done.length > 0 ? done : audits.slice(0, 1);
  return Promise.all(shown.map(async (one) => shownAudit(await readAudit(home.ledger, one), values)));
}

export async function cancelRun(options: GlobalOptions, id: string): Promise<number> {
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const run = await findRun(home, id);
    const moved = await home.ledger.runs.move(run.id, ['queued', 'staging', 'applying', 'stopped'], 'cancelling', {
      atMs: home.clock.nowMs(),
      reason: { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} },
    });
    if (!moved)
      throw new PatchbayError(
        'usage',
        'notCancellable',
        `run ${run.id} is ${run.state}: there is nothing to cancel`,
        {},
      );
    await endCancelled(home);
    const cancelled = (await home.ledger.runs.get(run.id)) ?? run;
    const presentation = await presentationOf(home, cancelled, null);
    if (output.json) output.document(runDocument(presentation, output.values));
    else output.line(presentRun(output, presentation));
    return 0;
  } finally {
    await home.close();
  }
}

/** The engine ends it; where none runs, nobody else touches the files and this process may. */
async function endCancelled(home: Home): Promise<void> {
  const lock = takeEngineLock(home.folders.lockFile);
  if (lock === null) return;
  const engine = await startEngine(home, lock, { sameWorkspace: false, waitFor: 'everything', runsSchedules: false });
  const deadlineMs = home.clock.monotonicMs() + 10_000;
  while (
    (await home.ledger.runs.list({ states: ['cancelling'], limit: 1, oldestFirst: true })).length > 0 &&
    home.clock.monotonicMs() < deadlineMs
  ) {
    await home.clock.sleep(50);
  }
  await engine.stop();
}

/**
 * `patchbay runs approve`: lets a run go on that guards have stopped, as it was shown. On a terminal the run is shown and a
 * person is asked, unless `--yes` has answered.
 */
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
    return { isApproved, why: (await ask('Why? Recorded in the report (Enter: no reason) ')) || null };
  } finally {
    reader.close();
  }
}

// A run by what a person typed.

/** By its id, or the end of it. @throws PatchbayError `usage` `noSuchRun`. */
export async function findRun(home: Pick<Home, 'ledger'>, id: string): Promise<RunRecord> {
  const exact = await home.ledger.runs.get(id);
  if (exact !== null) return exact;
  const fitting = (await home.ledger.runs.list({ limit: 1_000 })).filter(
    (run) => run.id.endsWith(id) && id.length >= 4,
  );
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  throw new PatchbayError('usage', 'noSuchRun', `there is no run ${id}`, {
    hint: 'See the runs with: patchbay runs ls',
  });
}
