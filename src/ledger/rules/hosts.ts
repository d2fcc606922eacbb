/** Rules on hosts: who may work beside whom, who is away, and what becomes of the runs of one that does not come back. Pure. */
import type { HostEntry, HostRecord } from '#src/ledger/hosts.ts';
import { pendingCount, type RunReason, type RunRecord } from '#src/ledger/runs.ts';
import { moved, type RunChange } from './runs.ts';

/** Five signs of life: a host that was silent for longer is away. */
export const hostSilentMaxMs = 15_000;

/** Whether its engine is at work, as far as can be known. */
export function isAtWork(host: HostRecord, nowMs: number): boolean {
  return !host.hasLeft && nowMs - host.seenAtMs < hostSilentMaxMs;
}

/**
 * Whether others go on without it. An engine that has just stopped may be starting anew.
 * @param watchedSinceMs since when the caller has been able to see signs of life: after an outage of the database all hosts seem silent.
 */
export function isAway(host: HostRecord, nowMs: number, watchedSinceMs = 0): boolean {
  return nowMs - Math.max(host.seenAtMs, watchedSinceMs) >= hostSilentMaxMs;
}

/** Whether only its host can go on with a run: with its file, or with its end. What has rows to write is written by the others. */
export function needsItsHost({ state, counts }: Pick<RunRecord, 'state' | 'counts'>): boolean {
  return state !== 'applying' || pendingCount(counts) === 0;
}

/** Whether a run waits for a host that is away: it holds up nothing that comes behind it. @param away ids of hosts. */
export function waitsForHost(run: Pick<RunRecord, 'state' | 'counts' | 'host'>, away: readonly string[]): boolean {
  return run.host !== null && away.includes(run.host) && needsItsHost(run);
}

/** Which of the other hosts at work cannot share a queue with one that has this; undefined where all can. */
export function notSharing(queue: HostRecord['queue'], others: readonly HostRecord[]): HostRecord | undefined {
  return queue === 'embedded' ? others[0] : others.find((other) => other.queue === 'embedded');
}

/**
 * @param known all hosts that are entered.
 * @param queueId the queue's identity; null before the first host.
 * @param freshQueueId its next one, if no host is at work.
 */
export function entryOf(
  host: HostRecord,
  known: readonly HostRecord[],
  isDead: (session: string) => boolean,
  queueId: string | null,
  freshQueueId: string,
): HostEntry {
  const atWork = known.filter((one) => isAtWork(one, host.seenAtMs) && !isDead(one.session));
  const same = atWork.find(({ id, session }) => id === host.id && session !== host.session);
  if (same !== undefined) return { kind: 'taken', by: same };
  const others = atWork.filter(({ id }) => id !== host.id);
  const [other] = others;
  if (other !== undefined && host.isSandbox) return { kind: 'sandboxNotShared', other };
  const alone = notSharing(host.queue, others);
  if (alone !== undefined) return { kind: 'queueNotShared', other: alone };
  const isFirst = other === undefined || queueId === null;
  return { kind: 'entered', queueId: isFirst ? freshQueueId : queueId, others };
}

/** The run of a host that does not come back, as its heir has it: a file that was not read cannot be read any more. */
export function inherited(run: RunRecord, from: HostRecord, heir: string, atMs: number): RunChange {
  const isUnread = run.claimedPath !== '' && (run.state === 'queued' || run.state === 'staging');
  if (!isUnread) return { host: heir };
  const reason: RunReason = {
    code: 'hostForgotten',
    message: `its file was on the host ${from.name}, which was forgotten before the file was read`,
    hint: 'Drop the file into the import folder of another host.',
    facts: { host: from.name },
  };
  return { ...moved(run, [run.state], 'cancelling', { atMs, reason }), host: heir };
}
