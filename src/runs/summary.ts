/** What a run came to, in the shape of `import --json` (`contract.md`). Pure. */
import { pendingCount, type RunRecord } from '#src/ledger/runs.ts';
import type { RunDeadRow } from '#src/ledger/staging.ts';
import { exitCodeOf } from './exit-code.ts';

export interface ProblemLine {
  readonly line: number;
  readonly code: string;
  readonly field: string | null;
  readonly value: string | null;
  readonly hint: string;
}

export interface RunSummary {
  readonly run: string;
  readonly feed: string;
  readonly file: string;
  readonly service: string;
  readonly state: string;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly dead: number;
  readonly pending: number;
  readonly adopted: number;
  readonly heldFields: number;
  readonly removedValues: number;
  readonly deadNew: number;
  readonly warnings: number;
  readonly requests: RunRecord['requests'];
  readonly seconds: number;
  readonly fixFile: string | null;
  readonly report: string;
  readonly exitCode: number;
}

export interface SummaryFacts {
  readonly serviceName: string;
  readonly reportPath: string;
  /** Null where no row died. */
  readonly fixFile: string | null;
  /** For a run that has not ended. */
  readonly nowMs: number;
  /** Where something else than the run's state decides, as an outage. */
  readonly exitCode?: number;
  readonly state?: string;
}

export function summarise(run: RunRecord, facts: SummaryFacts): RunSummary {
  const { counts, requests } = run;
  return {
    run: run.id,
    feed: run.feed,
    file: run.fileName,
    service: facts.serviceName,
    state: facts.state ?? run.state,
    rows: counts.rows,
    created: counts.created,
    updated: counts.updated,
    unchanged: counts.unchanged,
    skipped: counts.skipped,
    dead: counts.dead,
    pending: pendingCount(counts),
    adopted: counts.adopted,
    heldFields: counts.heldFields,
    removedValues: counts.removedValues,
    deadNew: counts.deadNew,
    warnings: counts.warnings,
    requests,
    seconds: Math.max(0, Math.round(workMs(run, facts.nowMs)) / 1_000),
    fixFile: facts.fixFile,
    report: facts.reportPath,
    exitCode: facts.exitCode ?? exitCodeOf(run.state),
  };
}

/** From its start to its end or to now, without the time that it was stopped. */
function workMs(run: RunRecord, nowMs: number): number {
  const stoppedAtMs = run.state === 'stopped' ? run.stoppedAtMs : null;
  const endMs = run.finishedAtMs ?? stoppedAtMs ?? nowMs;
  return endMs - (run.startedAtMs ?? run.createdAtMs) - run.stoppedMs;
}

/** The problems of a dead row, one line each; a row without any still tells its code. */
export function problemLines(dead: RunDeadRow): readonly ProblemLine[] {
  if (dead.problems.length === 0) return [{ line: dead.line, code: dead.code, field: null, value: null, hint: '' }];
  return dead.problems.map(({ line, code, field, value, hint }) => ({ line, code, field, value, hint }));
}
