/** A worker of the model: one process with its own ports, that runs the real core. */
import type { Ledger } from '#src/ledger/port.ts';
import { silentLogger } from '#src/log.ts';
import type { UpsertLimits, UpsertParts } from '#src/upsert/parts.ts';
import { createWriteHealth } from '#src/upsert/write-health.ts';
import { memoryLedger, type RunLedgerCall } from './memory-ledger.ts';
import { modelClock } from './model-time.ts';
import { modelWorkspace } from './model-workspace.ts';
import type { Seams } from './seams.ts';
import type { Stage, Worker } from './stage.ts';

export interface WorkerOptions {
  readonly slot: number;
  readonly name: string;
  readonly limits: UpsertLimits;
  readonly seams: Seams;
  readonly isDead: (owner: string) => boolean;
}

const log = silentLogger();

export function createWorker(stage: Stage, { slot, name, limits, seams, isDead }: WorkerOptions): Worker {
  let parts: UpsertParts | null = null;
  const worker: Worker = {
    slot,
    name,
    parts: () => {
      parts ??= partsOf();
      return parts;
    },
    parked: [],
    taken: new Set(),
    isAlive: true,
    stop: new AbortController(),
    job: null,
    restUntilMs: 0,
  };
  return worker;

  function partsOf(): UpsertParts {
    const clock = modelClock(stage.time);
    const { ledger, workspace } = seams.ports({ ledger: ledgerOf(), workspace: modelWorkspace(stage, worker) });
    const writeHealth = seams.health(createWriteHealth(clock));
    const step = seams.step === undefined ? {} : { step: seams.step };
    return { ledger, workspace, clock, log, identity: { name, isDead }, limits, writeHealth, ...step };
  }

  function ledgerOf(): Ledger {
    const run: RunLedgerCall = (call, kind, work) => {
      // What concerns nobody else needs no turn.
      if (kind === 'quiet' && worker.isAlive) return Promise.resolve(work());
      return stage.effect(worker, kind === 'write' ? 'ledgerWrite' : 'read', () => call, work);
    };
    // Its clock is the true time, which no setting of the wall clock moves.
    return { ...memoryLedger(stage.store, run), nowMs: async () => stage.time.nowMs };
  }
}
