/** What the job processors work with, in the engine and in a worker process alike. */
import type { BatchContext, JobContext, RunContext } from '#jobs/context.ts';
import type { Home } from '#src/app.ts';
import { readAgeMaxMs, serviceFigures } from '#src/config/service-figures.ts';
import { createPace, shareOfRate } from '#src/rate/rate-share.ts';
import type { RunParts } from '#src/runs/parts.ts';
import { createWriteHealth, keysPerChunk, type UpsertLimits, type UpsertParts } from '#src/upsert/chunk.ts';
import { workspaceTimeouts } from '#src/workspace/limits.ts';
import type { Workspace } from '#src/workspace/port.ts';

/** What differs between the engine and a worker process. */
export type ContextActions = Pick<BatchContext, 'pause' | 'exhausted' | 'atWork'>;

/** What the engine has besides. */
export type EngineActions = Pick<RunContext, 'sweep'> & Pick<JobContext, 'schedules' | 'notices'>;

export function batchContext(home: Home, workspace: Workspace, actions: ContextActions): BatchContext {
  return { runs: runParts(home, workspace), upsert: upsertParts(home, workspace), ...actions };
}

/** The batches of the engine are its own context's: they share one pace. */
export function jobContext(home: Home, batches: BatchContext, actions: EngineActions): JobContext {
  const { config, ledger, clock, log, folders } = home;
  const { workspace } = batches.runs;
  const { keep, keepMax } = config.snapshots.phoneNumbers;
  return {
    ...batches,
    ...actions,
    audits: { ledger, workspace, clock, log, reports: folders.reports },
    snapshots: {
      ledger,
      workspace,
      clock,
      log,
      folder: folders.phoneNumberSnapshots,
      keepMs: keep,
      keepMax,
      notifies: config.notify.url !== null,
    },
    staging: new Set<string>(),
  };
}

function runParts(home: Home, workspace: Workspace): RunParts {
  const { config, ledger, clock, log, feeds, mode } = home;
  const { latestCommitMs, visibilityLagMs } = serviceFigures(config, mode);
  return {
    ledger,
    workspace,
    clock,
    log,
    folders: home.runFolders,
    feeds,
    entering: home.submit.entering,
    rowsPerBatch: config.upsert.rowsPerBatch,
    defaultCountry: config.mapping.defaultCountry,
    onBlank: config.mapping.onBlank,
    serviceName: home.serviceName,
    latestCommitMs,
    visibilityLagMs,
  };
}

function upsertParts(home: Home, workspace: Workspace): UpsertParts {
  const { config, ledger, clock, log, identity, mode } = home;
  const { requestsPerSecond, latestCommitMs, visibilityLagMs } = serviceFigures(config, mode);
  const share = shareOfRate(requestsPerSecond, workspaceTimeouts.writeStartMs);
  const limits: UpsertLimits = {
    leaseMs: config.upsert.lease,
    requestMs: workspaceTimeouts.requestMs,
    startGuardMs: share.startGuardMs,
    latestCommitMs,
    visibilityLagMs,
    readAgeMaxMs,
    attemptsMax: config.upsert.attemptsMax,
    writesAtOnce: 8,
    requestsPerSecond: share.requestsPerSecondEach,
    itemRemoval: config.upsert.itemRemoval,
    adoptOf: (feed) => home.feeds.rulesOf(feed).adopt,
    ownsItems: (feed) => home.feeds.exists(feed),
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
    pace: createPace(keysPerChunk(limits)),
  };
}
