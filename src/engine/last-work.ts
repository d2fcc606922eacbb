/**
 * What the engine of a single command does before it leaves, since no later sweep does it: it deletes what is kept no longer. An engine of
 * `start` does that at its sweeps.
 */
import { within } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import { type ExpiryParts, expireDue } from './expiry.ts';

/** A command may take this much longer, once in an hour; the next command goes on. */
const lastWorkMsMax = 5_000;
/** What was cut ends at its next step, unless the ledger does not answer. */
const graceMs = 2_000;

/** Within some seconds. The signal ends it at once. Never rejects. */
export async function doLastWork(parts: ExpiryParts, signal: AbortSignal): Promise<void> {
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
    const work = expireDue(parts, over.signal).catch(logged);
    await Promise.race([work, ended]);
    await within(graceMs, work);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cut);
  }
}
