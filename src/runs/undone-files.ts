/**
 * Files that were taken back: no later file is compared with one that was undone whole, since nothing of it is there any more
 * (`docs/rules.md`, "Guards").
 */
import { eachRun } from '#src/ledger/paged-lists.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { acceptedStates } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';

export interface UndoneRuns {
  /** Ids of runs of which an undo has left nothing. */
  readonly whole: ReadonlySet<string>;
  /** By their ids, undos of the others: something was changed since, named by another feed, or not deleted. */
  readonly partly: ReadonlyMap<string, string>;
}

type Undo = Pick<RunRecord, 'id' | 'options' | 'state' | 'counts'>;

/** Undos have the feed of what they undo. */
export async function undoneRuns({ runs }: Pick<Ledger, 'runs'>, feed: string): Promise<UndoneRuns> {
  const undos: Undo[] = [];
  for await (const run of eachRun(runs, { feed, kind: 'undo', states: acceptedStates })) undos.push(run);
  return undoneBy(undos);
}

/** Pure. @param undos that have ended. */
export function undoneBy(undos: readonly Undo[]): UndoneRuns {
  const whole = new Set<string>();
  const partly = new Map<string, string>();
  // An undo may be undone, and so on: each is of an earlier run.
  const counts = ({ id }: Undo): boolean => !undos.some((other) => other.options.undoes === id && counts(other));
  for (const undo of undos) {
    const { undoes } = undo.options;
    if (undoes === null || !counts(undo)) continue;
    if (isWhole(undo)) whole.add(undoes);
    else partly.set(undoes, undo.id);
  }
  return { whole, partly };
}

function isWhole({ state, counts: { rows, skipped, dead, heldFields } }: Undo): boolean {
  return state === 'done' && rows > 0 && skipped + dead + heldFields === 0;
}

/** The newest accepted file of the feed before the sequence that applied all rows and was not undone whole; null where there is none. */
export async function lastAcceptedNotUndone(
  { runs }: Pick<Ledger, 'runs'>,
  { feed, sequence }: Pick<RunRecord, 'feed' | 'sequence'>,
): Promise<RunRecord | null> {
  let found = await runs.lastAccepted(feed, sequence, { applies: 'allRows' });
  if (found === null) return null;
  const { whole } = await undoneRuns({ runs }, feed);
  // Ends with the first file that stands, or with the first file of the feed.
  while (found !== null && whole.has(found.run.id))
    found = await runs.lastAccepted(feed, found.run.sequence, { applies: 'allRows' });
  return found?.run ?? null;
}
