/** Files that wait for a host that is away: nothing but their host can read them, or end their runs. */
import type { Ledger } from '#src/ledger/port.ts';
import { waitsForHost } from '#src/ledger/rules/hosts.ts';
import { activeRunStates, type RunRecord } from '#src/ledger/runs.ts';
import type { FileOnHost } from './feed-condition.ts';

const filesAwayMax = 100;

/** The oldest file of each feed: one that is unread, before one that lacks its end alone. @param away ids of hosts. @param nameOf the name of a host. */
export async function filesOn(
  { runs }: Pick<Ledger, 'runs'>,
  away: readonly string[],
  nameOf: (host: string) => string,
): Promise<ReadonlyMap<string, FileOnHost>> {
  if (away.length === 0) return new Map();
  const active = await runs.list({ states: activeRunStates, hosts: away, limit: filesAwayMax });
  const waiting = active.filter((run) => waitsForHost(run, away));
  const isUnread = ({ state }: RunRecord): boolean => state === 'queued' || state === 'staging';
  // The newest come first: of each feed the last one stays.
  return new Map(
    [...waiting.filter((run) => !isUnread(run)), ...waiting.filter(isUnread)].map(({ id, feed, fileName, host }) => [
      feed,
      { runId: id, file: fileName, host: nameOf(host ?? '') },
    ]),
  );
}
