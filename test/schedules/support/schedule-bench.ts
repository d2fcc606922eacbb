/** Schedules on a real ledger, with a clock that a test sets and a queue that remembers. Closed when the test ends. */

import { onTestFinished } from 'vitest';
import type { Clock } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { startableTicks } from '#src/ledger/rules/ticks.ts';
import type { ScheduleRule, TickRecord } from '#src/ledger/schedules.ts';
import { createLogger } from '#src/log.ts';
import type { ConfiguredSchedule } from '#src/schedules/reconcile-schedules.ts';
import type { ScheduleParts, WakeUp } from '#src/schedules/start-schedules.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const startMs = Date.parse('2026-11-22T12:00:00Z');

export interface SetClock extends Clock {
  /** The wall clock; the other one goes on with it, and never back. */
  set(nowMs: number): void;
  advance(ms: number): void;
}

/** Who sleeps wakes up when the clock was set so far, or with the signal. */
export function setClock(): SetClock {
  let nowMs = startMs;
  let monotonicMs = 0;
  const sleepers = new Set<{ readonly dueMs: number; readonly wake: () => void }>();
  const set = (next: number): void => {
    monotonicMs += Math.max(0, next - nowMs);
    nowMs = next;
    for (const sleeper of sleepers) {
      if (sleeper.dueMs > monotonicMs) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  };
  return {
    nowMs: () => nowMs,
    monotonicMs: () => monotonicMs,
    bootId: 'test',
    sleep: (ms, signal) =>
      new Promise((wake, reject) => {
        const sleeper = { dueMs: monotonicMs + ms, wake };
        const cut = (): void => {
          sleepers.delete(sleeper);
          reject(new DOMException('cut off', 'AbortError'));
        };
        sleepers.add(sleeper);
        if (signal?.aborted) cut();
        else signal?.addEventListener('abort', cut, { once: true });
      }),
    set,
    advance: (ms) => set(nowMs + ms),
  };
}

export interface ScheduleBench extends ScheduleParts {
  readonly clock: SetClock;
  /** What the queue was given last. */
  /** Ids of hosts that are away. */
  readonly away: string[];
  readonly wakeUps: readonly WakeUp[];
  readonly wakes: { count: number };
  /** `message: feed` of each line, in their order. */
  readonly lines: string[];
  reopen(): Promise<Ledger>;
  /** Ticks of a schedule, oldest first, as `trigger outcome-or-state`. */
  ticks(name: string): Promise<readonly string[]>;
  /** Begins and ends the tick that waits. */
  takeRuns(name: string, runIds: readonly string[]): Promise<TickRecord | null>;
}

export async function openScheduleBench(): Promise<ScheduleBench> {
  const { ledger, reopen, close } = await openTempLedger();
  onTestFinished(() => close());
  const clock = setClock();
  const lines: string[] = [];
  const stream = {
    write: (text: string) => {
      const { msg, feed } = JSON.parse(text);
      lines.push(feed === undefined ? msg : `${msg}: ${feed}`);
    },
  };
  const wakes = { count: 0 };
  const held: WakeUp[] = [];
  const away: string[] = [];
  return {
    ledger,
    clock,
    log: createLogger({ level: 'info', stream }),
    queue: {
      schedule: async (wakeUps) => {
        held.splice(0, held.length, ...wakeUps);
        return true;
      },
    },
    wake: () => {
      wakes.count += 1;
    },
    away,
    hostsAway: async () => away,
    wakeUps: held,
    wakes,
    lines,
    reopen,
    ticks: async (name) =>
      (await ledger.schedules.ticks(name, 100))
        .toReversed()
        .map(({ trigger, outcome, state }) => `${trigger} ${outcome ?? state}`),
    takeRuns: async (name, runIds) => {
      const tick = startableTicks(await ledger.schedules.openTicks())
        .slice(0, 10)
        .find((one) => one.schedule === name);
      if (tick === undefined) return null;
      await ledger.schedules.begin(tick.id, clock.nowMs());
      await ledger.schedules.end(tick.id, clock.nowMs(), { outcome: 'run', runIds, message: null });
      return ledger.schedules.tick(tick.id);
    },
  };
}

export function everyHours(name: string, hours: number): ConfiguredSchedule {
  return take(name, { kind: 'every', everyMs: hours * hourMs });
}

export function take(name: string, rule: ScheduleRule | null): ConfiguredSchedule {
  return { name, work: 'take', rule, expectEveryMs: null };
}

export function nightly(name: string, zone = 'Europe/Berlin'): ConfiguredSchedule {
  return take(name, { kind: 'at', at: '30 2 * * *', zone });
}
