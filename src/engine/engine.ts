/**
 * The engine: queue, workers, periodic tasks and, without a configured service, the sandbox, on one data folder.
 *
 * There is one engine per data folder: the process that holds the lock. Everything it does is derived from the ledger, so
 * it may die at any instant and another engine continues. Worker processes (`worker-session.ts`) find it by its
 * registration in the ledger. This file builds the engine: first the way to the service, then the queue, then what fills
 * and empties it. `stop` closes in reverse order.
 */
import type { RedisOptions } from 'bullmq';
import type { BatchContext } from '#jobs/context.ts';
import { finishRunJob } from '#jobs/finish-run.ts';
import { jobCatalog } from '#jobs/index.ts';
import { upsertBatch, workOnBatch } from '#jobs/upsert-batch.ts';
import type { Home } from '#src/app.ts';
import { within } from '#src/clock.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { serviceFigures } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import type { EngineLock } from '#src/ledger/engine-presence.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import { addressedTo, addresseesOf } from '#src/notices/addressees.ts';
import { openNotices } from '#src/notices/deliver.ts';
import { startNoticeWatch } from '#src/notices/watch-feeds.ts';
import { openQueueServer, type QueueServer } from '#src/queue/connection.ts';
import { createDispatcher, type Dispatcher } from '#src/queue/dispatcher.ts';
import { openProducer, type Producer, type QueueDepth, type QueueObserver } from '#src/queue/producer.ts';
import { startWorkers } from '#src/queue/workers.ts';
import { batchesAtOnceMax } from '#src/rate/rate-share.ts';
import { enterOrphans, removeStrays } from '#src/runs/enter-run.ts';
import { tidyFinished } from '#src/runs/finish-run.ts';
import { expireFiles } from '#src/runs/run-files.ts';
import { configuredSchedules } from '#src/schedules/reconcile-schedules.ts';
import { reopenTicks, type Schedules, startSchedules } from '#src/schedules/start-schedules.ts';
import { removeStrayDownloads } from '#src/takes/enter.ts';
import { type DeadLetterView, openDeadLetterView } from './dead-letter-view.ts';
import { createHealth, type Trouble } from './health.ts';
import { batchContext, jobContext, takeParts } from './job-context.ts';
import { createSweeper, type PeriodicTask, startEngineTimers, sweepOver } from './periodic-tasks.ts';
import { registerEngine } from './registration.ts';
import type { Sandbox } from './sandbox.ts';
import { createServiceWatch, createWriteTrial, type ServiceWatch } from './service-watch.ts';
import { type Closers, createClosers } from './worker-session.ts';
import { openWorkspaceClient, type WorkspaceClient } from './workspace-client.ts';

/** The queue's server, which may still be opening. */
export type EngineQueue = Promise<QueueServer>;

export interface EngineOptions {
  /** A person confirms that the workspace is the same although origin or key changed. */
  readonly sameWorkspace: boolean;
  /** Which failures of the service at the start are waited out instead of thrown. */
  readonly waitFor: 'unreachable' | 'everything';
  /** Whether schedules become due here. If not, only ticks that a person requested are run. */
  readonly runsSchedules: boolean;
  /** The queue's server, where the caller has begun to open it: the engine stops it. */
  readonly queue?: EngineQueue;
}

export interface Engine {
  /** `embedded Valkey`, or the address of Redis. */
  readonly queueDescription: string;
  /** The service's address, also of the sandbox. */
  readonly serviceOrigin: string;
  /** The sandbox's key, for people who want to use its API; null for a real service. */
  readonly sandboxKey: string | null;
  /** Current problems around this process; empty if there are none. */
  troubles(): readonly Pick<Trouble, 'code' | 'message'>[];
  /** Must be called after this process wrote work to the ledger. */
  wake(): void;
  /** Jobs in the queue, by name; null where it does not say in time. Never rejects. */
  queueJobs(): Promise<readonly QueueDepth[] | null>;
  /** Runs that are not at rest. */
  activeRunCount(): Promise<number>;
  /** Resolves when the engine cannot continue, with the reason: `queueDied`, `ledgerDamaged`. The caller then stops it. */
  readonly died: Promise<PatchbayError>;
  /** Finishes the requests in progress, within the deadline, and releases the lock. */
  stop(): Promise<void>;
}

