/**
 * A worker process: takes batches from the queue of an engine that runs in another process.
 *
 * It holds no lock, serves no page, takes no files, reads no file and finishes no run: it never becomes the engine. The
 * engine may stop, die and come back as often as it likes: each time the worker waits for the next one and begins a new
 * shift (`worker-shift.ts`).
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { batchCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import { sleepUnlessCut } from '#src/clock.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type EngineNotice, type QueuePlace, workerSignEveryMs } from '#src/ledger/engine-presence.ts';
import { isLedgerTrouble } from '#src/ledger/sqlite/damage.ts';
import { attachQueueServer, type QueueServer } from '#src/queue/connection.ts';
import { startWorkers } from '#src/queue/workers.ts';
import type { OpenedBreaker } from '#src/workspace/breaker.ts';
import { parseOrigin } from '#src/workspace/http-workspace.ts';
import { createClosers } from './closers.ts';
import { createHealth } from './health.ts';
import { batchContext, type ContextActions } from './job-context.ts';
import { isGone, lookEveryMs, nextEngine, requireEngine } from './registration.ts';
import { createServiceWatch, type ServiceWatch } from './service-watch.ts';
import { openWorkspaceClient, type WorkspaceClient, type WorkspaceClientOptions } from './workspace-client.ts';

/**
 * Works until the signal fires: for the engine that runs, and for each one that follows it, however long that takes.
 * @throws PatchbayError `usage`: `noEngine`, `otherService`, `otherQueue`, `otherWorkspace`; `unreachable` `queueUnreachable` where
 *   Redis does not answer at the start; `damaged`.
 */
export async function runWorker(home: Home, options: ShiftOptions): Promise<void> {
  const { clock, ledger } = home;
  const { signal, onWait } = options;
  await requireEngine(home, signal);
  let engine = await ledger.engineNotice();
  // Ends with the signal.
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      if (engine === null || (await isGone(home, engine))) {
        if (!isFirst) onWait(null);
        engine = await nextEngine(home, signal);
        if (engine === null) return;
      }
      await workShift(home, engine, options);
    } catch (error) {
      // A ledger that another process holds for long is waited for like a service that does not answer.
      const passes = error instanceof PatchbayError && (error.kind === 'unreachable' || error.kind === 'transient');
      const waits = passes && !isFirst;
      if (!waits) throw error;
      onWait(error);
      await sleepUnlessCut(clock, retryEveryMs, signal);
    }
  }
}

// A shift: what a worker process does for one engine, from its notice to its end.
//
// Invariant: it takes a job only while that engine lives, and after its own key was seen to open the ledger's workspace.
// Trouble of the service pauses the work of all and ends the shift, so that the next one begins with that check: else a
// worker whose own key is wrong would pause the work of all again and again.

/** How long to wait before a service or a queue that did not answer is tried again. */
const retryEveryMs = 5_000;

interface ShiftOptions {
  /** Ends the worker: the requests on their way are finished. */
  readonly signal: AbortSignal;
  /** A shift begins. */
  readonly onWork: (engine: EngineNotice, queueDescription: string) => void;
  /** It waits for an engine (null), or for what the error names. */
  readonly onWait: (cause: PatchbayError | null) => void;
}

/**
 * Resolves when that engine is gone, when the service is in trouble, or when the signal fires.
 * @throws PatchbayError `usage`: `otherService`, `otherQueue`, `otherWorkspace`; `unreachable` `queueUnreachable`; `damaged`.
 */
async function workShift(home: Home, engine: EngineNotice, options: ShiftOptions): Promise<void> {
  const { ledger, clock, log, config, folders } = home;
  const over = new AbortController();
  const end = AbortSignal.any([options.signal, over.signal]);
  const closers = createClosers(log);
  const health = createHealth({ clock, log, queueDescription: "the engine's queue", folder: folders.root });
  home.observeLedger((ledgerTrouble) => {
    health.ledgerEnded(ledgerTrouble);
    if (ledgerTrouble?.kind === 'damaged') over.abort();
  });
  closers.add(watchEngine(home, engine, () => over.abort()));
  try {
    const place = placeSeenHere(folders.root, engine.queue);
    const server = await attachQueueServer({ redisUrl: config.queue.redisUrl, place });
    closers.add(() => server.stop());
    let trouble: Trouble | null = null;
    const client = openWorkspaceClient(home, {
      sandbox: await sandboxOf(home, engine),
      connection: server.producer,
      sameWorkspace: false,
      // Before the check has passed it may be this machine alone that does not reach the service.
      onOpenBreaker: (opened) => void trouble?.opened(opened),
    });
    closers.add(() => client.close());
    if (!(await passCheck(home, client, end, options.onWait))) return;
    const watch = createServiceWatch({ ledger, ...client, clock, log });
    trouble = pauseForTrouble(home, engine, watch, () => over.abort());
    const workers = startBatchWorkers(home, server, client, { ...watch, ...trouble });
    closers.add(() => workers.stop(config.queue.stopDeadline));
    closers.add(() => server.giveUp());
    closers.add(await showPresence(home));
    options.onWork(engine, server.description);
    if (!end.aborted) await new Promise((done) => end.addEventListener('abort', done, { once: true }));
    await ledger.requireSound();
  } finally {
    await closers.closeAll();
  }
}

