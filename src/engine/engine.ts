/**
 * The engine: queue, workers, periodic tasks and, without a configured service, the sandbox, on one data folder.
 *
 * There is one engine per data folder: the process that holds the lock. Over PostgreSQL several data folders, the *hosts*, may share a ledger
 * (`among-hosts.ts`); what an engine does differently then is in `standing.ts`. Everything an engine does is derived from the ledger, so it may
 * die at any instant and another engine continues. Worker processes (`worker-session.ts`) find it by its registration in the ledger. This file
 * builds the engine: first the connection to the service, then the queue, then what fills and empties it. `stop` closes in reverse order.
 */
import type { BatchContext, JobContext } from '#jobs/context.ts';
import { finishRunJob } from '#jobs/finish-run.ts';
import { engineCatalog, jobCatalog } from '#jobs/index.ts';
import { workOnBatch } from '#jobs/upsert-batch.ts';
import type { Home } from '#src/app.ts';
import { PatchbayError } from '#src/errors.ts';
import type { EngineLock } from '#src/ledger/engine-presence.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import { addressedTo, addresseesOf } from '#src/notices/addressees.ts';
import { openNotices } from '#src/notices/deliver.ts';
import { startNoticeWatch } from '#src/notices/watch-feeds.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import { createDispatcher, type Dispatcher, type DispatchScope } from '#src/queue/dispatcher.ts';
import { openProducer, type Producer, type QueueDepth, type QueueObserver } from '#src/queue/producer.ts';
import { startWorkers } from '#src/queue/workers.ts';
import { enterOrphans, removeStrays } from '#src/runs/enter-run.ts';
import { removeStrayDownloads } from '#src/takes/enter.ts';
import { firstLookHeldMsMax, isHeldBack } from '#src/workspace/port.ts';
import { amongHosts } from './among-hosts.ts';
import { type Closers, createClosers, createStopDeadline } from './closers.ts';
import { engineTasks, limitBatches } from './engine-tasks.ts';
import { createHealth, type KnownTrouble } from './health.ts';
import { createHeapRoom } from './heap-room.ts';
import { batchContext, jobContext, takeParts } from './job-context.ts';
import { jobFailureNotes } from './job-failure-notes.ts';
import { createLedWork } from './led-work.ts';
import { openEngineQueue, openSandbox } from './own-services.ts';
import { createSweeper, startEngineTimers, sweepOver } from './periodic-tasks.ts';
import type { Sandbox } from './sandbox.ts';
import { createServiceWatch, createWriteTrial, type ServiceWatch } from './service-watch.ts';
import { aloneOn } from './standing.ts';
import { openWorkspaceClient, type WorkspaceClient } from './workspace-client.ts';

