/** A worker of the model: one process with its own ports, that runs the real core. */
import type { Ledger } from '#src/ledger/port.ts';
import { silentLogger } from '#src/log.ts';
import { createWriteHealth, type UpsertLimits, type UpsertParts } from '#src/upsert/chunk.ts';
import { type CallRunner, type MemoryLedger, throughCalls } from './ledger-in-memory.ts';
import { modelClock } from './model-time.ts';
import { modelWorkspace } from './model-workspace.ts';
import type { LedgerRules, Seams } from './seams.ts';
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
    const run: CallRunner = (call, kind, work) => {
      // What concerns nobody else needs no turn.
      if (kind === 'quiet' && worker.isAlive) return work();
      return stage.effect(worker, kind === 'write' ? 'ledgerWrite' : 'read', () => call, work);
    };
    return throughCalls(withRules(stage.ledger, seams.rules), run);
  }
}

/** The ledger without the guards that are taken away. */
function withRules(memory: MemoryLedger, { beforeLease, settleIsFenced }: LedgerRules): Ledger {
  const ledger = memory.open();
  const { db } = memory;
  const { contacts, runs } = ledger;
  const lease: typeof contacts.lease = (request) => {
    beforeLease?.(db, request);
    return contacts.lease(request);
  };
  const settle: typeof runs.settle = async (request) => {
    const others = request.records.flatMap(({ key }) =>
      db.all('SELECT * FROM flights WHERE key = ? AND owner <> ?', key, request.owner),
    );
    const take = `INSERT INTO flights (key, owner) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET owner = ?2`;
    for (const { key } of request.records) db.run(take, key, request.owner);
    const written = await runs.settle(request);
    for (const { key, owner, lease_until: until } of others) {
      const give = `INSERT INTO flights (key, owner, lease_until) VALUES (?1, ?2, ?3)
        ON CONFLICT (key) DO UPDATE SET owner = ?2, lease_until = ?3`;
      db.run(give, key ?? null, owner ?? null, until ?? null);
    }
    return written;
  };
  return {
    ...ledger,
    contacts: beforeLease === null ? contacts : { ...contacts, lease },
    runs: settleIsFenced ? runs : { ...runs, settle },
  };
}
