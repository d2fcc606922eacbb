/**
 * What the engine of a single command does before it leaves, since no later sweep does it: it sends the notices that are due, and deletes what
 * is kept no longer. An engine of `start` does both at its sweeps.
 */
import { within } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { Notices } from '#src/notices/deliver.ts';
import type { NoticeWatch } from '#src/notices/watch-feeds.ts';
import { type ExpiryParts, expireDue } from './expiry.ts';

export interface LastWorkParts extends ExpiryParts {
  readonly noticeWatch: Pick<NoticeWatch, 'look'>;
  readonly notices: Pick<Notices, 'deliver'>;
}

/** A command may take this much longer, once in an hour or where a notice is due; the next command goes on. */
const lastWorkMsMax = 5_000;
/** What was cut ends at its next step, unless the ledger does not answer. */
const graceMs = 2_000;
const deliveriesMax = 50;

/** Within some seconds. The signal ends it at once. Never rejects. */
export async function doLastWork(parts: LastWorkParts, signal: AbortSignal): Promise<void> {
  const { log } = parts.home;
  const over = new AbortController();
  const cut = (): void => over.abort();
  const timer = setTimeout(cut, lastWorkMsMax);
  signal.addEventListener('abort', cut, { once: true });
  if (signal.aborted) cut();
  const logged = (error: unknown): void => {
    if (over.signal.aborted) return;
    log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'last work ended early');
  };
  try {
    if (over.signal.aborted) return;
    const ended = new Promise<void>((resolve) =>
      over.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    const work = Promise.all([sendDue(parts, over.signal).catch(logged), expireDue(parts, over.signal).catch(logged)]);
    await Promise.race([work, ended]);
    await within(graceMs, work);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cut);
  }
}

/**
 * Each once, those of a feed one behind the other: what is not accepted waits for the next engine, and so does what is behind it. Where another
 * engine leads, it sends them.
 */
async function sendDue({ home, standing, noticeWatch, notices }: LastWorkParts, signal: AbortSignal): Promise<void> {
  if (!standing.leads()) return;
  await noticeWatch.look();
  const { ledger, clock } = home;
  const tried = new Set<string>();
  await sendFresh();

  /** One that was sent may make way for the next of its feed, while a receiver of others is slow. */
  async function sendFresh(): Promise<void> {
    if (signal.aborted) return;
    const due = await ledger.deliveries.nextDue(await ledger.nowMs(clock), deliveriesMax);
    const fresh = due.filter(({ id }) => !tried.has(id));
    for (const { id } of fresh) tried.add(id);
    await Promise.all(fresh.map(({ id }) => notices.deliver(id, signal).then(sendFresh)));
  }
}
