/**
 * A run that guards have stopped: its rows stay staged, its report says why, and so does a note in the import folder, where
 * its file would lie else. Until a person approves it, it is cancelled, or a newer file takes its place.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { archiveFolders } from '#src/config/data-folders.ts';
import { PatchbayError } from '#src/errors.ts';
import { approvalOf } from '#src/ledger/rules/approval.ts';
import type { RunReason, RunRecord, RunState } from '#src/ledger/runs.ts';
import { safeFileName } from '#src/sources/file-name.ts';
import { approveCommand } from './guards.ts';
import type { RunParts } from './parts.ts';
import { firstWarnings, reportPath, resultNote, summarise, warningsNotedMax, writeReport } from './report.ts';

/**
 * Stops a run for that reason, where it still is in that state. Report and note come first: a crash between leaves a run that
 * stops once more.
 * @returns whether it is stopped now.
 */
export async function stopRun(parts: RunParts, run: RunRecord, from: RunState, reason: RunReason): Promise<boolean> {
  const { ledger, clock } = parts;
  await tellStopped(parts, { ...run, state: 'stopped', reason });
  if (await ledger.runs.move(run.id, [from], 'stopped', { atMs: clock.nowMs(), reason })) return true;
  // Another batch has stopped it for its own reason, or it goes on to its end: what was told is not so.
  const now = await ledger.runs.get(run.id);
  if (now?.state === 'stopped') await tellStopped(parts, now);
  else await removeStoppedNote(run);
  return false;
}

async function tellStopped(parts: RunParts, run: RunRecord): Promise<void> {
  const { serviceName, folders, clock } = parts;
  const facts = { serviceName, reportPath: reportPath(folders.reports, run.id), fixFile: null, nowMs: clock.nowMs() };
  const summary = summarise(run, facts);
  await writeReport(parts, run, summary);
  const warnings = await firstWarnings(parts.ledger.staging, run.id, warningsNotedMax);
  await writeNote(run, resultNote(run, summary, warnings));
}

/** @returns whether the error was a guard's, and the run is stopped now. */
export async function stopForGuard(parts: RunParts, runId: string, error: unknown): Promise<boolean> {
  if (!(error instanceof PatchbayError) || error.kind !== 'guard') return false;
  const run = await parts.ledger.runs.get(runId);
  if (run?.state !== 'applying') return true;
  const { code, message, facts } = error;
  const hint = `${error.hint ?? 'Look at the run.'} If all is right, let it go on: ${approveCommand(runId, parts.serviceName)}`;
  if (await stopRun(parts, run, 'applying', { code, message, hint, facts }))
    parts.log.warn({ run: runId, code, ...facts }, 'run stopped by a guard');
  return true;
}

/**
 * Lets a run go on as it was shown: past the guards that stopped it, up to their figures. Its rows are written as they were
 * staged; the file is not read again.
 * @param shown the run as the person saw it.
 * @throws PatchbayError `usage` `notStopped`; `guard` `notApproved` where the run was cancelled or replaced, or stopped anew,
 *   after it was shown.
 */
export async function approveRun(
  { ledger, clock, log }: Pick<RunParts, 'ledger' | 'clock' | 'log'>,
  shown: RunRecord,
  why: string | null,
): Promise<void> {
  if (shown.state !== 'stopped' || shown.reason === null) {
    const message = `run ${shown.id} is ${shown.state}, and only a stopped run can be approved`;
    throw new PatchbayError('usage', 'notStopped', message, { hint: 'See the runs with: patchbay runs ls' });
  }
  const approval = approvalOf(shown.reason, { reason: why, atMs: clock.nowMs() });
  if (!(await ledger.runs.approve(shown.id, approval))) throw notApproved(shown, await ledger.runs.get(shown.id));
  await removeStoppedNote(shown);
  log.info({ run: shown.id, feed: shown.feed, code: shown.reason.code }, 'run approved');
}

function notApproved(shown: RunRecord, now: RunRecord | null): PatchbayError {
  const why =
    now?.state === 'stopped'
      ? 'it was stopped again meanwhile, by something else than was shown'
      : `it is ${now?.state ?? 'gone'} by now${now?.reason ? `: ${now.reason.message}` : ''}`;
  return new PatchbayError('guard', 'notApproved', `run ${shown.id} was not approved: ${why}`, {
    hint: `Look at it again: patchbay runs show ${shown.id}`,
  });
}

/** The note goes when the run goes on or ends. */
export async function removeStoppedNote(run: RunRecord): Promise<void> {
  if (run.claimedPath !== '') await rm(notePath(run), { force: true });
}

/** A redrive has no file that somebody misses. */
async function writeNote(run: RunRecord, note: string): Promise<void> {
  if (run.claimedPath === '') return;
  const path = notePath(run);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, note, { mode: 0o600 });
}

function notePath({ id, fileName, importFolder }: RunRecord): string {
  return join(archiveFolders(importFolder).stopped, `${id}__${safeFileName(fileName)}.txt`);
}
