/**
 * Waiting for a ledger that is away: what needs it is begun anew until it answers, or patience is over.
 *
 * Only for work that may be begun anew: reads, and entries that find what they have entered before.
 */
import type { Clock } from '#src/clock.ts';
import type { PatchbayError } from '#src/errors.ts';
import { isPassingTrouble } from './trouble.ts';

export interface Patience {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  /** How long the ledger may be away; 0: not at all. */
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
  /** Called when the trouble that is waited out is another one than before. Must not throw. */
  readonly onWait?: (trouble: PatchbayError) => void;
}

/** A database that starts answers soon after it listens. */
const againMs = 500;

/**
 * @param passes which trouble is waited for; default: all that passes by itself.
 * @throws what `work` throws: trouble that passes only when patience is over; the signal's reason.
 */
export async function waitOut<Result>(
  { clock, patienceMs, signal, onWait }: Patience,
  work: () => Promise<Result>,
  passes: (error: unknown) => error is PatchbayError = isPassingTrouble,
): Promise<Result> {
  const startedAtMs = clock.monotonicMs();
  let said: string | null = null;
  // Ends with the work, with another error, with the signal, or when patience is over.
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!passes(error) || clock.monotonicMs() - startedAtMs >= patienceMs) throw error;
      if (error.message !== said) onWait?.(error);
      said = error.message;
    }
    await clock.sleep(againMs, signal);
  }
}

/** What a read answers; `instead` while the ledger is away. @throws any other error. */
export async function unlessAway<Result, Instead>(
  read: () => Promise<Result>,
  instead: Instead,
): Promise<Result | Instead> {
  try {
    return await read();
  } catch (error) {
    if (isPassingTrouble(error)) return instead;
    throw error;
  }
}
