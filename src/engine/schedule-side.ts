/** The engine's side to schedules: whether they become due here, and how their files are taken. */
import { join } from 'node:path';
import type { Home } from '#src/app.ts';
import { within } from '#src/clock.ts';
import type { SchedulesContext } from '#src/schedules/carry-out-tick.ts';
import { configuredSchedules } from '#src/schedules/reconcile-schedules.ts';
import { reopenTicks, type ScheduleParts, type Schedules, startSchedules } from '#src/schedules/start-schedules.ts';
import { removeStrayDownloads } from '#src/takes/enter.ts';
import type { TakeParts } from '#src/takes/parts.ts';
import { takeFiles } from '#src/takes/take.ts';
import type { Trouble } from './health.ts';

/** A frozen queue must not keep the engine from ending. */
const stopMsMax = 2_000;

/** It was asked for under another configuration, or dropped from this one with work that waited. */
const notConfigured =
  'the configuration that the engine was started with does not name this feed. Start the engine again where it does now';

export interface ScheduleSide {
  /** What the jobs of schedules call into; before `start` nothing becomes due. */
  readonly context: SchedulesContext;
  /** From now on what is due is entered. @throws what the ledger throws. */
  start(): Promise<void>;
  /**
   * Once before jobs are handed out, and at each sweep: what nobody works on waits again, what is due is entered, and the queue
   * gets its wake-ups.
   */
  look(): Promise<void>;
  /** Schedules that have stopped. */
  troubles(): readonly Pick<Trouble, 'code' | 'message'>[];
  /** Within two seconds, also where the queue does not answer. */
  stop(): Promise<void>;
}

export function createScheduleSide(
  home: Home,
  { producer, wake }: { readonly producer: ScheduleParts['queue']; readonly wake: () => void },
): ScheduleSide {
  const { config, ledger, clock, log, feeds } = home;
  const parts = takeParts(home);
  let strays: Promise<unknown> | null = null;
  let running: Schedules | null = null;
  const underWay = new Set<string>();
  const tickDue = async (): Promise<void> => running?.tickDue();
  return {
    context: {
      ...{ ledger, clock, log, wake, tickDue, underWay },
      take: async (name, trigger, signal) => {
        if (!Object.hasOwn(config.feeds, name)) {
          return { outcome: 'failed', code: 'notConfigured', message: notConfigured };
        }
        // Once, before the first take: whoever comes meanwhile waits for it.
        strays ??= removeStrayDownloads(parts);
        await strays;
        return takeFiles({ ...parts, trigger }, await feeds.get(name), signal);
      },
    },
    start: async () => {
      running = await startSchedules({ ledger, clock, log, queue: producer, wake }, configuredSchedules(config));
    },
    look: async () => {
      await reopenTicks({ ledger, clock, log, underWay });
      await tickDue();
      await running?.reconcileQueue();
    },
    troubles: () =>
      (running?.stoppedSchedules() ?? []).map((name) => ({
        code: 'scheduleStopped',
        message: `the schedule ${name} has stopped: its time came more than five minutes ago`,
      })),
    // Wake-ups that stay in the queue do no harm: the next engine begins with its own.
    stop: async () => void (await within(stopMsMax, running?.stop() ?? Promise.resolve())),
  };
}

function takeParts({ config, ledger, clock, log, submit, folders }: Home): Omit<TakeParts, 'trigger'> {
  return {
    ...{ ledger, clock, log, submit },
    folders: { downloads: join(folders.root, 'downloads') },
    download: config.download,
    env: process.env,
  };
}
