/**
 * The end of a run: the totals must add up, then report, fix-file and archive are written, and only then is it done.
 *
 * Every step may be done twice: a crash in the middle is made good by doing all of it again.
 */
import { writeFile } from 'node:fs/promises';
import { archiveFolders } from '#src/config/data-folders.ts';
import { PatchbayError } from '#src/errors.ts';
import { finalRunStates, pendingCount, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import { archiveFile } from '#src/sources/check-out.ts';
import { inStep } from '#src/steps.ts';
import { isFullFile } from './feed-history.ts';
import { writeFixFile } from './fix-file.ts';
import type { RunParts } from './parts.ts';
import {
  firstWarnings,
  type RunSummary,
  reportPath,
  resultNote,
  summarise,
  warningsNotedMax,
  writeReport,
} from './report.ts';
import { removeStoppedNote } from './stop-run.ts';

/**
 * Finishes a run whose rows all have an outcome; does nothing for any other.
 * @returns whether the run is finished now.
 * @throws the system's errors (disk full…): the run stays as it is and is finished later.
 */
export async function finishRun(parts: RunParts, runId: string): Promise<boolean> {
  const { ledger, log } = parts;
  const atMs = parts.clock.nowMs();
  const run = await ledger.runs.get(runId);
  if (run?.state !== 'applying' || (await ledger.staging.pendingCount(runId)) > 0) return false;
  const broken = await accountingFlaw(parts, run);
  if (broken !== null) {
    log.error({ run: run.id, ...broken.facts }, 'run does not add up');
    const { code, message, hint, facts } = broken;
    const failed = { ...run, reason: { code, message, hint, facts } };
    await writeResults(parts, failed, 'failed', atMs);
    await enterAudits(parts, run, atMs);
    await ledger.runs.move(run.id, ['applying'], 'failed', { atMs, reason: failed.reason });
    return true;
  }
  const state: RunState = run.counts.dead > 0 ? 'doneWithDead' : 'done';
  const summary = await writeResults(parts, await withClosedLetters(parts, run), state, atMs);
  await enterAudits(parts, run, atMs);
  await inStep('finishRun', () => ledger.runs.move(run.id, ['applying'], state, { atMs }));
  await ledger.runs.prune(run.id);
  const { rows, created, updated, unchanged, skipped, dead, seconds } = summary;
  log.info({ run: run.id, feed: run.feed, rows, created, updated, unchanged, skipped, dead, seconds }, 'run finished');
  return true;
}

/** The file could not be read as a whole: it goes to `_failed`, with the reason beside it. */
export async function finishFailed(parts: RunParts, run: RunRecord, atMs: number): Promise<void> {
  await writeResults(parts, run, 'failed', atMs);
  await enterAudits(parts, run, atMs);
}

/** The second audit looks again at what was in doubt: later than anything that may still land. */
const secondAuditAfterMs = 600_000;

/**
 * What the run touched is to be looked at again (`rules.md`, "One contact per key", step 7). Before the run is final: its
 * staged rows, which say what that was, are forgotten then.
 */
async function enterAudits(parts: RunParts, run: RunRecord, atMs: number): Promise<void> {
  const { ledger, clock, latestCommitMs, visibilityLagMs } = parts;
  // What was sent last may land as late as that, also for a run that was cancelled or whose row died in doubt.
  const firstDueAtMs = (await ledger.nowMs(clock)) + latestCommitMs + visibilityLagMs;
  const secondDueAtMs = firstDueAtMs + secondAuditAfterMs;
  await inStep('enterAudits', () => ledger.audits.enter({ runId: run.id, atMs, firstDueAtMs, secondDueAtMs }));
}

/** A full file that does not hold a row without a key any more ends its letter; its run says so in its notes. */
async function withClosedLetters(parts: RunParts, run: RunRecord): Promise<RunRecord> {
  if (!isFullFile(parts, run)) return run;
  const closed = await parts.ledger.deadLetters.closeUnmet(run.id);
  if (closed > 0) parts.log.info({ run: run.id, feed: run.feed, closed }, 'dead letters without a key closed');
  return (await parts.ledger.runs.get(run.id)) ?? run;
}

/** `atMs` is the end of the run, in its report and in the ledger alike. */
async function writeResults(parts: RunParts, run: RunRecord, state: RunState, atMs: number): Promise<RunSummary> {
  const { folders, ledger, serviceName } = parts;
  const fixFile = run.counts.dead > 0 ? await writeFixFile(ledger.staging, run) : null;
  const finished: RunRecord = { ...run, state, finishedAtMs: atMs };
  const path = reportPath(folders.reports, run.id);
  const summary = summarise(finished, { serviceName, reportPath: path, fixFile, nowMs: atMs });
  await inStep('writeReport', () => writeReport(parts, finished, summary));
  if (run.claimedPath !== '') {
    const note = resultNote(finished, summary, await firstWarnings(ledger.staging, run.id, warningsNotedMax));
    await inStep('archive', () => archive(run, state, note));
  }
  await removeStoppedNote(run);
  return summary;
}

async function archive(run: RunRecord, state: RunState, note: string): Promise<void> {
  const folders = archiveFolders(run.importFolder);
  const failed = state === 'failed';
  const path = await archiveOrMissing(run, failed ? folders.failed : folders.done);
  if (path === null) return;
  await writeFile(`${path}${failed ? '.reason.txt' : '.txt'}`, note, { mode: 0o600 });
}

/** A claimed file that somebody took away must not keep its run from ending: its rows are accounted for. */
async function archiveOrMissing(run: RunRecord, folder: string): Promise<string | null> {
  try {
    return await archiveFile(run.claimedPath, folder, run.id, run.fileName);
  } catch (error) {
    if (error instanceof PatchbayError && error.code === 'fileMissing') return null;
    throw error;
  }
}

/** A crash may lie between a run's last state and what follows it. At most so many of the latest runs are looked at. */
const tidiedRunsMax = 20;

/** Completes what a crash left undone behind finished runs: their staged rows are deleted. */
export async function tidyFinished({ ledger }: Pick<RunParts, 'ledger'>): Promise<void> {
  for (const run of await ledger.runs.list({ states: finalRunStates, limit: tidiedRunsMax })) {
    await ledger.runs.prune(run.id);
  }
}

/** Ends a run that somebody cancelled: its file is archived, what was written stays written. */
export async function finishCancelled(parts: RunParts, runId: string): Promise<boolean> {
  const { ledger } = parts;
  const atMs = parts.clock.nowMs();
  const run = await ledger.runs.get(runId);
  if (run?.state !== 'cancelling') return false;
  await ledger.staging.skipPending(run.id, 'cancelled', atMs);
  const counted = (await ledger.runs.get(run.id)) ?? run;
  await writeResults(parts, counted, 'cancelled', atMs);
  await enterAudits(parts, run, atMs);
  await ledger.runs.move(run.id, ['cancelling'], 'cancelled', { atMs });
  await ledger.runs.prune(run.id);
  return true;
}

/** rows = created + updated + unchanged + skipped + dead, and the records say the same as the counts. */
async function accountingFlaw(parts: RunParts, run: RunRecord): Promise<PatchbayError | null> {
  const { counts } = run;
  const ends = await parts.ledger.staging.countEnds(run.id);
  const agrees =
    pendingCount(counts) === 0 &&
    (ends.created ?? 0) === counts.created &&
    (ends.updated ?? 0) === counts.updated &&
    (ends.unchanged ?? 0) <= counts.unchanged &&
    (ends.skipped ?? 0) <= counts.skipped &&
    (ends.dead ?? 0) <= counts.dead;
  if (agrees) return null;
  const { rows, created, updated, unchanged, skipped, dead } = counts;
  return new PatchbayError('bug', 'accountingBroken', 'the outcomes of the run do not add up to its rows', {
    facts: {
      rows,
      created,
      updated,
      unchanged,
      skipped,
      dead,
      recordsCreated: ends.created ?? 0,
      recordsUpdated: ends.updated ?? 0,
    },
    hint: 'Import the file again: contacts that are right already stay as they are. Please report this with the run report.',
  });
}
