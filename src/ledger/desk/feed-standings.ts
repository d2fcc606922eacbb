/** What the runs say of each feed that ever had one: a few look-ups in indexes a feed, since it is asked every few seconds. */
import {
  acceptedStates,
  type FeedStanding,
  historyKind,
  isStanding,
  standingOf,
  standingStates,
  workingStates,
} from '#src/ledger/rules/feeds.ts';
import type { RunRecord, RunState } from '#src/ledger/runs.ts';
import type { Tables } from '#src/ledger/tables.ts';

/** What belongs to feeds and is kept elsewhere. */
export interface BesideFeeds {
  /** By name, with the instant of the first run. */
  feeds(): Promise<readonly { readonly feed: string; readonly createdAtMs: number }[]>;
  /**
   * A letter keeps the sequence of the file that met it last, whatever redrive tries it again; one that a fix-file met since
   * has that of the fix-file.
   */
  hasOpenLetters(feed: string, fromSequence: number): Promise<boolean>;
}

export async function feedStandings(
  tables: Pick<Tables, 'runs'>,
  beside: BesideFeeds,
): Promise<readonly FeedStanding[]> {
  const standings: FeedStanding[] = [];
  for (const feed of await beside.feeds()) {
    const newest = async (states: readonly RunState[]): Promise<RunRecord | null> =>
      (await tables.runs.findRuns({ feed: feed.feed, kind: historyKind, states }, 1))[0] ?? null;
    const last = await newest(standingStates);
    const mayBeOpen = last?.state === 'doneWithDead';
    standings.push(
      standingOf(feed, {
        last: last !== null && isStanding(last) ? last : null,
        working: await newest(workingStates),
        accepted: await newest(acceptedStates),
        deadOpen: mayBeOpen && (await beside.hasOpenLetters(feed.feed, last.sequence)),
      }),
    );
  }
  return standings;
}
