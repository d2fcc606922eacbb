/**
 * The engine: queue, workers, sweeper and, without a configured service, the sandbox, on one data folder.
 *
 * There is one engine per data folder: whoever holds the lock. Everything it does is derived from the ledger, so that it
 * may die at any instant and another one goes on. Worker processes (`worker.ts`) find it by its notice in the ledger.
 */
import { finishRunJob } from '#jobs/finish-run.ts';
import { jobCatalog } from '#jobs/index.ts';
import { upsertBatch, workOnBatch } from '#jobs/upsert-batch.ts';
import type { Home } from '#src/app.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { serviceFigures } from '#src/config/service-figures.ts';
import { PatchbayError } from '#src/errors.ts';
import type { EngineLock } from '#src/ledger/engine-lock.ts';
import { activeRunStates } from '#src/ledger/run-record.ts';
import { openQueueServer } from '#src/queue/connection.ts';
import { createDispatcher } from '#src/queue/dispatcher.ts';
import { openProducer } from '#src/queue/producer.ts';
import { startWorkers } from '#src/queue/workers.ts';
import { expireFiles } from '#src/runs/expire-files.ts';
import { tidyFinished } from '#src/runs/finish-run.ts';
import { enterOrphans, removeStrays } from '#src/runs/submit-run.ts';
import { announceEngine } from './announce-engine.ts';
import { type Closers, createClosers } from './closers.ts';
import { openDeadLetterView } from './dead-letter-view.ts';
import { startEngineTimers } from './engine-timers.ts';
import { createHealth, type Trouble } from './health.ts';
import { jobContext } from './job-context.ts';
import { shareOfRate } from './rate-share.ts';
import { startSandbox } from './sandbox.ts';
import { createServiceWatch, type ServiceWatch } from './service-watch.ts';
import { createSweeper } from './sweeper.ts';
import { openWorkspaceClient, type WorkspaceClient } from './workspace-client.ts';
import { createWriteTrial } from './write-trial.ts';

/** The view of the dead letters is for people: it may be a little late. */
const viewEverySweeps = 6;
/** A probe waits for the rate gate too, and that one for its Redis; the next sweep asks again. */
const probeMsMax = 60_000;
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
  /** What is the matter around this process; empty where all is well. */
  troubles(): readonly Trouble[];
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
  const closers = createClosers(home.log);
  closers.add(() => lock.release());
  try {
    return await build(home, options, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function build(home: Home, options: EngineOptions, closers: Closers): Promise<Engine> {
  const { config, ledger, clock, log } = home;
  const sandbox =
    home.mode === 'sandbox'
      ? await startSandbox(dataFolders(config, 'sandbox'), clock, log.child({ part: 'service' }))
      : null;
  if (sandbox !== null) closers.add(() => sandbox.close());
  // Before the client: its rate gate lies there.
  const server = await openQueueServer({ redisUrl: config.queue.redisUrl, folder: home.folders.queue, log });
  closers.add(() => server.stop());
  const client = openWorkspaceClient(home, {
    sandbox,
    connection: server.producer,
    sameWorkspace: options.sameWorkspace,
    onOpenBreaker: (opened) => void watch.opened(opened),
  });
  closers.add(() => client.close());
  const { workspace, breakers } = client;
  const tryWrite = createWriteTrial({
    ledger,
    clock,
    breakers,
    workOnOne: (batch, signal) => workOnBatch(batch, context, signal, { recordsMax: 1 }),
  });
  const watch = createServiceWatch({ ledger, ...client, clock, log, tryWrite });
  await firstCheck(home, client, watch, options);

  const { description: queueDescription } = server;
  const health = createHealth({ clock, log, queueDescription, folder: home.folders.root });
  home.observeLedger(health.ledgerEnded);
  await health.look();
  const producer = openProducer(ledger.id, server.producer, log, health.queueEnded);
  closers.add(() => producer.close());
  const dispatcher = createDispatcher({ ledger, producer, clock, log, jobsMax: config.queue.jobsMax });
  closers.add(() => dispatcher.stop());
  const view = openDeadLetterView({
    ledger,
    producer,
    connection: server.worker,
    submit: home.submit,
    log,
    onRedrive: dispatcher.wake,
  });
  closers.add(() => view.close());
  const { batchesAtOnceMax } = shareOfRate(serviceFigures(config, home.mode).requestsPerSecond);
  // Again at each sweep: the queue may have been flushed.
  const limitBatches = async (): Promise<void> => {
    if (batchesAtOnceMax !== null) await producer.limitAtOnce(upsertBatch.name, batchesAtOnceMax);
  };
  let sweeps = 0;
  const sweeper = createSweeper(clock, async (signal) => {
    await health.look();
    await limitBatches();
    await dispatcher.sweep();
    if (await watch.probe(AbortSignal.any([signal, AbortSignal.timeout(probeMsMax)]))) dispatcher.wake();
    if (sweeps % viewEverySweeps === 0) await view.refresh();
    if (sweeps % expireEverySweeps === 0) {
      await expireFiles(context.runs, config.data.keepFiles);
      await ledger.audits.forget(clock.nowMs() - config.data.keepFiles);
    }
    sweeps += 1;
  });
  const context = jobContext(home, workspace, { ...watch, pause: watch.pauseFor, sweep: sweeper.sweep });
  await producer.forget(jobCatalog.map((job) => job.name));
  await limitBatches();
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
  closers.add(() => workers.stop(config.queue.stopDeadline));
  closers.add(() => server.giveUp());
  await enterOrphans(home.submit);
  await removeStrays(home.submit);
  await tidyFinished(home);
  closers.add(() => sweeper.stop());
  closers.add(startEngineTimers({ clock, log, ledger, producer, sweeper, wake: dispatcher.wake }));
  closers.add(await announceEngine(home, workspace.origin, server.place));
  dispatcher.wake();

  return {
    queueDescription,
    troubles: health.troubles,
    serviceOrigin: workspace.origin,
    sandboxKey: sandbox?.apiKey ?? null,
    wake: dispatcher.wake,
    activeRunCount: async () => (await ledger.runs.inState(activeRunStates, 1_000)).length,
    died: new Promise((resolve) => server.onDeath(resolve)),
    stop: closers.closeAll,
  };
}

/** Trouble that is waited out pauses all work; the sweep's probe ends the pause. */
async function firstCheck(
  { ledger }: Home,
  client: WorkspaceClient,
  watch: ServiceWatch,
  { waitFor }: EngineOptions,
): Promise<void> {
  await ledger.setPause(null);
  try {
    await client.recheck();
  } catch (error) {
    const refused = error instanceof PatchbayError && error.kind === 'auth' && waitFor === 'unreachable';
    if (refused || !(await watch.pauseFor(error))) throw error;
  }
}

/** What ends an engine that lost its queue. */
export function engineDiedError(cause: Error): PatchbayError {
  return new PatchbayError('unreachable', 'queueDied', `the queue stopped working: ${cause.message}`, {
    hint: 'Start again: everything that was to be done stands in the ledger.',
    cause,
  });
}
