/** Runs as the command line has them before it prints them. */
import type { RunPresentation } from '#src/cli/present-run.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { ProblemLine, RunSummary } from '#src/runs/report.ts';

export function summaryOf(given: Partial<RunSummary> = {}): RunSummary {
  return {
    run: '20261121T140000Z-0a1b2c',
    feed: 'main',
    file: 'people.csv',
    service: 'sandbox',
    state: 'done',
    rows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    moved: 0,
    dead: 0,
    pending: 0,
    adopted: 0,
    linked: 0,
    deleted: 0,
    heldFields: 0,
    removedValues: 0,
    deadNew: 0,
    warnings: 0,
    missing: null,
    drift: null,
    requests: { get: 0, post: 0, patch: 0, delete: 0, retried: 0, rateLimited: 0 },
    seconds: 1.25,
    fixFile: null,
    report: '/data/reports/20261121T140000Z-0a1b2c.json',
    exitCode: 0,
    ...given,
  };
}

export function presentation(
  summary: Partial<RunSummary> = {},
  rest: Partial<Omit<RunPresentation, 'summary'>> = {},
): RunPresentation {
  const said = { problems: [], held: [], outcomes: [], notes: [], reason: null };
  const counted = { problemCount: rest.problems?.length ?? 0, rejectedRowsUnread: 0 };
  const states = { hasReport: true, isFixFileGone: false, failedFile: null, isInterrupted: false };
  return { summary: summaryOf(summary), ...said, ...counted, ...states, ...rest };
}

export function problem(given: Partial<ProblemLine> = {}): ProblemLine {
  return { line: 3, code: 'phoneLetters', field: 'phone', value: 'call me', hint: 'Write it in digits.', ...given };
}

export function warning(given: Partial<RunEvent> = {}): RunEvent {
  const message = 'the extension was left out';
  const place = { line: 3, key: 'c-1', field: 'phone', value: '+1415 x12' };
  return { kind: 'warning', code: 'phoneExtensionDropped', ...place, message, ...given };
}
