/** What the job processors work with, in the engine and in a worker process alike. */
import type { JobContext } from '#jobs/context.ts';
import type { Home } from '#src/app.ts';
import { serviceFigures } from '#src/config/service-figures.ts';
import type { RunParts } from '#src/runs/parts.ts';
import { createPace } from '#src/upsert/pace.ts';
import { keysPerChunk, type UpsertLimits, type UpsertParts } from '#src/upsert/parts.ts';
import { createWriteHealth } from '#src/upsert/write-health.ts';
import { workspaceTimeouts } from '#src/workspace/limits.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { shareOfRate } from './rate-share.ts';

/** What differs between the engine and a worker process. */
export type ContextActions = Pick<JobContext, 'pause' | 'exhausted' | 'atWork' | 'sweep'>;

export function jobContext(home: Home, workspace: Workspace, actions: ContextActions): JobContext {
  return {
    runs: runParts(home, workspace),
    upsert: upsertParts(home, workspace),
    audits: { ledger: home.ledger, workspace, clock: home.clock, log: home.log, reports: home.folders.reports },
    staging: new Set<string>(),
    ...actions,
  };
}

function runParts(home: Home, workspace: Workspace): RunParts {
  const { config, ledger, clock, log, mapping, mode } = home;
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
    visibilityLagMs: serviceFigures(config, mode).visibilityLagMs,
  };
}

function upsertParts(home: Home, workspace: Workspace): UpsertParts {
  const { config, ledger, clock, log, identity, mode } = home;
  const { requestsPerSecond, latestCommitMs, visibilityLagMs } = serviceFigures(config, mode);
  const share = shareOfRate(requestsPerSecond);
  const limits: UpsertLimits = {
    leaseMs: config.upsert.lease,
    requestMs: workspaceTimeouts.requestMs,
    startGuardMs: share.startGuardMs,
    latestCommitMs,
    visibilityLagMs,
    readAgeMaxMs: 2_000,
    attemptsMax: config.upsert.attemptsMax,
    writesAtOnce: 8,
    requestsPerSecond: share.requestsPerSecondEach,
    itemRemoval: config.upsert.itemRemoval,
    applying: config.guards,
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
