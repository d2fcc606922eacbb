/**
 * The report of a run: what `import --json` prints, and besides what was warned of, held, skipped and changed, the mapping,
 * the guards and the reasons. Written page by page, so that a million dead rows need no memory.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { RunEvent, StagingLedger } from '#src/ledger/staging.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import type { RunParts } from './parts.ts';
import { type ProblemLine, problemLines, type RunSummary } from './summary.ts';

const rowsPerPage = 500;

export function reportPath(reports: string, runId: string): string {
  return join(reports, `${runId}.json`);
}

/** Writes the report, synced; it appears complete or not at all. Throws the system's errors. */
export function writeReport(parts: RunParts, run: RunRecord, summary: RunSummary): Promise<void> {
  return writeWholeFile(reportPath(parts.folders.reports, run.id), reportText(parts, run, summary));
}

async function* reportText({ ledger, feeds }: RunParts, run: RunRecord, summary: RunSummary): AsyncGenerator<string> {
  yield JSON.stringify(summary, null, 1).replace(/\n\}$/, '');
  yield* listText('problems', problemPages(ledger.staging, run.id));
  yield* listText('outcomes', eventPages(ledger.staging, run.id));
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
  yield `,\n${JSON.stringify(rest, null, 1).slice(2)}\n`;
}

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function* listText(name: string, pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  yield `,\n "${name}": [`;
  let isEmpty = true;
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield `${isEmpty ? '' : ','}${page.map((one) => `\n  ${JSON.stringify(one)}`).join(',')}`;
    isEmpty = false;
  }
  yield isEmpty ? ']' : '\n ]';
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
