/**
 * Servers that asked to be left alone (`Retry-After`) for longer than a take waits: the ticks of their feeds do not ask before that time is
 * over. Known in this process alone: the next engine asks once, and learns it anew.
 */
import { type Clock, isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';

export interface AskedWaits {
  /** Until when, by the wall clock; null where that is over, or nothing was asked. */
  untilMs(place: string): number | null;
  /** Notes what the server has asked for, where the error says it. */
  note(place: string, error: unknown): void;
}

/** The longest that is kept: a header may be wrong. */
export const askedWaitMaxMs = 86_400_000;

export function createAskedWaits(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): AskedWaits {
  const overAtMs = new Map<string, number>();
  return {
    untilMs: (place) => {
      const leftMs = (overAtMs.get(place) ?? 0) - clock.monotonicMs();
      if (leftMs > 0) return clock.nowMs() + leftMs;
      overAtMs.delete(place);
      return null;
    },
    note: (place, error) => {
      const askedMs = error instanceof PatchbayError ? error.facts.askedWaitMs : undefined;
      if (typeof askedMs === 'number') overAtMs.set(place, clock.monotonicMs() + askedMs);
    },
  };
}

/** An answer that asks for this. */
export function askedToWait(answered: string, askedWaitMs: number, nowMs: number): PatchbayError {
  const message = `${answered}, and asks to wait until ${minuteAfter(nowMs + askedWaitMs)}`;
  const hint = 'It is tried again when it is due next after that. To ask at once, run the same command.';
  return new PatchbayError('unreachable', 'urlFailed', message, { facts: { askedWaitMs }, hint });
}

/** `2026-11-27 21:40Z`: the end of its minute. */
export function minuteAfter(atMs: number): string {
  return `${isoInstant(Math.ceil(atMs / 60_000) * 60_000)
    .slice(0, 16)
    .replace('T', ' ')}Z`;
}
