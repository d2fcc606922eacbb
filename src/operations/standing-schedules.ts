/** Schedules that do nothing at the moment, for `status` and `doctor`: paused ones, and those whose time has passed. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { configuredSchedules } from '#src/schedules/reconcile-schedules.ts';
import { overdueAfterMs } from '#src/schedules/start-schedules.ts';

export interface StandingSchedules {
  /** A person has paused them; by name. */
  readonly paused: readonly { readonly name: string; readonly since: string; readonly reason: string | null }[];
  /** Due, and not carried out: no engine runs, or it cannot check them. By name. */
  readonly overdue: readonly { readonly name: string; readonly dueAt: string }[];
}

/** Of those that the configuration has: the next start removes any other. */
export async function readStandingSchedules({
  ledger,
  clock,
  config,
}: Pick<Home, 'ledger' | 'clock' | 'config'>): Promise<StandingSchedules> {
  const configured = new Set(configuredSchedules(config).map(({ name }) => name));
  const schedules = (await ledger.schedules.list()).filter(({ name }) => configured.has(name));
  const nowMs = clock.nowMs();
  return {
    paused: schedules.flatMap(({ name, pausedAtMs, pauseReason }) =>
      pausedAtMs === null ? [] : [{ name, since: isoInstant(pausedAtMs), reason: pauseReason }],
    ),
    overdue: schedules.flatMap(({ name, rule, dueAtMs, pausedAtMs }) => {
      const isDue = rule !== null && dueAtMs !== null && pausedAtMs === null;
      return isDue && nowMs - dueAtMs > overdueAfterMs ? [{ name, dueAt: isoInstant(dueAtMs) }] : [];
    }),
  };
}
