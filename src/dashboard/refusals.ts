/**
 * Refused actions and wrong tokens: a line in the log, and a wait before a wrong token is answered.
 *
 * The wait slows down who guesses. A right token is never kept waiting, nor is a session, so that a person can log in while others guess;
 * how many wait at once is bounded by the connections that the page takes (`start-page.ts`).
 */
import { type Clock, sleepUnlessCut } from '#src/clock.ts';
import type { Logger } from '#src/log.ts';

/** Between two lines about the same. */
const lineEveryMs = 10_000;
const wrongTokenWaitMs = 1_000;

export type RefusedAction = 'login' | 'logout' | 'bearer';

export interface Refusals {
  /** The first is logged at once; of those that follow, one in ten seconds, with the number of those left out. */
  note(action: RefusedAction, code: string): void;
  /** A wrong token: noted, and waited for. Ends early with the signal. */
  wrongToken(action: RefusedAction, signal: AbortSignal): Promise<void>;
}

export function openRefusals({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly log: Logger;
}): Refusals {
  const lines = new Map<string, { readonly atMs: number; leftOut: number }>();
  const note: Refusals['note'] = (action, code) => {
    const nowMs = clock.nowMs();
    const last = lines.get(`${action} ${code}`);
    // The clock may have been set back.
    if (last !== undefined && Math.abs(nowMs - last.atMs) < lineEveryMs) {
      last.leftOut += 1;
      return;
    }
    lines.set(`${action} ${code}`, { atMs: nowMs, leftOut: 0 });
    log.warn({ action, code, ...(last?.leftOut ? { leftOut: last.leftOut } : {}) }, 'page action refused');
  };
  return {
    note,
    wrongToken: async (action, signal) => {
      note(action, 'wrongToken');
      await sleepUnlessCut(clock, wrongTokenWaitMs, signal);
    },
  };
}
