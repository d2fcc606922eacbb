/**
 * Servers that asked to be left alone (`Retry-After`) for longer than a take waits: the ticks of their feeds do not ask before that time is
 * over. Known in this process alone: the next engine asks once, and learns it anew.
 */
import { type Clock, isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';

export interface AskedWaits {
  /** How much of it is left, in milliseconds; 0 where that is over, or nothing was asked. */
  leftMs(place: string): number;
  /** Notes what the server has asked for, where the error says it; else that it asks for nothing any more. @param error null where it gave what it was asked for. */
  note(place: string, error: unknown): void;
}

/** The longest that is kept: a header may be wrong. */
export const askedWaitMaxMs = 86_400_000;

export function createAskedWaits(clock: Pick<Clock, 'monotonicMs'>): AskedWaits {
  const overAtMs = new Map<string, number>();
  return {
    leftMs: (place) => Math.max(0, (overAtMs.get(place) ?? 0) - clock.monotonicMs()),
    note: (place, error) => {
      const askedMs = error instanceof PatchbayError ? error.facts.askedWaitMs : undefined;
      if (typeof askedMs === 'number') overAtMs.set(place, clock.monotonicMs() + askedMs);
      else overAtMs.delete(place);
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
