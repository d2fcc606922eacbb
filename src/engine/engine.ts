/**
 * The engine: queue, workers, periodic tasks and, without a configured service, the sandbox, on one data folder.
 *
 * There is one engine per data folder: the process that holds the lock. Over PostgreSQL several data folders, the *hosts*, may share a ledger
 * (`among-hosts.ts`); what an engine does differently then is in `standing.ts`. Everything an engine does is derived from the ledger, so it may
 * die at any instant and another engine continues. Worker processes (`worker-session.ts`) find it by its registration in the ledger. This file
 * builds the engine: first the connection to the service, then the queue, then what fills and empties it. `stop` closes in reverse order.
 */
import type { JobContext } from '#jobs/context.ts';
import { jobCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { EngineLock } from '#src/ledger/engine-presence.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import { addressedTo, addresseesOf } from '#src/notices/addressees.ts';
import { type Notices, openNotices } from '#src/notices/deliver.ts';
import { type NoticeWatch, startNoticeWatch } from '#src/notices/watch-feeds.ts';
import { tickHint } from '#src/operations/schedules.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import type { QueueDepth } from '#src/queue/producer.ts';
import { enterOrphans, removeStrays } from '#src/runs/enter-run.ts';
import { createGrownFiles } from '#src/runs/grown-files.ts';
import { removeStrayDownloads } from '#src/takes/enter.ts';
import { amongHosts } from './among-hosts.ts';
import { type Closers, createClosers, createStopDeadline } from './closers.ts';
import { beginQueue, openQueue, startEngineWorkers } from './engine-queue.ts';
import { checkService, openService, type WaitedOut } from './engine-service.ts';
import { engineTasks, limitBatches } from './engine-tasks.ts';
import { createHealth, type Health, type KnownTrouble } from './health.ts';
import { lookForGrown } from './intake.ts';
import { jobContext, takeParts } from './job-context.ts';
import { doLastWork } from './last-work.ts';
import { createLedWork } from './led-work.ts';
import { openSandbox } from './own-services.ts';
import { createSweeper, startEngineTimers, sweepOver } from './periodic-tasks.ts';
import { claimQueue } from './queue-ledger.ts';
import { aloneOn, type Standing } from './standing.ts';

export interface EngineOptions {
  /** A person confirms that the workspace is the same although origin or key changed. */
  readonly sameWorkspace: boolean;
  readonly waitFor: WaitedOut;
  /** Whether schedules become due here. If not, only ticks that a person requested are run. */
  readonly runsSchedules: boolean;
  /** Called once where the start waits for the entry of another engine in Redis to lapse, with the longest that this takes. Must not throw. */
  readonly onOtherEntry?: (leftMs: number) => void;
  /** Cuts the start. An engine that has started is ended by `stop`. */
  readonly signal?: AbortSignal;
  /**
   * Enters what the engine is started for, once nothing can refuse the start any more and before any run is worked on: a start that is refused
   * leaves nothing. What it throws ends the start.
   */
  readonly enter?: () => Promise<void>;
}

export interface Engine {
  /** `embedded Valkey`, or the address of Redis. */
  readonly queueDescription: string;
  /** The service's address, also of the sandbox. */
  readonly serviceOrigin: string;
  /** The sandbox's key, for people who want to use its API; null for a real service. */
  readonly sandboxKey: string | null;
  /** For how long the service did not answer when the engine started, in milliseconds; 0 where it did. All work is paused else. */
  readonly unansweredMs: number;
  /** Current problems around this process; empty if there are none. */
  troubles(): readonly KnownTrouble[];
  /** Must be called after this process wrote work to the ledger. */
  wake(): void;
  /** Jobs in the queue, by name; null where it does not say in time. Never rejects. */
  queueJobs(): Promise<readonly QueueDepth[] | null>;
  /** Whether this engine does what is done once for all that share the ledger. */
  leads(): boolean;
  /** Runs that are not at rest. */
  activeRunCount(): Promise<number>;
  /** Resolves when the engine cannot continue, with the reason: `queueDied`, `ledgerDamaged`. The caller then stops it. */
  readonly died: Promise<PatchbayError>;
  /** For an engine of a single command, before its stop (`last-work.ts`). The signal ends it at once. Never rejects. */
  doLastWork(signal: AbortSignal): Promise<void>;
  /** Finishes the requests in progress, within the deadline, and releases the lock. */
  stop(): Promise<void>;
}

/**
 * Starts the engine. The caller holds the lock; the engine releases it when it stops, also if it fails to start.
 * @throws PatchbayError `usage`, `auth`, `unreachable`, `damaged`; the signal's reason.
 */
export async function startEngine(home: Home, lock: EngineLock, options: EngineOptions): Promise<Engine> {
  const closers = createClosers(home.log);
  closers.add(() => lock.release());
  const stopping = new AbortController();
  const cut = (): void => stopping.abort(options.signal?.reason);
  options.signal?.addEventListener('abort', cut, { once: true });
  try {
    options.signal?.throwIfAborted();
    return await build(home, options, closers, stopping);
  } catch (error) {
    await closers.closeAll();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', cut);
  }
}

/**
 * The order in which closers are added is behaviour, since each is called before those added earlier: lock, queue, presence (hosts), sandbox,
 * claim of the queue, client, producer, dispatcher, notices, candidacy (hosts), last look of the notice watch, pauses of runs (alone), workers with led work and
 * files that grow, `giveUp` of the queue's server, sweeper, timers, registration (alone).
 * @param stopping cuts all reads that have no signal of their own.
 */
async function build(home: Home, options: EngineOptions, closers: Closers, stopping: AbortController): Promise<Engine> {
  const { config, ledger, clock, log } = home;
  // A follower that takes over after damage must not start on the damaged ledger.
  await ledger.requireSound();
  const death = Promise.withResolvers<PatchbayError>();
  const queue = beginQueue(home, closers);
  const { runsSchedules, sameWorkspace } = options;
  const standing =
    home.host === null
      ? aloneOn(home)
      : await amongHosts(home, home.host, { runsSchedules, onTaken: death.resolve }, closers);
  const sandbox = await openSandbox(home, closers);
  // Before the client, whose rate gate is kept there.
  const server = await queue;
  const { signal } = stopping;
  // A copy of the ledger must not give the queue another identity.
  const claim = await claimQueue(server, home, { signal, onOtherEntry: options.onOtherEntry });
  closers.add(() => claim.release());
  await standing.shareQueue(server);
  const service = openService(home, { standing, sandbox, queue: server, sameWorkspace, stopping: signal });
  const { client, watch, batches } = service;
  const stopLeftMs = createStopDeadline(clock, config.queue.stopDeadlineMs);
  closers.add(async () => {
    stopping.abort(stopped());
    await client.close(stopLeftMs());
  });
  const unansweredMs = await checkService(home, service, standing, options.waitFor);
  const health = await openHealth(home, server, death.resolve);

  const { producer, dispatcher } = openQueue(home, server, { standing, observe: health.queueEnded }, closers);
  const { wake } = dispatcher;
  const { notices, noticeWatch } = openNoticeSide(home, { standing, runsSchedules }, closers);
  const led = createLedWork({
    ...{ home, producer, wake, runsSchedules, hostsAway: standing.hostsAway, connection: server.worker },
    onJobEnd: (_name, id, failed) => dispatcher.ended(id, failed),
    context: (): JobContext => context,
  });
  const tasks = engineTasks({
    ...{ home, standing, server, claim, producer, dispatcher, led, watch, noticeWatch, health },
    runs: batches.runs,
  });
  const sweeper = createSweeper(clock, sweepOver(tasks));
  const { tickDue, underWay } = led;
  const grown = runsSchedules ? createGrownFiles(home.submit) : null;
  const context = jobContext(home, batches, { notices, sweep: sweeper.sweep, tickDue, wake, underWay, grown });

  await producer.forget(standing.ownJobs);
  await limitBatches(home, producer);
  await removeStrayDownloads(takeParts(home).downloads, log);
  await options.enter?.();
  closers.add(() => standing.giveUpLead());
  // After the last job: a short import ends before its first sweep.
  closers.add(async () => (standing.leads() ? noticeWatch.look() : undefined));
  await standing.beforeWork(closers);
  const workers = startEngineWorkers(home, { server, context, dispatcher, led });
  // What feeds take is a matter of the engine that leads.
  const growing = grown === null ? null : lookForGrown(grown, log, wake, standing.leads);
  closers.add(async () => {
    stopping.abort(stopped());
    await Promise.all([workers.stop(stopLeftMs()), led.end(stopLeftMs()), growing?.stop(stopLeftMs())]);
  });
  closers.add(() => server.giveUp());
  await enterOrphans(home.submit);
  await removeStrays(home.submit);
  await standing.beginLed(led);
  closers.add(() => sweeper.stop());
  const jobsOfSweeps = standing.sweepsByItself ? null : producer;
  closers.add(startEngineTimers({ clock, log, ledger, producer: jobsOfSweeps, sweeper, wake }));
  const serviceOrigin = client.workspace.origin;
  await standing.announce({ led, wake, serviceOrigin, queue: server.place }, closers);
  wake();

  return {
    queueDescription: server.description,
    unansweredMs,
    troubles: () => [...health.troubles(), ...led.troubles()],
    serviceOrigin,
    sandboxKey: sandbox?.apiKey ?? null,
    wake: () => {
      wake();
      void standing.sign();
    },
    queueJobs: () => producer.depths(jobCatalog.map((job) => job.name)),
    leads: standing.leads,
    activeRunCount: async () =>
      (await ledger.runs.list({ states: activeRunStates, limit: 1_000, oldestFirst: true })).length,
    died: death.promise,
    doLastWork: (last) => doLastWork({ home, standing, noticeWatch, notices }, last),
    stop: closers.closeAll,
  };
}

/** What this process knows of trouble around it. @param onDeath gets what the engine cannot continue with. */
async function openHealth(home: Home, server: QueueServer, onDeath: (cause: PatchbayError) => void): Promise<Health> {
  const { clock, log, folders } = home;
  const health = createHealth({ clock, log, queueDescription: server.description, folder: folders.root });
  home.observeLedger((trouble) => {
    health.ledgerEnded(trouble);
    if (trouble?.kind === 'damaged') onDeath(trouble);
  });
  server.onDeath((cause) => onDeath(queueDied(cause)));
  await health.look();
  return health;
}

interface NoticeSide {
  readonly notices: Notices;
  readonly noticeWatch: NoticeWatch;
}

/** What finds that a notice is due, and what delivers it. */
function openNoticeSide(
  { config, feeds, ledger, clock, log, serviceName, folderFlags }: Home,
  { standing, runsSchedules }: { readonly standing: Standing; readonly runsSchedules: boolean },
  closers: Closers,
): NoticeSide {
  const notices = openNotices({
    ...{ ledger, clock, log, random: Math.random, notify: config.notify, workspace: serviceName },
    ...{ installation: config.name, pageAddress: config.page.address },
  });
  closers.add(() => notices.close());
  const noticeWatch = startNoticeWatch({
    ...{ ledger, clock, log, feeds: config.feeds, notify: config.notify, runsSchedules },
    exists: (feed) => standing.hasFeedElsewhere(feed) || feeds.seen(feed),
    addressed: (notice) => addressedTo(addresseesOf(config.notify), notice),
    hostsAway: standing.hostsAway,
    hostNameOf: standing.hostNameOf,
    hintOf: (tick) => tickHint(tick, { ...folderFlags, sandbox: serviceName === 'sandbox' }),
  });
  return { notices, noticeWatch };
}

function stopped(): DOMException {
  return new DOMException('the engine stops', 'AbortError');
}

function queueDied(cause: Error): PatchbayError {
  return new PatchbayError('unreachable', 'queueDied', `the queue stopped working: ${cause.message}`, {
    hint: 'Start again: all remaining work is recorded in the ledger.',
    cause,
  });
}
