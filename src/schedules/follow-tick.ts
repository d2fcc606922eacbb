/** Follows a tick through the ledger, whichever process works on it. */
import type { Clock } from '#src/clock.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';
import type { TickRecord } from '#src/ledger/schedule-record.ts';

/** Why following ended. */
export type TickFollowEnd =
  | { readonly kind: 'done'; readonly tick: TickRecord }
  /** A snapshot, and the key is refused: nothing goes on before it works again. */
  | { readonly kind: 'auth'; readonly pause: Pause }
  /** Nothing moved for the whole patience. */
  | { readonly kind: 'unreachable'; readonly pause: Pause | null }
  /** Its schedule was dropped from the configuration. */
  | { readonly kind: 'forgotten' }
  /** Nobody works on the ledger any more: the caller may take over. */
  | { readonly kind: 'engineGone' };

export interface FollowTickOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly tickId: string;
  /** How long nothing may move before following gives up. Work at hand has a limit of its own. */
  readonly patienceMs: number;
  /** Asked about once a second; absent where the caller itself is the engine. */
  readonly isEngineGone?: () => boolean;
  readonly signal: AbortSignal;
}

const pollMs = 100;
const engineCheckMs = 1_000;

/** Ends with the tick, at a refused key, when patience is over, or with an `AbortError`. */
export async function followTick(options: FollowTickOptions): Promise<TickFollowEnd> {
  const { ledger, clock, tickId, patienceMs, isEngineGone, signal } = options;
  let movedAtMs = clock.monotonicMs();
  let checkedAtMs = clock.monotonicMs();
  for (;;) {
    signal.throwIfAborted();
    const tick = await ledger.schedules.tick(tickId);
    if (tick === null) return { kind: 'forgotten' };
    if (tick.state === 'ended') return { kind: 'done', tick };
    const pause = await ledger.pause();
    if (pause?.code === 'auth' && tick.work === 'snapshot') return { kind: 'auth', pause };
    const nowMs = clock.monotonicMs();
    if (await isMoving(ledger, tick.schedule)) movedAtMs = nowMs;
    if (nowMs - movedAtMs > patienceMs) return { kind: 'unreachable', pause };
    if (isEngineGone !== undefined && nowMs - checkedAtMs > engineCheckMs) {
      checkedAtMs = nowMs;
      if (isEngineGone()) return { kind: 'engineGone' };
    }
    await clock.sleep(pollMs, signal);
  }
}

/** It, or one of its schedule that it waits for. */
async function isMoving({ schedules }: Ledger, name: string): Promise<boolean> {
  return (await schedules.openTicks()).some((tick) => tick.schedule === name && tick.state === 'working');
}
