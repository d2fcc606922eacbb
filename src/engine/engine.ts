/**
 * The engine: queue, workers, sweeper and, without a configured service, the sandbox, on one data folder.
 *
 * There is one engine per data folder: whoever holds the lock. Everything it does is derived from the ledger, so that it
 * may die at any instant and another one goes on.
 */

import { finishRunJob } from '#jobs/finish-run.ts';
import { jobCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import type { Clock } from '#src/clock.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { serviceFigures } from '#src/config/service-figures.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { EngineLock } from '#src/ledger/engine-lock.ts';
import { activeRunStates } from '#src/ledger/run-record.ts';
import type { Logger } from '#src/log.ts';
import { openQueueServer } from '#src/queue/connection.ts';
import { createDispatcher } from '#src/queue/dispatcher.ts';
import { openProducer } from '#src/queue/producer.ts';
import { startWorkers } from '#src/queue/workers.ts';
import { checkWorkspace } from '#src/runs/check-workspace.ts';
import { expireFiles } from '#src/runs/expire-files.ts';
import { tidyFinished } from '#src/runs/finish-run.ts';
import type { RunParts } from '#src/runs/parts.ts';
import { enterOrphans, removeStrays } from '#src/runs/submit-run.ts';
import type { UpsertParts } from '#src/upsert/parts.ts';
import { createWriteHealth } from '#src/upsert/write-health.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { workspaceTimeouts } from '#src/workspace/limits.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { createRateGate } from '#src/workspace/rate-gate.ts';
import { openDeadLetterView } from './dead-letter-view.ts';
import { createKeySource, type KeySource } from './key-source.ts';
import { startSandbox } from './sandbox.ts';
import { createServiceWatch } from './service-watch.ts';

const sweepEveryMs = 5_000;
const wakeEveryMs = 250;
/** The view of the dead letters is for people: it may be a little late. */
const viewEverySweeps = 6;
/** Once an hour. */
const expireEverySweeps = 720;

export interface EngineOptions {
  /** A person says that origin or key changed and the workspace is the same. */
  readonly sameWorkspace: boolean;
  /** Which trouble of the service at the start is waited out instead of thrown. */
  readonly waitFor: 'unreachable' | 'everything';
}

export interface Engine {
  /** `embedded Valkey`, or where Redis is. */
  readonly queueDescription: string;
  /** The service's address, also of the sandbox. */
  readonly serviceOrigin: string;
  /** The sandbox's key, for people who want to talk to it; null for a real service. */
  readonly sandboxKey: string | null;
  /** Something was written to the ledger by this process. */
  wake(): void;
  /** Runs that are not at rest. */
  activeRunCount(): Promise<number>;
  /** Resolves when the engine cannot go on, with the reason. */
  readonly died: Promise<Error>;
  /** Finishes the requests on their way, within the deadline, and gives the lock back. */
  stop(): Promise<void>;
}

/**
 * Starts the engine. The caller holds the lock; the engine gives it back when it stops, also when it does not start.
 * @throws PatchbayError `usage`, `auth`, `unreachable`.
 */
export async function startEngine(home: Home, lock: EngineLock, options: EngineOptions): Promise<Engine> {
  // Closed in reverse order, whatever was reached.
  const closers: (() => Promise<void> | void)[] = [() => lock.release()];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.reverse()) {
      await Promise.resolve(close()).catch((error: unknown) =>
        home.log.warn({ reason: messageOf(error) }, 'close failed'),
      );
    }
    closers.length = 0;
  };
  try {
    return await build(home, options, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function build(
  home: Home,
  options: EngineOptions,
  closers: (() => Promise<void> | void)[],
  closeAll: () => Promise<void>,
): Promise<Engine> {
  const { config, ledger, clock, log } = home;
  const sandbox =
    home.mode === 'sandbox'
      ? await startSandbox(dataFolders(config, 'sandbox'), clock, log.child({ part: 'service' }))
      : null;
  if (sandbox !== null) closers.push(() => sandbox.close());
  const { requestsPerSecond } = serviceFigures(config, home.mode);
  const rateGate = createRateGate({ requestsPerSecond, clock });
  const keys = createKeySource(home, rateGate, options.sameWorkspace);
  const workspace = createHttpWorkspace({
    baseUrl: sandbox?.origin ?? config.service.baseUrl ?? '',
    readApiKey: () => sandbox?.apiKey ?? keys.read(),
    rateGate,
    clock,
    random: Math.random,
    log,
  });
  closers.push(() => workspace.close());

  const recheck = (): Promise<void> =>
    bindWorkspace(home, workspace, sandbox === null ? keys : null, options.sameWorkspace);
  const watch = createServiceWatch({ ledger, workspace, clock, log, recheck });
  await ledger.setPause(null);
  try {
    await recheck();
  } catch (error) {
    const refused = error instanceof PatchbayError && error.kind === 'auth' && options.waitFor === 'unreachable';
    if (refused || !(await watch.pauseFor(error))) throw error;
  }

  const server = await openQueueServer({ redisUrl: config.queue.redisUrl, folder: home.folders.queue, log });
  closers.push(() => server.stop());
  const producer = openProducer(ledger.id, server.producer, log);
  closers.push(() => producer.close());
  const dispatcher = createDispatcher({ ledger, producer, clock, log, jobsMax: config.queue.jobsMax });
  closers.push(() => dispatcher.stop());

  const runs = runParts(home, workspace);
  const view = openDeadLetterView({
    ledger,
    producer,
    connection: server.worker,
    submit: home.submit,
    log,
    onRedrive: dispatcher.wake,
  });
  closers.push(() => view.close());
  let sweeps = 0;
  const sweep = async (): Promise<void> => {
    await watch.probe();
    await dispatcher.sweep();
    if (sweeps % viewEverySweeps === 0) await view.refresh();
    if (sweeps % expireEverySweeps === 0) await expireFiles(runs, config.data.keepFiles);
    sweeps += 1;
  };
  const context = {
    runs,
    upsert: upsertParts(home, workspace),
    pause: watch.pauseFor,
    staging: new Set<string>(),
    sweep,
  };
  const catalog = jobCatalog.map((job) =>
    job.name === 'upsert-batch' ? { ...job, concurrency: config.upsert.batchesAtOnce } : job,
  );
  await producer.forget(catalog.map((job) => job.name));
  const workers = startWorkers({
    ledgerId: ledger.id,
    connection: server.worker,
    catalog,
    context,
    log,
    onJobEnd: (name, id) => {
      dispatcher.ended(id);
      if (name === finishRunJob.name) void view.refresh();
    },
  });
  closers.push(() => workers.stop(config.queue.stopDeadline));
  closers.push(() => server.giveUp());
  await enterOrphans(home.submit);
  await removeStrays(home.submit);
  await tidyFinished(home);
  closers.push(startTimers(clock, log, ledger, producer, dispatcher.wake));
  dispatcher.wake();

  return {
    queueDescription: server.description,
    serviceOrigin: workspace.origin,
    sandboxKey: sandbox?.apiKey ?? null,
    wake: dispatcher.wake,
    activeRunCount: async () => (await ledger.runs.inState(activeRunStates, 1_000)).length,
    died: new Promise((resolve) => server.onDeath(resolve)),
    stop: closeAll,
  };
}

/** One second; longer where the rate is so low that the line before the gate alone takes longer. */
function startGuardMs(requestsPerSecond: number | null, batchesAtOnce: number): number {
  const inLine = requestsPerSecond === null ? 0 : (4_000 * batchesAtOnce) / requestsPerSecond;
  return Math.max(workspaceTimeouts.writeStartMs, Math.ceil(inLine));
}

/** The sandbox belongs to the data folder by where it lies; a real service is checked. */
async function bindWorkspace(
  home: Home,
  workspace: Workspace,
  keys: KeySource | null,
  sameWorkspace: boolean,
): Promise<void> {
  if (keys === null) return;
  const apiKey = keys.known() ?? (await keys.read());
  await checkWorkspace(home.ledger, workspace, { origin: workspace.origin, apiKey, sameWorkspace });
}

function runParts(home: Home, workspace: Workspace): RunParts {
  const { config, ledger, clock, log, mapping } = home;
  return {
    ledger,
    workspace,
    clock,
    log,
    folders: home.runFolders,
    guards: config.guards,
    rowsPerBatch: config.upsert.rowsPerBatch,
    defaultCountry: config.mapping.defaultCountry,
    onBlank: config.mapping.onBlank,
    mapping,
    serviceName: home.serviceName,
  };
}

function upsertParts(home: Home, workspace: Workspace): UpsertParts {
  const { config, ledger, clock, log, identity, mode } = home;
  const { requestsPerSecond, latestCommitMs, visibilityLagMs } = serviceFigures(config, mode);
  return {
    ledger,
    workspace,
    clock,
    log,
    identity,
    writeHealth: createWriteHealth(clock),
    limits: {
      leaseMs: config.upsert.lease,
      requestMs: workspaceTimeouts.requestMs,
      startGuardMs: startGuardMs(requestsPerSecond, config.upsert.batchesAtOnce),
      latestCommitMs,
      visibilityLagMs,
      readAgeMaxMs: 2_000,
      attemptsMax: config.upsert.attemptsMax,
      writesAtOnce: 8,
      requestsPerSecond,
      itemRemoval: config.upsert.itemRemoval,
      applying: config.guards,
    },
  };
}

/**
 * The sweep goes through the queue, so that several processes share one; its slot makes it one job per interval. A look
 * at the ledger tells whether another process wrote to it.
 */
function startTimers(
  clock: Clock,
  log: Logger,
  ledger: Home['ledger'],
  producer: ReturnType<typeof openProducer>,
  wake: () => void,
): () => void {
  let changeCount = -1;
  const sweepTimer = setInterval(() => {
    const slot = Math.floor(clock.nowMs() / sweepEveryMs);
    void producer.add([{ name: 'sweep', id: `sweep-${slot}`, payload: { slot } }]);
  }, sweepEveryMs);
  const wakeTimer = setInterval(() => {
    ledger.changeCount().then(
      (count) => {
        if (count !== changeCount) wake();
        changeCount = count;
      },
      (error: unknown) => log.warn({ reason: messageOf(error) }, 'ledger not readable'),
    );
  }, wakeEveryMs);
  return () => {
    clearInterval(sweepTimer);
    clearInterval(wakeTimer);
  };
}

/** What ends an engine that lost its queue. */
export function engineDiedError(cause: Error): PatchbayError {
  return new PatchbayError('unreachable', 'queueDied', `the queue stopped working: ${cause.message}`, {
    hint: 'Start again: everything that was to be done stands in the ledger.',
    cause,
  });
}
