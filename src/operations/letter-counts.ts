/** How many dead letters fit, by reason and by state: of lists that show the newest of them alone. */
import type { Home } from '#src/app.ts';
import type { DeadLetterState, LettersOfReason } from '#src/ledger/letters.ts';
import type { DeadLetterQuery } from './dead-letters.ts';
import { withWholeRunId } from './runs.ts';

export interface LetterCounts {
  /** By code and field, the largest first; each with one of its classes. */
  readonly groups: readonly LettersOfReason[];
  /** States without any are left out. */
  readonly states: ReadonlyMap<DeadLetterState, number>;
}

const statesOf: Readonly<Record<DeadLetterQuery['state'], readonly DeadLetterState[]>> = {
  open: ['open', 'redriven'],
  redriven: ['redriven'],
  closed: ['closed'],
  dropped: ['dropped'],
  all: ['open', 'redriven', 'closed', 'dropped'],
};

/** Those that the whole list has, whatever its limit. @throws PatchbayError `usage` `noSuchRun`. */
export async function countLetters(
  home: Pick<Home, 'ledger'>,
  asked: Pick<DeadLetterQuery, 'code' | 'run' | 'feed' | 'state'>,
): Promise<LetterCounts> {
  const { code, run, feed, state } = await withWholeRunId(home, asked);
  const which = {
    ...(code === undefined ? {} : { code }),
    ...(run === undefined ? {} : { runId: run }),
    ...(feed === undefined ? {} : { feed }),
  };
  const states = new Map<DeadLetterState, number>();
  const groups = new Map<string, LettersOfReason>();
  for (const one of statesOf[state]) {
    for (const reason of await home.ledger.deadLetters.counts({ ...which, states: [one] })) {
      const name = JSON.stringify([reason.code, reason.field]);
      groups.set(name, { ...reason, count: reason.count + (groups.get(name)?.count ?? 0) });
      states.set(one, reason.count + (states.get(one) ?? 0));
    }
  }
  return { groups: [...groups.values()].toSorted((a, b) => b.count - a.count), states };
}
