/** The engine's side to schedules: whether they become due here, and how their files are taken. */
import { join } from 'node:path';
import type { Home } from '#src/app.ts';
import { configuredSchedules } from '#src/schedules/configured-schedules.ts';
import type { ScheduleParts, SchedulesContext } from '#src/schedules/parts.ts';
import { type Schedules, startSchedules } from '#src/schedules/start-schedules.ts';
import type { TakeParts } from '#src/takes/parts.ts';
import { takeFiles } from '#src/takes/take-files.ts';
import type { Trouble } from './health.ts';

export interface ScheduleSide {
  /** What the jobs of schedules call into; before `start` nothing becomes due. */
  readonly context: SchedulesContext;
  /** From now on what is due is entered. @throws what the ledger throws. */
  start(): Promise<void>;
  /** For each sweep: enters what is due, and gives the queue its wake-ups. */
  look(): Promise<void>;
  /** Schedules that have stopped. */
  troubles(): readonly Pick<Trouble, 'code' | 'message'>[];
  stop(): Promise<void>;
}

export function createScheduleSide(
  home: Home,
  { producer, wake }: { readonly producer: ScheduleParts['queue']; readonly wake: () => void },
): ScheduleSide {
  const { config, ledger, clock, log, feeds } = home;
  let running: Schedules | null = null;
  const tickDue = async (): Promise<void> => running?.tickDue();
  return {
    context: {
      ...{ ledger, clock, log, wake, tickDue },
      take: async (name, signal) => takeFiles(takeParts(home), await feeds.get(name), signal),
    },
    start: async () => {
      running = await startSchedules({ ledger, clock, log, queue: producer, wake }, configuredSchedules(config));
    },
    look: async () => {
      await tickDue();
      await running?.reconcileQueue();
    },
    troubles: () =>
      (running?.stuckSchedules() ?? []).map((name) => ({
        code: 'scheduleStopped',
        message: `the schedule ${name} has stopped: its time came more than five minutes ago`,
      })),
    stop: async () => running?.stop(),
  };
}

function takeParts({ config, ledger, clock, log, submit, folders }: Home): TakeParts {
  return {
    ...{ ledger, clock, log, submit },
    folders: { downloads: join(folders.root, 'downloads') },
    download: config.download,
    env: process.env,
  };
}
