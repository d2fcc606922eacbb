/**
 * A worker process: takes batches from the queue of an engine that runs in another process.
 *
 * It holds no lock, serves no page, takes no files and finishes no run, and never becomes the engine. It works in
 * *sessions*: one for each engine, from the engine's registration to its end. The engine may stop, die and come back; the
 * worker then waits for the next one.
 *
 * Invariant: a session takes a job only while its engine lives, and after this process's own key was seen to open the
 * ledger's workspace. A failure of the service pauses the work of all processes and ends the session, so that the next
 * session begins with that check: otherwise a worker whose own key is wrong would pause all others again and again.
 */
import { batchCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import { sleepUnlessCut } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { EngineRegistration } from '#src/ledger/engine-presence.ts';
import { isLedgerAway } from '#src/ledger/trouble.ts';
import { waitOut } from '#src/ledger/wait-out.ts';
import { attachQueueServer, type QueueServer } from '#src/queue/connection.ts';
import { startWorkers } from '#src/queue/workers.ts';
import { firstLookHeldMsMax, firstLookSilentMsMax } from '#src/workspace/port.ts';
import { createClosers, createStopDeadline } from './closers.ts';
import { createHealth } from './health.ts';
import { createHeapRoom } from './heap-room.ts';
import { batchContext, type ServiceFailures } from './job-context.ts';
import { jobFailureNotes } from './job-failure-notes.ts';
import { sandboxOf } from './own-services.ts';
import { requireQueue } from './queue-identity.ts';
import {
  findEngine,
  isGone,
  nextEngine,
  queueOf,
  registerWorker,
  requireEngine,
  seeFeeds,
  watchEngine,
} from './registration.ts';
import { createServiceWatch, type ServiceWatch } from './service-watch.ts';
import { openWorkspaceClient, type WorkspaceClient } from './workspace-client.ts';

interface WorkerOptions {
  /** Ends the worker: requests in progress are finished. */
  readonly signal: AbortSignal;
  /** A session begins. */
  readonly onWork: (engine: EngineRegistration, queueDescription: string) => void;
  /** It waits for an engine (null), or for what the error names. */
  readonly onWait: (cause: PatchbayError | null) => void;
}

/** How long to wait before a service or a queue that did not answer is tried again. */
const retryEveryMs = 5_000;

/**
 * Works until the signal fires: for the running engine, and for each one that follows it.
 * @throws PatchbayError `usage`: `noEngine`, `otherService`, `otherQueue`, `otherWorkspace`; `unreachable` `queueUnreachable` if
 *   Redis does not answer at the start; `damaged`.
 */
export async function runWorker(home: Home, options: WorkerOptions): Promise<void> {
  const { clock } = home;
  const { signal, onWait } = options;
  const find = async (): Promise<EngineRegistration | null> => {
    await requireEngine(home, signal);
    return await findEngine(home);
  };
  const patience = { clock, patienceMs: Number.POSITIVE_INFINITY, signal, onWait };
  let engine = await waitOut(patience, find, isLedgerAway).catch((error: unknown) => {
    if (signal.aborted) return null;
    throw error;
  });
  // Ends with the signal.
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      if (engine === null || (await isGone(home, engine))) {
        if (!isFirst) onWait(null);
        engine = await nextEngine(home, signal);
        if (engine === null) return;
      }
      await workSession(home, engine, options);
    } catch (error) {
      // A ledger that is away, or that another process holds for long, is waited for like a service that does not answer.
      const passes = error instanceof PatchbayError && (error.kind === 'unreachable' || error.kind === 'transient');
      if (!passes || (isFirst && !isLedgerAway(error))) throw error;
      onWait(error);
      await sleepUnlessCut(clock, retryEveryMs, signal);
    }
  }
}

/**
 * Resolves when that engine is gone, when the service fails, or when the signal fires.
 * @throws PatchbayError `usage`: `otherService`, `otherQueue`, `otherWorkspace`; `unreachable` `queueUnreachable`; `damaged`.
 */
