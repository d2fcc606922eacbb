/**
 * The report of a run: what `import --json` prints, and besides what was warned of, held, skipped and changed, the mapping,
 * the guards and the reasons. Written page by page, so that a million dead rows need no memory.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '#src/ledger/run-record.ts';
import type { RunEvent, StagingLedger } from '#src/ledger/staging-ledger.ts';
import type { RunParts } from './parts.ts';
import { type ProblemLine, problemLines, type RunSummary } from './summary.ts';

const rowsPerPage = 500;

export function reportPath(reports: string, runId: string): string {
  return join(reports, `${runId}.json`);
}

/** Writes the report, synced; it appears complete or not at all. Throws the system's errors. */
export async function writeReport(parts: RunParts, run: RunRecord, summary: RunSummary): Promise<void> {
  const { folders, ledger, feeds } = parts;
  await mkdir(folders.reports, { recursive: true, mode: 0o700 });
  const temporary = join(folders.reports, `.${randomUUID()}.part`);
  try {
    await using file = await open(temporary, 'wx', 0o600);
    await file.write(JSON.stringify(summary, null, 1).replace(/\n\}$/, ''));
    await writeList(file, 'problems', problemPages(ledger.staging, run.id));
    await writeList(file, 'outcomes', eventPages(ledger.staging, run.id));
    const rest = {
      reason: run.reason,
      notes: run.notes,
      mapping: run.mapping ?? 'generic',
      guards: feeds.rulesOf(run.feed).guards,
      options: run.options,
      approvals: run.approvals,
      sha256: run.sha256,
      bytes: run.bytes,
      startedAt: instant(run.startedAtMs),
      finishedAt: instant(run.finishedAtMs),
    };
    await file.write(`,\n${JSON.stringify(rest, null, 1).slice(2)}\n`);
    await file.sync();
    await rename(temporary, reportPath(folders.reports, run.id));
  } catch (error) {
    // It is tried again and again: a full disk must not get fuller.
    await rm(temporary, { force: true });
    throw error;
  }
}

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function writeList(file: FileHandle, name: string, pages: AsyncIterable<readonly unknown[]>): Promise<void> {
  await file.write(`,\n "${name}": [`);
  let first = true;
  for await (const page of pages) {
    const lines = page.map((one) => `\n  ${JSON.stringify(one)}`).join(',');
    if (lines !== '') await file.write(`${first ? '' : ','}${lines}`);
    first = first && lines === '';
  }
  await file.write(first ? ']' : '\n ]');
}

async function* problemPages(staging: StagingLedger, runId: string): AsyncGenerator<readonly ProblemLine[]> {
  let after = 0;
  // Ends with the first short page: ordinals only grow.
  for (;;) {
    const page = await staging.deadRows(runId, after, rowsPerPage);
    yield page.flatMap(problemLines);
    if (page.length < rowsPerPage) return;
    after = page.at(-1)?.ordinal ?? after;
  }
}

/** The first warnings of a run whose events are still in the ledger. */
export async function firstWarnings(
  staging: StagingLedger,
  runId: string,
  limit: number,
): Promise<readonly RunEvent[]> {
  const warnings: RunEvent[] = [];
  for await (const page of eventPages(staging, runId)) {
    warnings.push(...page.filter(({ kind }) => kind === 'warning'));
    if (warnings.length >= limit) break;
  }
  return warnings.slice(0, limit);
}

async function* eventPages(staging: StagingLedger, runId: string): AsyncGenerator<readonly RunEvent[]> {
  let after = 0;
  // Ends with the first short page: ordinals only grow.
  for (;;) {
    const page = await staging.events(runId, after, rowsPerPage);
    yield page.map(({ ordinal: _, ...event }) => event);
    if (page.length < rowsPerPage) return;
    after = page.at(-1)?.ordinal ?? after;
  }
}

export type RunReport = RunSummary & {
  readonly problems: readonly ProblemLine[];
  readonly outcomes: readonly RunEvent[];
};

/** A report as it lies on disk; null where there is none (kept 30 days). */
export async function readReport(reports: string, runId: string): Promise<RunReport | null> {
  try {
    // Written by `writeReport`; our own files are trusted.
    return JSON.parse(await readFile(reportPath(reports, runId), 'utf8')) as RunReport;
  } catch {
    return null;
  }
}
