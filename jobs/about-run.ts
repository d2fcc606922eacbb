/** What the log lines of work on a run carry. */
import type { BatchContext } from './context.ts';

/** Besides its id: its feed, where the run is known. */
export async function aboutRun(
  { ledger }: Pick<BatchContext['runs'], 'ledger'>,
  runId: string,
): Promise<{ readonly run: string; readonly feed?: string }> {
  const run = await ledger.runs.get(runId);
  return run === null ? { run: runId } : { run: runId, feed: run.feed };
}