/** The dead-letter view is for people and may lag. */
const viewEverySweeps = 6;
/** Once an hour. */
const expireEverySweeps = 720;
/** A probe waits for the rate gate, which may wait for Redis; the next sweep probes again. */
const probeMsMax = 60_000;

/**
 * Starts the engine. The caller holds the lock; the engine releases it when it stops, also if it fails to start.
 * @throws PatchbayError `usage`, `auth`, `unreachable`, `damaged`.
 */
export async function startEngine(home: Home, lock: EngineLock, options: EngineOptions): Promise<Engine> {
  const closers = createClosers(home.log);
  closers.add(() => lock.release());
  const { queue } = options;
  if (queue !== undefined) closers.add(() => stopQueue(queue));
  try {
    return await build(home, options, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** Opens the queue's server before the engine starts: the embedded one needs a second. The caller holds the lock. */
export function openEngineQueue({ config, folders, log }: Home): EngineQueue {
  const queue = openQueueServer({ redisUrl: config.queue.redisUrl, folder: folders.queue, log });
  // A failure is the engine's, which waits for it.
  queue.catch(() => undefined);
  return queue;
}

/** Of an engine that does not start. */
export async function stopQueue(queue: EngineQueue): Promise<void> {
  const server = await queue.catch(() => null);
  await server?.stop();
}

async function build(home: Home, options: EngineOptions, closers: Closers): Promise<Engine> {
  const { config, ledger, clock, log } = home;
  // A follower that takes over after damage must not start on the damaged ledger.
  await ledger.requireSound();
  const sandbox = await openSandbox(home, closers);
  // Before the client, whose rate gate is kept there.
  const server = await (options.queue ?? openEngineQueue(home));
  if (options.queue === undefined) closers.add(() => server.stop());
  const { client, watch, batches } = openService(home, sandbox, server.producer, options.sameWorkspace);
  closers.add(() => client.close());
  await checkService(home, client, watch, options.waitFor);

  const health = createHealth({ clock, log, queueDescription: server.description, folder: home.folders.root });
  const death = Promise.withResolvers<PatchbayError>();
  home.observeLedger((trouble) => {
    health.ledgerEnded(trouble);
    if (trouble?.kind === 'damaged') death.resolve(trouble);
  });
  server.onDeath((cause) => death.resolve(queueDied(cause)));
  await health.look();
  const { producer, dispatcher, view } = openQueue(home, server, health.queueEnded, closers);
  const notices = openNotices({
    ...{ ledger, clock, log, random: Math.random, notify: config.notify, workspace: home.serviceName },
    ...{ installation: config.name, pageAddress: config.page.address },
  });
  closers.add(() => notices.close());
  const schedules = createScheduleSide(home, producer, dispatcher.wake);
  const noticeWatch = startNoticeWatch({
    ...{ ledger, clock, log, feeds: config.feeds, notify: config.notify },
    addressed: (notice) => addressedTo(addresseesOf(config.notify), notice),
    runsSchedules: options.runsSchedules,
  });

  const limitBatches = async (): Promise<void> => {
    const batchesMax = batchesAtOnceMax(serviceFigures(config, home.mode).requestsPerSecond);
    if (batchesMax !== null) await producer.limitAtOnce(upsertBatch.name, batchesMax);
  };
  const atEachSweep = (run: PeriodicTask['run']): PeriodicTask => ({ everySweeps: 1, run });
  // In this order: due ticks are entered before the dispatcher looks for them.
  const tasks: readonly PeriodicTask[] = [
    atEachSweep(() => health.look()),
    // Again and again: a flushed queue has forgotten the limit.
    atEachSweep(() => limitBatches()),
    atEachSweep(() => schedules.look()),
    atEachSweep(() => dispatcher.sweep()),
    atEachSweep(async (signal) => {
      if (await watch.probe(AbortSignal.any([signal, AbortSignal.timeout(probeMsMax)]))) dispatcher.wake();
    }),
    atEachSweep(async () => {
      await noticeWatch.look();
      dispatcher.wake();
    }),
    // A run that another process was ending when it died, too.
    atEachSweep(() => tidyFinished(home)),
    { everySweeps: viewEverySweeps, run: () => view.refresh() },
    { everySweeps: expireEverySweeps, run: (signal) => expire(home, signal) },
  ];
  const sweeper = createSweeper(clock, sweepOver(tasks));
  const context = jobContext(home, batches, {
    notices,
    sweep: sweeper.sweep,
    tickDue: schedules.tickDue,
    wake: dispatcher.wake,
    underWay: schedules.underWay,
  });
  await producer.forget(jobCatalog.map((job) => job.name));
  await limitBatches();
  await schedules.look();
  const { downloads } = takeParts(home);
  await removeStrayDownloads(downloads, home.log);
  // After the last job, and not during another look: a short import ends before its first sweep.
  closers.add(() => noticeWatch.look());
  const workers = startWorkers({
    ledgerId: ledger.id,
    connection: server.worker,
    catalog: jobCatalog,
    concurrency: { 'upsert-batch': config.upsert.batchesAtOnce },
    context,
    log,
    onJobEnd: (name, id, failed) => {
      dispatcher.ended(id, failed);
      if (name === finishRunJob.name) void view.refresh();
    },
  });
  closers.add(() => workers.stop(config.queue.stopDeadlineMs));
  closers.add(() => server.giveUp());
  await enterOrphans(home.submit);
  await removeStrays(home.submit);
  await tidyFinished(home);
  if (options.runsSchedules) await schedules.start();
  closers.add(() => schedules.stop());
  closers.add(() => sweeper.stop());
  closers.add(startEngineTimers({ clock, log, ledger, producer, sweeper, wake: dispatcher.wake }));
  closers.add(await registerEngine(home, client.workspace.origin, server.place));
  dispatcher.wake();

  return {
    queueDescription: server.description,
    troubles: () => [...health.troubles(), ...schedules.troubles()],
    serviceOrigin: client.workspace.origin,
    sandboxKey: sandbox?.apiKey ?? null,
    wake: dispatcher.wake,
    queueJobs: () => producer.depths(jobCatalog.map((job) => job.name)),
    activeRunCount: async () =>
      (await ledger.runs.list({ states: activeRunStates, limit: 1_000, oldestFirst: true })).length,
    died: death.promise,
    stop: closers.closeAll,
  };
}

async function openSandbox({ config, clock, log, mode }: Home, closers: Closers): Promise<Sandbox | null> {
  if (mode !== 'sandbox') return null;
  // The whole service is loaded where it is needed only.
  const { startSandbox } = await import('./sandbox.ts');
  const sandbox = await startSandbox(dataFolders(config, 'sandbox'), clock, log.child({ part: 'service' }));
  closers.add(() => sandbox.close());
  return sandbox;
}

interface ServiceSide {
  readonly client: WorkspaceClient;
  readonly watch: ServiceWatch;
  readonly batches: BatchContext;
}

/** The client, the watch over the service, and what batch jobs work with. Sends nothing. @throws PatchbayError `usage` `baseUrlInvalid`. */
function openService(
  home: Home,
  sandbox: Sandbox | null,
  connection: RedisOptions,
  sameWorkspace: boolean,
): ServiceSide {
  const { ledger, clock, log } = home;
  // A breaker opens only after requests were sent: by then the watch exists.
  const onOpenBreaker = (opened: Parameters<ServiceWatch['opened']>[0]) => void watch.opened(opened);
  const client = openWorkspaceClient(home, { sandbox, connection, sameWorkspace, onOpenBreaker });
  const tryWrite = createWriteTrial(ledger, clock, client.breakers, (batch, signal) =>
    workOnBatch(batch, batches, signal, { recordsMax: 1 }),
  );
  const watch = createServiceWatch({ ledger, ...client, clock, log, tryWrite });
  const batches = batchContext(home, client.workspace, { ...watch, pause: watch.pauseFor });
  return { client, watch, batches };
}

/** A failure that is waited out pauses all work; the probe of the sweep ends the pause. */
async function checkService(
  { ledger }: Home,
  client: WorkspaceClient,
  watch: ServiceWatch,
  waitFor: EngineOptions['waitFor'],
): Promise<void> {
  await ledger.setPause(null);
  try {
    await client.recheck();
  } catch (error) {
    const refused = error instanceof PatchbayError && error.kind === 'auth' && waitFor === 'unreachable';
    if (refused || !(await watch.pauseFor(error))) throw error;
  }
}

interface QueueSide {
  readonly producer: Producer;
  readonly dispatcher: Dispatcher;
  readonly view: DeadLetterView;
}

/** What puts jobs into the queue, and the view of the dead letters in it. */
function openQueue(home: Home, server: QueueServer, observe: QueueObserver, closers: Closers): QueueSide {
  const { config, ledger, clock, log, submit } = home;
  const producer = openProducer(ledger.id, server.producer, log, observe);
  closers.add(() => producer.close());
  const dispatcher = createDispatcher({ ledger, producer, clock, log, jobsMax: config.queue.jobsMax });
  closers.add(() => dispatcher.stop());
  const connection = server.worker;
  const view = openDeadLetterView({ ledger, producer, connection, submit, log, onRedrive: dispatcher.wake });
  closers.add(() => view.close());
  return { producer, dispatcher, view };
}

interface ScheduleSide {
  /** Ids of the ticks that this process works on. */
  readonly underWay: Set<string>;
  /** Enters due ticks; does nothing before `start`. */
  tickDue(): Promise<void>;
  /** @throws what the ledger throws. */
  start(): Promise<void>;
  /** Reopens ticks that were cut off, enters due ones, and gives the queue its wake-ups. */
  look(): Promise<void>;
  /** Schedules that have stopped. */
  troubles(): readonly Pick<Trouble, 'code' | 'message'>[];
  stop(): Promise<void>;
}

/** A frozen queue must not keep the engine from stopping. */
const schedulesStopMsMax = 2_000;

function createScheduleSide(home: Home, queue: Producer, wake: () => void): ScheduleSide {
  const { config, ledger, clock, log } = home;
  const underWay = new Set<string>();
  let running: Schedules | null = null;
  const tickDue = async (): Promise<void> => running?.tickDue();
  return {
    underWay,
    tickDue,
    start: async () => {
      running = await startSchedules({ ledger, clock, log, queue, wake }, configuredSchedules(config));
    },
    look: async () => {
      await reopenTicks({ ledger, clock, log, underWay });
      await tickDue();
      await running?.reconcileQueue();
    },
    troubles: () =>
      (running?.stoppedSchedules() ?? []).map((name) => ({
        code: 'scheduleStopped',
        message: `the schedule ${name} has stopped: it was due more than five minutes ago`,
      })),
    // Wake-ups that stay in the queue do no harm: the next engine replaces them.
    stop: async () => void (await within(schedulesStopMsMax, running?.stop() ?? Promise.resolve())),
  };
}

/** Deletes what is kept no longer: files, and what has ended in the ledger. */
async function expire({ config, ledger, clock, log, runFolders }: Home, signal: AbortSignal): Promise<void> {
  const { keepFilesMs, keepJournalMs, keepHistoryMs } = config.data;
  await expireFiles(clock, log, runFolders, keepFilesMs);
  await ledger.forget(clock.nowMs(), keepFilesMs, { journalMs: keepJournalMs, historyMs: keepHistoryMs, signal });
}

function queueDied(cause: Error): PatchbayError {
  return new PatchbayError('unreachable', 'queueDied', `the queue stopped working: ${cause.message}`, {
    hint: 'Start again: all remaining work is recorded in the ledger.',
    cause,
  });
}
