/** `patchbay runs …`: list, look at or cancel runs. */
import type { Home } from '#src/app.ts';
import { type AuditDocument, readAudit } from '#src/audits/audit-document.ts';
import { startEngine } from '#src/engine/engine.ts';
import { PatchbayError } from '#src/errors.ts';
import { takeEngineLock } from '#src/ledger/engine-lock.ts';
import { shownAudit } from '../audit-result.ts';
import { findRun } from '../find-run.ts';
import type { GlobalOptions } from '../global-options.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, printable } from '../output.ts';
import { auditLines } from '../present-audit.ts';
import { presentRun, tally } from '../present-run.ts';
import { presentationOf, runDocument, shownDocument } from '../run-document.ts';

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
  while ((await home.ledger.runs.inState(['cancelling'], 1)).length > 0 && home.clock.monotonicMs() < deadlineMs) {
    await home.clock.sleep(50);
  }
  await engine.stop();
}
