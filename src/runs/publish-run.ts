/** What a run publishes for observers: the rows that got an outcome, and its end. */
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type Facts, publishFact, rowOutcomes } from '#src/telemetry.ts';
import type { RunSummary } from './report.ts';

type Outcomes = Facts['rows']['outcomes'];

/** What the rows of a run have become so far. Zeroes if there is no such run. */
export async function outcomesOf({ runs }: Pick<Ledger, 'runs'>, runId: string): Promise<Outcomes> {
  const counts = (await runs.get(runId))?.counts;
  return Object.fromEntries(rowOutcomes.map((outcome) => [outcome, counts?.[outcome] ?? 0]));
}

export function publishRows(feed: string, outcomes: Outcomes): void {
  publishFact('rows', { feed, outcomes });
}

export function publishEnd(
  { id, feed, startedAtMs, counts }: RunRecord,
  state: Facts['runEnded']['state'],
  { seconds }: Pick<RunSummary, 'seconds'>,
  endedAtMs: number,
): void {
  const began = startedAtMs ?? endedAtMs;
  publishFact('runEnded', { run: id, feed, state, startedAtMs: began, endedAtMs, seconds, rowCount: counts.rows });
}
