/** What the engine does by the clock: a sweep every few seconds, and a look whether another process wrote to the ledger. */
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { isLedgerTrouble } from '#src/ledger/sqlite/damage.ts';
import type { Logger } from '#src/log.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { Sweeper } from './sweeper.ts';

const sweepEveryMs = 5_000;
const wakeEveryMs = 250;
/** A sweep that the queue took should have begun long before. */
const sweepLateMs = 20_000;

export interface TimerParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly ledger: Ledger;
  readonly producer: Pick<Producer, 'add'>;
  readonly sweeper: Sweeper;
  /** Another process wrote to the ledger. */
  readonly wake: () => void;
}

/**
 * The sweep goes through the queue; its slot makes it one job per interval. Where the queue does not take it, or took it
 * and does not hand it out, it is done here. @returns what stops the timers.
 */
export function startEngineTimers({ clock, log, ledger, producer, sweeper, wake }: TimerParts): () => void {
  let changeCount = -1;
  let toldFailure: string | null = null;
  const tell = (error: unknown, message: string): void => {
    log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, message);
  };
  const look = async (): Promise<void> => {
    await ledger.requireSound();
    const count = await ledger.changeCount();
    if (count !== changeCount) wake();
    changeCount = count;
    toldFailure = null;
  };
  const sweep = async (): Promise<void> => {
    const slot = Math.floor(clock.monotonicMs() / sweepEveryMs);
    const taken = await producer.add([{ name: 'sweep', id: `sweep-${slot}`, payload: { slot } }]);
    if (!taken || sweeper.sinceLastMs() > sweepLateMs) await sweeper.sweep();
  };
  const sweepTimer = setInterval(() => {
    sweep().catch((error: unknown) => tell(error, 'sweep ended early'));
  }, sweepEveryMs);
  const wakeTimer = setInterval(() => {
    look().catch((error: unknown) => {
      if (toldFailure !== messageOf(error)) tell(error, 'ledger not readable');
      toldFailure = messageOf(error);
    });
  }, wakeEveryMs);
  return () => {
    clearInterval(sweepTimer);
    clearInterval(wakeTimer);
  };
}
