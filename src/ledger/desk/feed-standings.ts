/**
 * What the runs say of each feed that ever had one: a few look-ups in indexes a feed, since it is asked every few seconds. A file that was
 * only looked at says nothing of its feed.
 */
import {
  acceptedStates,
  cancelledStates,
  type FeedStanding,
  historyKind,
  isStanding,
  mainFeed,
  standingOf,
  standingStates,
  workingStates,
} from '#src/ledger/rules/feeds.ts';
import { waitsForHost } from '#src/ledger/rules/hosts.ts';
import { unsettledStates } from '#src/ledger/rules/letters.ts';
import { appliesAllRows, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import type { Tables } from '#src/ledger/tables.ts';

type Sources = Pick<Tables, 'runs' | 'keys' | 'letters'>;
type Applies = 'rows' | 'allRows';

export async function feedStandings(tables: Sources, away: readonly string[] = []): Promise<readonly FeedStanding[]> {
  const standings: FeedStanding[] = [];
  for (const feed of await tables.keys.feeds()) {
    const newest = async (states: readonly RunState[], applies: Applies = 'rows'): Promise<RunRecord | null> =>
      (await tables.runs.findRuns({ feed: feed.feed, kind: historyKind, states, applies }, 1))[0] ?? null;
    const { last, whole } = await newestStanding(newest);
    const failed = feed.feed === mainFeed ? await newest(['failed']) : null;
    const mayBeOpen = last?.state === 'doneWithDead';
    standings.push(
      standingOf(feed, {
        last: last !== null && isStanding(last) ? last : null,
        whole,
        working: away.length === 0 ? await newest(workingStates) : await newestAtWork(tables, feed.feed, away),
        accepted: await newest(acceptedStates),
        cancelled: await newest(cancelledStates),
        failed,
        besideFailed: failed === null ? null : await newestBeside(tables, failed),
        stopped: await newest(['stopped']),
        inAnyState: (await tables.runs.findRuns({ feed: feed.feed }, 1))[0] ?? null,
        deadOpen: mayBeOpen && (await hasUnsettled(tables, feed.feed, last.sequence)),
      }),
    );
  }
  return standings;
}

/** Files of a feed that wait behind one another. */
const workingMax = 100;

/** Without those that wait for a host that is away. */
async function newestAtWork({ runs }: Sources, feed: string, away: readonly string[]): Promise<RunRecord | null> {
  const asked = { feed, kind: historyKind, states: workingStates, applies: 'rows' } as const;
  return (await runs.findRuns(asked, workingMax)).find((run) => !waitsForHost(run, away)) ?? null;
}

/** The newest file with an end that the same host took. */
async function newestBeside({ runs }: Sources, { feed, host }: RunRecord): Promise<RunRecord | null> {
  const asked = { feed, kind: historyKind, states: standingStates, applies: 'rows', hosts: [host] } as const;
  return (await runs.findRuns(asked, 1))[0] ?? null;
}

/** The newest file, and the newest whole one. Of a run that applied some rows a good end says nothing of the whole file before it, which waits for a person. */
async function newestStanding(
  newest: (states: readonly RunState[], applies?: Applies) => Promise<RunRecord | null>,
): Promise<{ readonly last: RunRecord | null; readonly whole: RunRecord | null }> {
  const last = await newest(standingStates);
  if (last === null || appliesAllRows(last.options)) return { last, whole: last };
  const whole = await newest(standingStates, 'allRows');
  return { last: last.state === 'done' && whole?.state === 'stopped' ? whole : last, whole };
}

/**
 * A letter keeps the sequence of the file that met it last, whatever redrive tries it again; one that a fix-file met since
 * has that of the fix-file.
 */
async function hasUnsettled({ letters }: Sources, feed: string, fromSequence: number): Promise<boolean> {
  const after = { sequence: fromSequence - 1, line: Number.MAX_SAFE_INTEGER, id: '' };
  return (await letters.facts({ by: 'met', feed, states: unsettledStates, after, limit: 1 })).length > 0;
}