/** @returns what ends the watch. */
function watchEngine(home: Home, engine: EngineNotice, onGone: () => void): () => void {
  const look = async (): Promise<void> => {
    await home.ledger.requireSound();
    if (await isGone(home, engine)) onGone();
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => {
      // What the ledger's file suffers is told once (`health.ts`).
      const level = isLedgerTrouble(error) ? 'debug' : 'warn';
      home.log[level]({ reason: messageOf(error) }, 'ledger not readable');
    });
  }, lookEveryMs);
  return () => clearInterval(timer);
}

function placeSeenHere(root: string, place: QueuePlace): QueuePlace {
  return place.kind === 'socket' ? { kind: 'socket', path: resolve(root, place.path) } : place;
}

/**
 * Where the engine's sandbox is, and its key; null for a real service.
 * @throws PatchbayError `usage` `otherService`.
 */
async function sandboxOf({ config, mode }: Home, engine: EngineNotice): Promise<WorkspaceClientOptions['sandbox']> {
  if (mode === 'sandbox') {
    const apiKey = (await readFile(dataFolders(config, 'sandbox').sandboxKeyFile, 'utf8')).trim();
    return { origin: engine.serviceOrigin, apiKey };
  }
  const origin = parseOrigin(config.service.baseUrl ?? '');
  if (origin === engine.serviceOrigin) return null;
  const message = `the running engine writes to ${engine.serviceOrigin}, and this process is configured for ${origin}`;
  throw new PatchbayError('usage', 'otherService', message, {
    hint: 'Give a worker the same configuration and variables as the engine.',
  });
}

/**
 * Asks until the key opens the ledger's workspace; a service that does not answer or a key that is refused is waited for.
 * @returns false when the signal fired first.
 * @throws PatchbayError `usage` `otherWorkspace`.
 */
async function passCheck(
  { clock }: Home,
  client: WorkspaceClient,
  end: AbortSignal,
  onWait: ShiftOptions['onWait'],
): Promise<boolean> {
  let told: string | null = null;
  // Ends with the signal, with an answer, or with trouble that waiting does not mend.
  while (!end.aborted) {
    try {
      await client.recheck();
      return true;
    } catch (error) {
      const waits = error instanceof PatchbayError && (error.kind === 'auth' || error.kind === 'unreachable');
      if (!waits) throw error;
      if (error.code !== told) onWait(error);
      told = error.code;
      await sleepUnlessCut(clock, retryEveryMs, end);
    }
  }
  return false;
}

type Trouble = Pick<ServiceWatch, 'opened' | 'exhausted'> & Pick<ContextActions, 'pause'>;

/** The sandbox ends with its engine: that is no outage, and the next engine must not find a pause. */
function pauseForTrouble(home: Home, engine: EngineNotice, watch: ServiceWatch, endShift: () => void): Trouble {
  return {
    opened: async (breaker: OpenedBreaker) => {
      try {
        if (await isGone(home, engine)) return;
        await watch.opened(breaker);
      } catch (error) {
        // Nobody waits for this. The breaker tells again after the next failures.
        home.log.warn({ reason: messageOf(error) }, 'pause not written down');
      }
      if (breaker.kind === 'read') endShift();
    },
    exhausted: async (error) => {
      if (!(await isGone(home, engine))) await watch.exhausted(error);
    },
    pause: async (error) => {
      if (await isGone(home, engine)) return true;
      const paused = await watch.pauseFor(error);
      if (paused) endShift();
      return paused;
    },
  };
}

function startBatchWorkers(home: Home, server: QueueServer, client: WorkspaceClient, actions: ContextActions) {
  const { config, ledger, log } = home;
  return startWorkers({
    ledgerId: ledger.id,
    connection: server.worker,
    catalog: batchCatalog,
    concurrency: { 'upsert-batch': config.upsert.batchesAtOnce },
    context: batchContext(home, client.workspace, actions),
    log,
    onJobEnd: () => undefined,
  });
}

/** Says again and again that this process is at work, for people. @returns what takes it back. */
async function showPresence({ ledger, clock, log, identity }: Home): Promise<() => Promise<void>> {
  const startedAtMs = clock.nowMs();
  const sign = async (): Promise<void> =>
    ledger.setWorkerNotice({ identity: identity.name, startedAtMs, seenAtMs: await ledger.nowMs(clock) });
  await sign();
  const timer = setInterval(() => {
    sign().catch((error: unknown) => {
      log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'no sign of life');
    });
  }, workerSignEveryMs);
  return async () => {
    clearInterval(timer);
    await ledger.clearWorkerNotice(identity.name);
  };
}