async function workSession(home: Home, engine: EngineRegistration, options: WorkerOptions): Promise<void> {
  const { ledger, clock, log, config, folders } = home;
  const over = new AbortController();
  const endSession = (): void => over.abort();
  const end = AbortSignal.any([options.signal, over.signal]);
  const closers = createClosers(log);
  const health = createHealth({ clock, log, queueDescription: "the engine's queue", folder: folders.root });
  home.observeLedger((trouble) => {
    health.ledgerEnded(trouble);
    if (trouble?.kind === 'damaged') endSession();
  });
  const feeds = seeFeeds(home);
  await feeds.look();
  const watching = watchEngine(home, engine, feeds, endSession);
  closers.add(() => watching.stop());
  try {
    const server = await attachQueueServer({ redisUrl: config.queue.redisUrl, place: queueOf(home, engine) });
    closers.add(() => server.stop());
    if (!(await isQueueOfHosts(home, server, end))) return;
    let failures: SessionFailures | null = null;
    const client = openWorkspaceClient(home, {
      sandbox: await sandboxOf(home, engine, 'worker'),
      queue: server,
      sameWorkspace: false,
      // Ignored before the check has passed: it may be this machine alone that cannot reach the service.
      onOpenBreaker: (opened) => void failures?.opened(opened),
      stopping: end,
    });
    const stopLeftMs = createStopDeadline(clock, config.queue.stopDeadlineMs);
    closers.add(() => client.close(stopLeftMs()));
    if (!(await passCheck(home, client, end, options.onWait))) return;
    const watch = createServiceWatch({ ledger, ...client, clock, log });
    failures = sessionFailures(home, engine, watch, endSession);
    const heapRoom = createHeapRoom();
    const workers = startWorkers({
      ledgerId: ledger.id,
      connection: server.worker,
      catalog: batchCatalog,
      concurrency: { 'upsert-batch': config.upsert.batchesAtOnce },
      context: batchContext(home, client.workspace, failures, feeds.has),
      log,
      onJobBegin: heapRoom.begins,
      onOutcome: jobFailureNotes(home),
      onJobEnd: heapRoom.ends,
    });
    closers.add(() => workers.stop(stopLeftMs()));
    closers.add(() => server.giveUp());
    closers.add(await registerWorker(home));
    options.onWork(engine, server.description);
    if (!end.aborted) await new Promise((done) => end.addEventListener('abort', done, { once: true }));
    await ledger.requireSound();
  } finally {
    await closers.closeAll();
  }
}

/** @returns false if the signal fired first. @throws PatchbayError `usage` `otherQueue`. */
async function isQueueOfHosts({ ledger, ledgerPlace }: Home, server: QueueServer, end: AbortSignal): Promise<boolean> {
  if (ledgerPlace.kind !== 'database' || server.place.kind !== 'redis') return true;
  return await requireQueue(server.producer, ledger.id, () => ledger.hosts.queueId(), 'the hosts on this ledger', end);
}

/**
 * Checks until the key opens the ledger's workspace; waits while the service does not answer or refuses the key.
 * @returns false if the signal fired first.
 * @throws PatchbayError `usage` `otherWorkspace`.
 */
async function passCheck(
  { clock }: Home,
  client: WorkspaceClient,
  end: AbortSignal,
  onWait: WorkerOptions['onWait'],
): Promise<boolean> {
  let reported: string | null = null;
  // Ends with the signal, with an answer, or with an error that waiting does not help.
  while (!end.aborted) {
    try {
      // The first look ends soon, so that people learn of the wait; those after it are patient with a service that is slow.
      const silence = reported === null ? { silentMsMax: firstLookSilentMsMax } : {};
      await client.recheck({ heldMsMax: firstLookHeldMsMax, ...silence });
      return true;
    } catch (error) {
      if (end.aborted) return false;
      const waits = error instanceof PatchbayError && (error.kind === 'auth' || error.kind === 'unreachable');
      if (!waits) throw error;
      if (error.code !== reported) onWait(error);
      reported = error.code;
      await sleepUnlessCut(clock, retryEveryMs, end);
    }
  }
  return false;
}

type SessionFailures = ServiceFailures & Pick<ServiceWatch, 'opened'>;

/** Pauses work as the watch does, unless the engine is gone: its sandbox ended with it, and the next engine must not find a pause. */
function sessionFailures(
  home: Home,
  engine: EngineRegistration,
  watch: ServiceWatch,
  endSession: () => void,
): SessionFailures {
  return {
    opened: async (breaker) => {
      try {
        if (await isGone(home, engine)) return;
        await watch.opened(breaker);
      } catch (error) {
        // Not awaited by the client. The breaker reports again after the next failures.
        home.log.warn({ reason: messageOf(error) }, 'pause not written down');
      }
      if (breaker.kind === 'read') endSession();
    },
    exhausted: async (error) => {
      if (!(await isGone(home, engine))) await watch.exhausted(error);
    },
    pause: async (error) => {
      if (await isGone(home, engine)) return true;
      const paused = await watch.pauseFor(error);
      if (paused) endSession();
      return paused;
    },
    atWork: watch.atWork,
  };
}
