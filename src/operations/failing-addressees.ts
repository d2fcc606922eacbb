/** Addressees that did not accept what was sent to them: what waits there, why, and what sends it at once. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { type DeliveryRecord, waitingMax } from '#src/ledger/deliveries.ts';
import { type Addressee, addressOf } from '#src/notices/addressees.ts';

/** In `status --json`. No address of it: that of a webhook may hold a secret. */
export interface FailingAddressee {
  readonly to: Addressee;
  /** All that waits for it, what was never tried included. */
  readonly waiting: number;
  /** When the first try that failed ended, of those that wait. Null where an older version wrote them. */
  readonly since: string | null;
  /** Of the last try that failed. */
  readonly code: string | null;
  readonly message: string | null;
  /** The next try; in the past where it is due, and only an engine is missing. */
  readonly nextTry: string;
  /** The id of the oldest notice that failed: `dead retry` of it tries the addressee now. */
  readonly retry: string;
}

/** Those for which something waits that failed. By name. */
export async function readFailingAddressees({
  ledger,
  clock,
}: Pick<Home, 'ledger' | 'clock'>): Promise<readonly FailingAddressee[]> {
  const waiting = await ledger.deliveries.list({ states: ['waiting'], limit: waitingMax });
  if (waiting.length === 0) return [];
  // What is due goes by the clock of the ledger, and what a person reads by that of the wall.
  const aheadMs = clock.nowMs() - (await ledger.nowMs(clock));
  const byAddressee = Map.groupBy(waiting, ({ feed }) => addressOf(feed).addressee);
  return [...byAddressee]
    .flatMap(([to, all]) => failing(to, all, aheadMs) ?? [])
    .sort((a, b) => a.to.localeCompare(b.to, 'en'));
}

/** @param all newest first. */
function failing(to: Addressee, all: readonly DeliveryRecord[], aheadMs: number): FailingAddressee | null {
  // One that a person has sent again since has no try behind it.
  const failed = all.filter(({ attempts, code }) => attempts > 0 && code !== null);
  const oldest = failed.at(-1);
  if (oldest === undefined) return null;
  const last = failed.reduce((a, b) => ((b.failedAtMs ?? 0) > (a.failedAtMs ?? 0) ? b : a), oldest);
  const begun = failed.flatMap(({ failingSinceMs }) => failingSinceMs ?? []);
  return {
    to,
    waiting: all.length,
    since: begun.length === 0 ? null : isoInstant(Math.min(...begun)),
    code: last.code,
    message: last.message,
    nextTry: isoInstant(aheadMs + Math.min(...failed.map(({ dueAtMs }) => dueAtMs))),
    retry: oldest.id,
  };
}
