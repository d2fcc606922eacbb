/** Runs whose writes another run finds: which of them will still count what they sent. */
import type { JournalEntry } from '#src/contacts/outcome.ts';
import { countsItsRows } from './runs.ts';
import type { Tables } from './tables.ts';

/**
 * @param runId the run that finds the writes.
 * @returns of the other runs that sent these writes, those that have not ended: the row of each write is still pending there.
 */
export async function sendersAtWork(
  { runs }: Pick<Tables, 'runs'>,
  runId: string,
  found: readonly JournalEntry[],
): Promise<ReadonlySet<string>> {
  const senders = new Set(found.flatMap(({ runId: sentBy }) => (sentBy === null || sentBy === runId ? [] : [sentBy])));
  const atWork = new Set<string>();
  for (const sender of senders) {
    const state = (await runs.place(sender))?.state;
    if (state !== undefined && countsItsRows(state)) atWork.add(sender);
  }
  return atWork;
}