export interface EngineOptions {
  /** A person confirms that the workspace is the same although origin or key changed. */
  readonly sameWorkspace: boolean;
  /** Which failures of the service at the start are waited out instead of thrown. */
  readonly waitFor: 'unreachable' | 'everything';
  /** Whether schedules become due here. If not, only ticks that a person requested are run. */
  readonly runsSchedules: boolean;
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

/** The embedded one needs a second, in which the rest of the start goes on. */
function beginQueue(home: Home, closers: Closers): Promise<QueueServer> {
  const queue = openEngineQueue(home);
  // It may fail before it is waited for, and is to fail the start then, and not the process.
  const stopped = queue.catch(() => null);
  closers.add(async () => (await stopped)?.stop());
  return queue;
}

/**
 * The order in which closers are added is behaviour, since each is called before those added earlier: lock, queue, presence (hosts), sandbox,
 * client, producer, dispatcher, notices, candidacy (hosts), last look of the notice watch, pauses of runs (alone), workers with led work,
 * `giveUp` of the queue's server, sweeper, timers, registration (alone).
 * @param stopping cuts all reads that have no signal of their own.
 */
async function build(home: Home, options: EngineOptions, closers: Closers, stopping: AbortController): Promise<Engine> {
  const { config, ledger, clock, log } = home;
  // A follower that takes over after damage must not start on the damaged ledger.
  await ledger.requireSound();
  const death = Promise.withResolvers<PatchbayError>();
  const queue = beginQueue(home, closers);
  const { runsSchedules } = options;
  const standing =
    home.host === null
      ? aloneOn(home)
      : await amongHosts(home, home.host, { runsSchedules, onTaken: death.resolve }, closers);
  const sandbox = await openSandbox(home, closers);
  // Before the client, whose rate gate is kept there.
  const server = await queue;
  await standing.shareQueue(server);
  const { client, watch, batches } = openService(
    home,
    sandbox,
    server,
    options.sameWorkspace,
    stopping.signal,
    standing.hasFeedElsewhere,
  );
  const stopLeftMs = createStopDeadline(clock, config.queue.stopDeadlineMs);
  closers.add(async () => {
    stopping.abort(stopped());
    await client.close(stopLeftMs());
  });
  await checkService(home, client, watch, options.waitFor, standing.isBesideOthers);

  const health = createHealth({ clock, log, queueDescription: server.description, folder: home.folders.root });
  home.observeLedger((trouble) => {
    health.ledgerEnded(trouble);
    if (trouble?.kind === 'damaged') death.resolve(trouble);
  });
  server.onDeath((cause) => death.resolve(queueDied(cause)));
  await health.look();
  const scope = (nowMs: number): DispatchScope => ({ ...standing.scope(nowMs), isOwnerDead: home.identity.isDead });
  const { producer, dispatcher } = openQueue(home, server, health.queueEnded, scope, closers);
  const notices = openNotices({
    ...{ ledger, clock, log, random: Math.random, notify: config.notify, workspace: home.serviceName },
    ...{ installation: config.name, pageAddress: config.page.address },
  });
  closers.add(() => notices.close());
  const noticeWatch = startNoticeWatch({
    ...{ ledger, clock, log, feeds: config.feeds, notify: config.notify },
    addressed: (notice) => addressedTo(addresseesOf(config.notify), notice),
    runsSchedules,
    filesAway: standing.filesAway,
  });
  const led = createLedWork({
    ...{ home, producer, wake: dispatcher.wake, runsSchedules },
    connection: server.worker,
    onJobEnd: (_name, id, failed) => dispatcher.ended(id, failed),
    context: (): JobContext => context,
  });

  const tasks = engineTasks({
    ...{ home, standing, server, producer, dispatcher, led, watch, noticeWatch, health },
    runs: batches.runs,
  });
  const sweeper = createSweeper(clock, sweepOver(tasks));
  const context = jobContext(home, batches, {
    notices,
    sweep: sweeper.sweep,
    tickDue: led.tickDue,
    wake: dispatcher.wake,
    underWay: led.underWay,
  });
  await producer.forget(standing.ownJobs);
  await limitBatches(home, producer);
  const { downloads } = takeParts(home);
  await removeStrayDownloads(downloads, home.log);
  await options.enter?.();
  closers.add(() => standing.giveUpLead());
  // After the last job, and not during another look: a short import ends before its first sweep.
  closers.add(async () => (standing.leads() ? noticeWatch.look() : undefined));
  await standing.beforeWork(closers);
  const heapRoom = createHeapRoom();
  const workers = startWorkers({
    ...{ ledgerId: ledger.id, host: home.host?.id ?? null, connection: server.worker, context, log },
    catalog: engineCatalog,
    concurrency: { 'upsert-batch': config.upsert.batchesAtOnce },
    onJobBegin: heapRoom.begins,
    onOutcome: jobFailureNotes(home),
    onJobEnd: (name, id, failed) => {
      heapRoom.ends(name);
      dispatcher.ended(id, failed);
      if (name === finishRunJob.name) void led.refreshView();
    },
  });
  closers.add(async () => {
    stopping.abort(stopped());
    await Promise.all([workers.stop(stopLeftMs()), led.end(stopLeftMs())]);
  });
  closers.add(() => server.giveUp());
  await enterOrphans(home.submit);
  await removeStrays(home.submit);
  await standing.beginLed(led);
  closers.add(() => sweeper.stop());
  const { wake } = dispatcher;
  const jobsOfSweeps = standing.sweepsByItself ? null : producer;
  closers.add(startEngineTimers({ clock, log, ledger, producer: jobsOfSweeps, sweeper, wake }));
  const serviceOrigin = client.workspace.origin;
  await standing.announce({ led, wake, serviceOrigin, queue: server.place }, closers);
  wake();

  return {
    queueDescription: server.description,
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
    stop: closers.closeAll,
  };
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
  queue: QueueServer,
  sameWorkspace: boolean,
  stopping: AbortSignal,
  hasFeedElsewhere?: (feed: string) => boolean,
): ServiceSide {
  const { ledger, clock, log } = home;
  // A breaker opens only after requests were sent: by then the watch exists.
  const onOpenBreaker = (opened: Parameters<ServiceWatch['opened']>[0]) => void watch.opened(opened);
  const client = openWorkspaceClient(home, { sandbox, queue, sameWorkspace, onOpenBreaker, stopping });
  const tryWrite = createWriteTrial(ledger, clock, client.breakers, (batch, signal) =>
    workOnBatch(batch, batches, signal, { recordsMax: 1 }),
  );
  const watch = createServiceWatch({ ledger, ...client, clock, log, tryWrite });
  const failures = { ...watch, pause: watch.pauseFor };
  const batches = batchContext(home, client.workspace, failures, hasFeedElsewhere);
  return { client, watch, batches };
}

/**
 * A failure that is waited out pauses all work; the probe of the sweep ends the pause. Beside other hosts a pause stays, and neither a key that
 * only this one is refused with nor a rate gate that holds this look back pauses them.
 */
async function checkService(
  { ledger }: Home,
  client: WorkspaceClient,
  watch: ServiceWatch,
  waitFor: EngineOptions['waitFor'],
  isBesideOthers: boolean,
): Promise<void> {
  if (!isBesideOthers) await ledger.setPause(null);
  try {
    await client.recheck({ heldMsMax: firstLookHeldMsMax });
  } catch (error) {
    if (isBesideOthers && isHeldBack(error)) return;
    const waitsForKey = waitFor === 'everything' && !isBesideOthers;
    const refused = error instanceof PatchbayError && error.kind === 'auth' && !waitsForKey;
    if (refused || !(await watch.pauseFor(error))) throw error;
  }
}

interface QueueSide {
  readonly producer: Producer;
  readonly dispatcher: Dispatcher;
}

/** What puts jobs into the queue. */
function openQueue(
  home: Home,
  server: QueueServer,
  observe: QueueObserver,
  scope: (nowMs: number) => DispatchScope,
  closers: Closers,
): QueueSide {
  const { config, ledger, clock, log } = home;
  const producer = openProducer(ledger.id, server.producer, log, observe, home.host?.id);
  closers.add(() => producer.close());
  const dispatcher = createDispatcher({ ledger, producer, clock, log, jobsMax: config.queue.jobsMax, scope });
  closers.add(() => {
    producer.giveUp();
    return dispatcher.stop();
  });
  return { producer, dispatcher };
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
