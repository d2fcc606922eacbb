/**
 * A run that guards have stopped: its rows stay staged, and its report and a note in the import folder say why. It stays
 * stopped until a person approves or cancels it, or until a newer file takes its place.
 */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { archiveFolders } from '#src/config/data-folders.ts';
import { PatchbayError } from '#src/errors.ts';
import { eachRun } from '#src/ledger/paged-lists.ts';
import type { RunReason, RunRecord, RunState } from '#src/ledger/runs.ts';
import type { Logger } from '#src/log.ts';
import { safeFileName } from '#src/sources/file-name.ts';
import { makeFolder, storing, takingError } from '#src/whole-file.ts';
import { approveCommand } from './guard-reason.ts';
import { noteOn, type ReportParts, writeReport } from './report.ts';

/** What runs are stopped with. */
export interface StopParts extends ReportParts {
  /** The host that this data folder is: only the host of a run writes its files. */
  readonly host: string | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Stops a run for that reason, where it still is in that state. Report and note come first: after a crash in between, the
 * run is stopped once more. Those of a run of another host are written there (`noteStopped`).
 * @returns whether it is stopped now.
 */
export async function stopRun(parts: StopParts, run: RunRecord, from: RunState, reason: RunReason): Promise<boolean> {
  const { ledger, clock } = parts;
  const isHere = isOfHost(run, parts.host);
  if (isHere) await reportStopped(parts, { ...run, state: 'stopped', reason });
  if (await ledger.runs.move(run.id, [from], 'stopped', { atMs: clock.nowMs(), reason })) return true;
  // Another batch has stopped it for its own reason, or it goes on to its end: the report and the note are wrong then.
  if (!isHere) return false;
  const now = await ledger.runs.get(run.id);
  if (now?.state === 'stopped') await reportStopped(parts, now);
  else await removeStoppedNote(run);
  return false;
}

/**
 * Writes reports and notes of the runs of this host that another one has stopped, and removes notes of those that go on.
 * @param noted runs that have theirs by now, and since when they are stopped; changed here.
 */
export async function noteStopped(parts: StopParts, noted: Map<string, number | null>): Promise<void> {
  const { ledger, host } = parts;
  const left = new Set(noted.keys());
  for await (const run of eachRun(ledger.runs, { states: ['stopped'], hosts: [host] })) {
    left.delete(run.id);
    if (noted.get(run.id) === run.stoppedAtMs) continue;
    await reportStopped(parts, run);
    noted.set(run.id, run.stoppedAtMs);
  }
  for (const id of left) {
    const run = await ledger.runs.get(id);
    // It may have been stopped again since the list was read: the next call writes its note anew.
    if (run !== null && run.state !== 'stopped') await removeStoppedNote(run);
    noted.delete(id);
  }
}

/** Whether the files of a run are those of this host. A ledger in a file belongs to its data folder, whatever it was copied from. */
export function isOfHost(run: Pick<RunRecord, 'host'>, host: string | null): boolean {
  return host === null || run.host === null || run.host === host;
}

async function reportStopped(parts: StopParts, run: RunRecord): Promise<void> {
  const summary = await writeReport(parts, run, { fixFile: null, changesFile: null }, parts.clock.nowMs());
  await writeNote(run, await noteOn(parts, run, summary));
}

/** @returns whether the error was a guard's, and the run is stopped now. */
export async function stopForGuard(parts: StopParts, runId: string, error: unknown): Promise<boolean> {
  if (!(error instanceof PatchbayError) || error.kind !== 'guard') return false;
  const run = await parts.ledger.runs.get(runId);
  if (run?.state !== 'applying') return true;
  const { code, message, facts } = error;
  const approve = approveCommand(runId, parts.serviceName);
  const hint = `${error.hint ?? 'Check the run.'}\nTo write no more of it: ${approve.replace('approve', 'cancel')}\nIf this is expected: ${approve}`;
  if (await stopRun(parts, run, 'applying', { code, message, hint, facts }))
    parts.log.warn({ run: runId, code, ...facts }, 'run stopped by a guard');
  return true;
}

/** The note goes when the run goes on or ends. */
export async function removeStoppedNote(run: RunRecord): Promise<void> {
  if (run.claimedPath === '') return;
  const path = notePath(run);
  await rm(path, { force: true }).catch((error: unknown) => {
    throw takingError(error, dirname(path));
  });
}

/** A redrive has no file in an import folder. */
async function writeNote(run: RunRecord, note: string): Promise<void> {
  if (run.claimedPath === '') return;
  const path = notePath(run);
  const folder = dirname(path);
  await storing(folder, () => makeFolder(folder));
  await storing(folder, () => writeFile(path, note, { mode: 0o600 }));
}

function notePath({ id, fileName, importFolder }: RunRecord): string {
  return join(archiveFolders(importFolder).stopped, `${id}__${safeFileName(fileName)}.txt`);
}
