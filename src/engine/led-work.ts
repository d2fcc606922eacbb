/**
 * What one engine at a time does for all that share a ledger: ticks and their work, audits, deliveries, the view of dead letters.
 *
 * The engine of a ledger in a file does it from its start to its stop. Over PostgreSQL it begins with the lead and ends with it
 * (`src/ledger/lead.ts`), perhaps several times; work that is cut off is begun anew by the next leader.
 */
import type { RedisOptions } from 'bullmq';
import type { JobContext } from '#jobs/context.ts';
import { ledCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import { within } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { Producer } from '#src/queue/producer.ts';
import { startWorkers, type Workers } from '#src/queue/workers.ts';
import { tidyFinished } from '#src/runs/finish-run.ts';
import { configuredSchedules } from '#src/schedules/reconcile-schedules.ts';
import { reopenTicks, type Schedules, type StoppedSchedule, startSchedules } from '#src/schedules/start-schedules.ts';
import { type DeadLetterView, openDeadLetterView } from './dead-letter-view.ts';
import type { KnownTrouble } from './health.ts';
import { jobFailureNotes } from './job-failure-notes.ts';

export interface LedWork {
  /** Ids of the ticks that this process works on. */
  readonly underWay: Set<string>;
  /** Begins it; does nothing where it has begun. @throws what the ledger throws. */
  begin(): Promise<void>;
  /** Ends what goes on, within the deadline. What `begin` has begun meanwhile is ended, too. Never rejects. */
  end(deadlineMs: number): Promise<void>;
  /** Enters due ticks; nothing before `begin`. */
  tickDue(): Promise<void>;
  /** Reopens ticks that were cut off, enters due ones, and gives the queue its wake-ups. */
  look(): Promise<void>;
  refreshView(): Promise<void>;
  /** Schedules that have stopped. */
  troubles(): readonly KnownTrouble[];
}

export interface LedWorkParts {
  readonly home: Home;
  readonly producer: Producer;
  readonly connection: RedisOptions;
  readonly wake: () => void;
  readonly runsSchedules: boolean;
  readonly hostsAway: () => Promise<readonly string[]>;
  readonly onJobEnd: (name: string, id: string, failed: boolean) => void;
  /** The jobs' context, which itself needs this work. */
  readonly context: () => JobContext;
}

/** A frozen queue must not keep the engine from stopping. */
const schedulesStopMsMax = 2_000;

export function createLedWork(parts: LedWorkParts): LedWork {
  const { home, producer, connection, wake, runsSchedules, hostsAway } = parts;
  const { config, ledger, clock, log, submit } = home;
  const underWay = new Set<string>();
  let schedules: Schedules | null = null;
  let workers: Workers | null = null;
  let view: DeadLetterView | null = null;
  /** Beginnings and ends, one after the other. */
  let last: Promise<void> = Promise.resolve();

  const tickDue = async (): Promise<void> => schedules?.tickDue();
  const look = async (): Promise<void> => {
    await reopenTicks({ ledger, clock, log, underWay });
    await tickDue();
    await schedules?.reconcileQueue();
  };
  /** Each step is done once, so that a beginning that met trouble goes on where it was. */
  const begin = async (): Promise<void> => {
    if (workers === null) {
      // Jobs that a dead leader had begun would block theirs until their locks expire. No other process takes them.
      await producer.forget(ledCatalog.map((job) => job.name));
      await look();
      await tidyFinished(home);
      view ??= openDeadLetterView({ ledger, producer, connection, submit, log, onRedrive: wake });
      workers = startWorkers({
        ...{ ledgerId: ledger.id, host: home.host?.id ?? null, connection, log },
        catalog: ledCatalog,
        context: parts.context(),
        onOutcome: jobFailureNotes(home),
        onJobEnd: parts.onJobEnd,
      });
    }
    if (runsSchedules && schedules === null)
      schedules = await startSchedules(
        { ledger, clock, log, queue: producer, hostsAway, wake },
        configuredSchedules(config),
      );
  };
  const end = async (deadlineMs: number): Promise<void> => {
    const [ofSchedules, ofJobs, ofLetters] = [schedules, workers, view];
    [schedules, workers, view] = [null, null, null];
    // At the same time: where the queue is frozen, each waits for it as long as it may.
    await Promise.all([
      // Wake-ups that stay in the queue do no harm: the next leader replaces them.
      within(schedulesStopMsMax, ofSchedules?.stop() ?? Promise.resolve()),
      ofJobs?.stop(deadlineMs),
      ofLetters?.close(),
    ]);
  };

  return {
    underWay,
    begin: () => {
      const beginning = last.then(begin);
      // Its failure is the caller's, who waits for it; what comes next only waits for its end.
      last = beginning.catch(() => undefined);
      return beginning;
    },
    end: (deadlineMs) => {
      last = last
        .then(() => end(deadlineMs))
        .catch((error: unknown) => {
          log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'led work ended badly');
        });
      return last;
    },
    tickDue,
    look,
    refreshView: async () => view?.refresh(),
    troubles: () => (schedules?.stoppedSchedules() ?? []).map(stoppedTrouble),
  };
}

/** What people are to know of a schedule that has stopped. */
export function stoppedTrouble({ name, failure }: StoppedSchedule): KnownTrouble {
  const words = (reason: string | undefined): string =>
    `the schedule ${name} has stopped: it was due more than five minutes ago${reason === undefined ? '' : `, and cannot be checked (${reason})`}`;
  return { code: 'scheduleStopped', message: words(failure?.reason), plainMessage: words(failure?.plainReason) };
}
