/**
 * One worker process: its own name, connections and memory; the job processors of the product, called one job at a time.
 *
 * Worker 0 is the engine, which alone reads files and ends runs; worker 1 only takes batches, as `start --worker` does.
 */
import type { RunContext } from '#jobs/context.ts';
import { runCatalog } from '#jobs/index.ts';
import { workOnBatch } from '#jobs/upsert-batch.ts';
import type { Clock } from '#src/clock.ts';
import { createServiceWatch, createWriteTrial } from '#src/engine/service-watch.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { BatchRecord } from '#src/ledger/staging.ts';
import { silentLogger } from '#src/log.ts';
import { enterOrphans } from '#src/runs/enter-run.ts';
import { tidyFinished } from '#src/runs/finish-run.ts';
import type { GuardLimits } from '#src/runs/guards.ts';
import type { RunFolders } from '#src/runs/run-files.ts';
import { createWriteHealth, type UpsertLimits } from '#src/upsert/chunk.ts';
import { type Breakers, createBreakers, type OpenedBreaker } from '#src/workspace/classify.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { plainFeeds } from '#test/feeds/support/test-feeds.ts';
import { type Life, mortal, mortalWorkspace, startLife, type Tell } from './life.ts';
import type { QueuedJob } from './loose-queue.ts';

/** Breakers are told of by the workspace before there is somebody who listens. */
export interface ListenedBreakers {
  readonly breakers: Breakers;
  onOpen(listener: (opened: OpenedBreaker) => Promise<void>): void;
}

export function listenedBreakers(clock: Clock): ListenedBreakers {
  let listener: (opened: OpenedBreaker) => Promise<void> = async () => {};
  return {
    breakers: createBreakers({ clock, onOpen: (opened) => void listener(opened) }),
    onOpen: (given) => {
      listener = given;
    },
  };
}

export interface WorkerSurroundings {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly folders: RunFolders;
  readonly limits: UpsertLimits;
  readonly breakers: ListenedBreakers;
  /** Told of each effect of each worker; null where nobody listens. */
  readonly tell: WorkerTell | null;
  /** Names of processes that are dead for all to see. */
  readonly dead: ReadonlySet<string>;
}

export type WorkerTell = (worker: string, ...effect: Parameters<Tell>) => void;

export interface ModelWorker {
  readonly name: string;
  readonly life: Life;
  /** Ends with the job, or with the process. What must never be thrown is. */
  run(job: QueuedJob): Promise<void>;
  /** What an engine does when it takes over. */
  start(): Promise<void>;
  /** Ends whatever a crash left hanging. */
  bury(): Promise<void>;
  /** Looks whether the service works again. */
  sweep(): Promise<void>;
}

export const rowsPerBatch = 3;
/** How files are read. */
export const readingSettings = { rowsPerBatch, defaultCountry: null, onBlank: 'keep', host: null } as const;

export function createModelWorker(name: string, around: WorkerSurroundings): ModelWorker {
  const life = startLife(around.tell === null ? null : (...effect) => around.tell?.(name, ...effect));
  const context = runContext(name, around, life);
  const begun: Promise<void>[] = [];
  /** Waits for the work, or for the end of the process. */
  const orOver = async (work: Promise<void>): Promise<void> => {
    begun.push(work);
    await Promise.race([work, life.over]);
    await life.quiet();
  };
  const run = async (job: QueuedJob): Promise<void> => {
    const definition = runCatalog.find((one) => one.name === job.name);
    if (definition === undefined) throw new Error(`no such job: ${job.name}`);
    const work = definition.process(definition.schema.parse(job.payload), context, new AbortController().signal);
    await orOver(work.catch(rethrowUnexpected));
  };
  return {
    name,
    life,
    run,
    start: async () => {
      const start = async (): Promise<void> => {
        await context.runs.ledger.setPause(null);
        await enterOrphans({ ...context.runs, folders: around.folders, entering: new Set() });
        await tidyFinished(context.runs);
      };
      await orOver(start());
    },
    sweep: () => orOver(context.sweep()),
    bury: async () => {
      life.bury();
      await Promise.allSettled(begun);
    },
  };
}

/** An outage, or a pause, may end a job early; a bug may not. */
function rethrowUnexpected(error: unknown): void {
  if (error instanceof Error && error.name === 'AbortError') return;
  if (error instanceof PatchbayError && error.kind !== 'bug') return;
  throw error;
}

/** Put together as the engine does it, without queue and files of the data folder. */
function runContext(name: string, around: WorkerSurroundings, life: Life): RunContext {
  const { clock, limits, folders, dead, breakers } = around;
  const ledger = mortal(around.ledger, life);
  const workspace = mortalWorkspace(around.workspace, life);
  const log = silentLogger();
  const { latestCommitMs, visibilityLagMs } = limits;
  const reading = { ...readingSettings, feeds: plainFeeds(guards) };
  const shared = { ledger, workspace, clock, log };
  const workOnOne = (batch: BatchRecord, signal: AbortSignal): Promise<boolean> =>
    workOnBatch(batch, context, signal, { recordsMax: 1 });
  const tryWrite = createWriteTrial(ledger, clock, breakers.breakers, workOnOne);
  const watch = createServiceWatch({ ...shared, breakers: breakers.breakers, recheck: async () => {}, tryWrite });
  breakers.onOpen(watch.opened);
  const identity = { name, isDead: (owner: string) => dead.has(owner.split('#')[0] ?? '') };
  const upsert = { ...shared, identity, limits, writeHealth: createWriteHealth(clock) };
  const context: RunContext = {
    runs: {
      ...shared,
      ...reading,
      upsert,
      folders,
      reports: folders.reports,
      serviceName: 'sandbox',
      folderFlags: {},
      auditAfterMs: latestCommitMs + visibilityLagMs,
    },
    upsert,
    audits: { ...shared, reports: folders.reports },
    pause: watch.pauseFor,
    exhausted: watch.exhausted,
    atWork: watch.atWork,
    staging: new Set(),
    sweep: async () => void (await watch.probe()),
  };
  return context;
}

/** Guards have tests of their own: here they never say no. */
const guards: Partial<GuardLimits> = {
  updatesMax: 1_000,
  updatesFloor: 1_000,
  createsMax: 1_000,
  createsFloor: 1_000,
  clearsMax: 1_000,
  clearsFloor: 1_000,
  deadMax: 1,
  deadFloor: 1_000,
};
