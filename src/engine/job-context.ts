/**
 * What the job processors work with, and plans. Here the configuration becomes the parts of each use case: batches for the engine and
 * for worker processes alike, and the rest for the engine alone.
 */
import { join, resolve } from 'node:path';
import type { BatchContext, JobContext } from '#jobs/context.ts';
import type { Home } from '#src/app.ts';
import { readAgeMaxMs, serviceFigures } from '#src/config/schema.ts';
import { addressedTo, addresseesOf } from '#src/notices/addressees.ts';
import { feedsOfAllHosts } from '#src/operations/hosts.ts';
import type { PlanService } from '#src/operations/plan.ts';
import { shareOfRate } from '#src/rate/rate-share.ts';
import type { GrownFiles } from '#src/runs/grown-files.ts';
import { createAskedWaits } from '#src/takes/asked-waits.ts';
import { type TakeParts, takeForTick } from '#src/takes/take.ts';
import { createWriteHealth, paceOf, type UpsertLimits, type UpsertParts, writesAtOnceMax } from '#src/upsert/chunk.ts';
import { type Workspace, workspaceTimeouts } from '#src/workspace/port.ts';

/** What differs between the engine and a worker process. */
export type ServiceFailures = Pick<BatchContext, 'pause' | 'exhausted' | 'atWork'>;

/** @param hasFeedElsewhere whether another host has a folder of that feed. */
export function batchContext(
  home: Home,
  workspace: Workspace,
  failures: ServiceFailures,
  hasFeedElsewhere: (feed: string) => boolean = () => false,
): BatchContext {
  const ownsItems = (feed: string): boolean => home.feeds.exists(feed) || hasFeedElsewhere(feed);
  const upsert = upsertParts(home, workspace, ownsItems);
  return { runs: runParts(home, workspace, upsert), upsert, ...failures };
}

/** What only the running engine can give to its jobs. */
export interface EngineActions extends Pick<JobContext, 'sweep' | 'notices'> {
  readonly tickDue: () => Promise<void>;
  readonly wake: () => void;
  /** Ids of the ticks that this process works on. */
  readonly underWay: Set<string>;
  /** Watches files that feeds have taken; null where this process ends with a command. */
  readonly grown: GrownFiles | null;
}

/** @param batches as returned by `batchContext`: the engine's batches share one pace with its write trials. */
export function jobContext(home: Home, batches: BatchContext, actions: EngineActions): JobContext {
  const { config, ledger, clock, log, folders, feeds } = home;
  const { sweep, notices, grown, ...ofSchedules } = actions;
  const { workspace } = batches.runs;
  const { keepMs, keepMax } = config.snapshots.phoneNumbers;
  const takes = { ...takeParts(home), ...(grown === null ? {} : { grown }) };
  return {
    ...batches,
    sweep,
    notices,
    audits: { ledger, workspace, clock, log, reports: folders.reports },
    snapshots: {
      ledger,
      workspace,
      clock,
      log,
      folder: folders.phoneNumberSnapshots,
      keepMs,
      keepMax,
      addressed: (change) => addressedTo(addresseesOf(config.notify), change),
    },
    schedules: {
      ...{ ledger, clock, log, ...ofSchedules },
      take: (feed, trigger, signal) => takeForTick(takes, feeds, feed, trigger, signal),
    },
    staging: new Set<string>(),
  };
}

/** What takes work with; the tick gives its trigger. */
export function takeParts({ config, ledger, clock, log, submit, folders }: Home): Omit<TakeParts, 'trigger'> {
  return {
    ...{ ledger, clock, log, submit },
    downloads: join(folders.root, 'downloads'),
    ownFolders: [resolve(config.data.folder), ...folders.importFolders],
    download: config.download,
    env: process.env,
    askedWaits: createAskedWaits(clock),
  };
}

/** What plans are made with: the parts of staging and of batches, of which nothing is written (`src/plans`). */
export async function planParts(home: Home, workspace: Workspace): Promise<PlanService> {
  const { config, mode, ledger, clock, serviceName, runFolders } = home;
  const { requestsPerSecond } = serviceFigures(config, mode);
  const upsert = upsertParts(home, workspace, await feedsOfAllHosts(home));
  return {
    reading: runParts(home, workspace, upsert),
    plan: { ledger, clock, upsert, requestsPerSecond, serviceName, draftsFolder: runFolders.drafts },
  };
}

function runParts(home: Home, workspace: Workspace, upsert: UpsertParts): BatchContext['runs'] {
  const { config, ledger, clock, log, feeds, mode } = home;
  const { latestCommitMs, visibilityLagMs } = serviceFigures(config, mode);
  return {
    ledger,
    workspace,
    upsert,
    clock,
    log,
    feeds,
    host: home.host?.id ?? null,
    folders: home.runFolders,
    reports: home.runFolders.reports,
    rowsPerBatch: config.upsert.rowsPerBatch,
    defaultCountry: config.mapping.defaultCountry,
    onBlank: config.mapping.onBlank,
    serviceName: home.serviceName,
    folderFlags: home.folderFlags,
    auditAfterMs: latestCommitMs + visibilityLagMs,
  };
}

function upsertParts(home: Home, workspace: Workspace, ownsItems: UpsertLimits['ownsItems']): UpsertParts {
  const { config, ledger, clock, log, identity, mode } = home;
  const { requestsPerSecond, latestCommitMs, visibilityLagMs } = serviceFigures(config, mode);
  const share = shareOfRate(requestsPerSecond, workspaceTimeouts.writeStartMs);
  const limits: UpsertLimits = {
    leaseMs: config.upsert.leaseMs,
    requestMs: workspaceTimeouts.requestMs,
    startGuardMs: share.startGuardMs,
    latestCommitMs,
    visibilityLagMs,
    readAgeMaxMs,
    attemptsMax: config.upsert.attemptsMax,
    writesAtOnce: writesAtOnceMax,
    requestsPerSecond: share.requestsPerSecondEach,
    itemRemoval: config.upsert.itemRemoval,
    adoptOf: (feed) => home.feeds.rulesOf(feed).adopt,
    onGoneOf: (feed) => home.feeds.rulesOf(feed).onGone,
    ownsItems,
    applyingOf: (feed) => home.feeds.rulesOf(feed).guards,
  };
  return {
    ledger,
    workspace,
    clock,
    log,
    identity,
    writeHealth: createWriteHealth(clock),
    limits,
    pace: paceOf(limits),
  };
}
