/**
 * The engine: queue, workers, sweeper and, without a configured service, the sandbox, on one data folder.
 *
 * There is one engine per data folder: whoever holds the lock. Everything it does is derived from the ledger, so that it
 * may die at any instant and another one goes on. Worker processes (`worker.ts`) find it by its notice in the ledger.
 */
import { finishRunJob } from '#jobs/finish-run.ts';
import { jobCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { PatchbayError } from '#src/errors.ts';
import type { EngineLock } from '#src/ledger/engine-presence.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import { openNotices } from '#src/notices/deliver.ts';
import { startNoticeWatch } from '#src/notices/watch-feeds.ts';
import { openQueueServer } from '#src/queue/connection.ts';
import { startWorkers } from '#src/queue/workers.ts';
import { tidyFinished } from '#src/runs/finish-run.ts';
import { enterOrphans, removeStrays } from '#src/runs/orphans.ts';
import { announceEngine } from './announce-engine.ts';
import { type Closers, createClosers } from './closers.ts';
import { createDuties } from './duties.ts';
import { engineDuties } from './engine-duties.ts';
import { startEngineTimers } from './engine-timers.ts';
import { createHealth, type Trouble } from './health.ts';
import { jobContext } from './job-context.ts';
import { openQueue } from './open-queue.ts';
import { openService } from './open-service.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { createScheduleSide } from './schedule-side.ts';
import type { ServiceWatch } from './service-watch.ts';
import { createSweeper } from './sweeper.ts';
import type { WorkspaceClient } from './workspace-client.ts';

export interface EngineOptions {
  /** A person says that origin or key changed and the workspace is the same. */
  readonly sameWorkspace: boolean;
  /** Which trouble of the service at the start is waited out instead of thrown. */
  readonly waitFor: 'unreachable' | 'everything';
  /** Whether schedules become due here. Else what a person asked for is carried out, and nothing more. */
  readonly runsSchedules: boolean;
}

export interface Engine {
  /** `embedded Valkey`, or where Redis is. */
  readonly queueDescription: string;
  /** The service's address, also of the sandbox. */
  readonly serviceOrigin: string;
  /** The sandbox's key, for people who want to talk to it; null for a real service. */
  readonly sandboxKey: string | null;
  /** What is the matter around this process; empty where all is well. */
  troubles(): readonly Pick<Trouble, 'code' | 'message'>[];
  /** Something was written to the ledger by this process. */
  wake(): void;
  /** Runs that are not at rest. */
  activeRunCount(): Promise<number>;
  /** Resolves when the engine cannot go on, with the reason: `queueDied`, `ledgerDamaged`. Whoever waits for it stops it. */
  readonly died: Promise<PatchbayError>;
  /** Finishes the requests on their way, within the deadline, and gives the lock back. */
  stop(): Promise<void>;
}

/**
 * Starts the engine. The caller holds the lock; the engine gives it back when it stops, also when it does not start.
 * @throws PatchbayError `usage`, `auth`, `unreachable`, `damaged`.
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
  // Whoever followed an engine that met damage must not begin where that one ended.
  await ledger.requireSound();
  const sandbox = await openSandbox(home, closers);
  // Before the client: its rate gate lies there.
  const server = await openQueueServer({ redisUrl: config.queue.redisUrl, folder: home.folders.queue, log });
  closers.add(() => server.stop());
  const service = openService(home, { sandbox, connection: server.producer, sameWorkspace: options.sameWorkspace });
  closers.add(() => service.close());
  await firstCheck(home, service.client, service.watch, options);

  const health = createHealth({ clock, log, queueDescription: server.description, folder: home.folders.root });
  const death = Promise.withResolvers<PatchbayError>();
  home.observeLedger((trouble) => {
    health.ledgerEnded(trouble);
    if (trouble?.kind === 'damaged') death.resolve(trouble);
  });
  server.onDeath((cause) => death.resolve(queueDied(cause)));
  await health.look();
  const queue = openQueue(home, server, health.queueEnded);
  closers.add(() => queue.close());
  const { producer, dispatcher } = queue;
  const notices = openNotices({ ...home, random: Math.random, notify: config.notify, workspace: home.serviceName });
  closers.add(() => notices.close());
  const schedules = createScheduleSide(home, { producer, wake: dispatcher.wake });
  const noticeWatch = startNoticeWatch({
    ...{ ledger, clock, log, feeds: config.feeds, notify: config.notify },
    runsSchedules: options.runsSchedules,
  });
  const sweeper = createSweeper(
    clock,
    createDuties(engineDuties(home, { health, queue, service, schedules, noticeWatch })),
  );
  const context = jobContext(home, service.batches, { notices, schedules: schedules.context, sweep: sweeper.sweep });
  await producer.forget(jobCatalog.map((job) => job.name));
  await queue.limitBatches();
  await schedules.look();
  // A short import never comes to its sweep. After the last job, and beside no other look.
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
      if (name === finishRunJob.name) void queue.view.refresh();
    },
  });
  closers.add(() => workers.stop(config.queue.stopDeadline));
  closers.add(() => server.giveUp());
  await enterOrphans(home.submit);
  await removeStrays(home.submit);
  await tidyFinished(home);
  if (options.runsSchedules) await schedules.start();
  closers.add(() => schedules.stop());
  closers.add(() => sweeper.stop());
  closers.add(startEngineTimers({ clock, log, ledger, producer, sweeper, wake: dispatcher.wake }));
  closers.add(await announceEngine(home, service.client.workspace.origin, server.place));
  dispatcher.wake();

  return {
    queueDescription: server.description,
    troubles: () => [...health.troubles(), ...schedules.troubles()],
    serviceOrigin: service.client.workspace.origin,
    sandboxKey: sandbox?.apiKey ?? null,
    wake: dispatcher.wake,
    activeRunCount: async () => (await ledger.runs.inState(activeRunStates, 1_000)).length,
    died: death.promise,
    stop: closers.closeAll,
  };
}

async function openSandbox({ config, clock, log, mode }: Home, closers: Closers): Promise<Sandbox | null> {
  if (mode !== 'sandbox') return null;
  const sandbox = await startSandbox(dataFolders(config, 'sandbox'), clock, log.child({ part: 'service' }));
  closers.add(() => sandbox.close());
  return sandbox;
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

function queueDied(cause: Error): PatchbayError {
  return new PatchbayError('unreachable', 'queueDied', `the queue stopped working: ${cause.message}`, {
    hint: 'Start again: everything that was to be done stands in the ledger.',
    cause,
  });
}
