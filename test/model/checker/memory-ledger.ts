/**
 * The ledger port over tables in memory: those members that the core uses, and what the contract suites need to build their
 * beginnings. Every call goes through `run`, so that the model can hold it back, fail it, or lose the worker that made it.
 *
 * Invariant: it is no lie. The contract suites of leases, intents, settling and batches run against it (`memory-ledger.test.ts`).
 */
import type { Moment } from '#src/clock.ts';
import type { ContactLedger } from '#src/ledger/contact-ledger.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunLedger } from '#src/ledger/run-ledger.ts';
import type { StagingLedger } from '#src/ledger/staging-ledger.ts';
import {
  type ContactStore,
  createContactStore,
  type LedgerRules,
  realRules,
  type TableHolder,
} from './contact-store.ts';
import { settleRecords } from './settle-store.ts';
import { createStagingStore, type StagingStore } from './staging-store.ts';
import { copyTables, emptyTables, type Tables } from './tables.ts';

/** `read` and `write` touch what workers share; `quiet` matters to nobody else (counts, the run's own record). */
export type LedgerCall = 'read' | 'write' | 'quiet';

export type RunLedgerCall = <Result>(name: string, call: LedgerCall, work: () => Result) => Promise<Result>;

export interface MemoryStore extends TableHolder {
  readonly rules: LedgerRules;
  readonly contacts: ContactStore;
  readonly staging: StagingStore;
}

export function createMemoryStore(beginning: Tables = emptyTables(), rules: LedgerRules = realRules): MemoryStore {
  const holder: TableHolder = { tables: copyTables(beginning), durable: beginning };
  return Object.assign(holder, {
    rules,
    contacts: createContactStore(holder, rules),
    staging: createStagingStore(holder),
  });
}

/** What was not synced to disk is gone, and everything before it in the log is there. */
export function cutPower(store: MemoryStore): void {
  store.tables = copyTables(store.durable);
  const { staged, batches } = store.tables;
  // What was put off waits for no moment of the boot before.
  for (const [name, row] of staged) staged.set(name, { ...row, notBeforeMs: 0 });
  for (const [name, row] of batches) batches.set(name, { ...row, dueAtMs: 0 });
}

export function memoryLedger(store: MemoryStore, run: RunLedgerCall): Ledger {
  const { staging } = store;
  const runs: Pick<RunLedger, 'create' | 'get' | 'beginStaging' | 'move' | 'addCounts' | 'addRequests'> = {
    create: (newRun) => run('create', 'quiet', () => staging.createRun(newRun)),
    get: (id) => run('run', 'quiet', () => staging.run(id)),
    beginStaging: (id) => run('beginStaging', 'quiet', () => staging.move(id, ['queued', 'staging'], 'staging')),
    move: (id, from, to) => run('move', 'quiet', () => staging.move(id, from, to)),
    addCounts: (id, delta) => run('addCounts', 'quiet', () => staging.addCounts(id, delta)),
    addRequests: (id, delta) => run('addRequests', 'quiet', () => staging.addRequests(id, delta)),
  };
  const ledger = {
    id: 'memory',
    nowMs: async (clock: Moment) => clock.nowMs(),
    runs,
    staging: stagingPart(store, run),
    contacts: contactPart(store, run),
    close: async () => undefined,
  };
  // Members that are missing here belong to other parts of the program: a core that calls one stops with a TypeError.
  return ledger as unknown as Ledger;
}

type UsedOfStaging = Omit<
  StagingLedger,
  'tracesOf' | 'refreshRowHashes' | 'stagedByKey' | 'skipPending' | 'deadRows' | 'sharedKeys'
>;

function stagingPart(store: MemoryStore, run: RunLedgerCall): UsedOfStaging {
  const { staging } = store;
  return {
    stage: (slice) => run('stage', 'quiet', () => staging.stage(slice)),
    settledRows: (feed, rowHashes) => run('settledRows', 'quiet', () => staging.settledRows(feed, rowHashes)),
    saidOf: (feed, keys) => run('saidOf', 'read', () => staging.saidOf(feed, keys)),
    knownKeyCount: (feed) => run('knownKeyCount', 'quiet', () => staging.knownKeyCount(feed)),
    nextBatches: (nowMs, limit) => run('nextBatches', 'quiet', () => staging.nextBatches(nowMs, limit)),
    batch: (runId, batch) => run('batch', 'quiet', () => staging.batch(runId, batch)),
    pendingRecords: (runId, batch, nowMs, limit) =>
      run('pendingRecords', 'read', () => staging.pendingRecords(runId, batch, nowMs, limit)),
    pendingCount: (runId) => run('pendingCount', 'quiet', () => staging.pendingCount(runId)),
    defer: (runId, records) => run('defer', 'write', () => staging.defer(runId, records)),
    releaseBatch: (runId, batch, generation, notBeforeMs) =>
      run('releaseBatch', 'write', () => staging.releaseBatch(runId, batch, generation, notBeforeMs)),
    settle: (request) => run('settle', 'write', () => settleRecords(store, store.rules, request)),
    countEnds: (runId) => run('countEnds', 'quiet', () => staging.countEnds(runId)),
    events: (runId, _afterOrdinal, limit) => run('events', 'quiet', () => staging.events(runId, limit)),
    deadByCode: (runId) => run('deadByCode', 'quiet', () => staging.deadByCode(runId)),
  };
}

function contactPart(store: MemoryStore, run: RunLedgerCall): ContactLedger {
  const { contacts } = store;
  return {
    get: (keys) => run('contacts', 'read', () => contacts.get(keys)),
    lease: (request) => run('lease', 'write', () => contacts.lease(request)),
    intend: (request) => run('intend', 'write', () => contacts.intend(request)),
    claimItems: (request) => run('claim', 'write', () => contacts.claimItems(request)),
    unclaimItems: (owner, unclaimed) => run('unclaim', 'write', () => contacts.unclaimItems(owner, unclaimed)),
    withdrawIntents: (owner, withdrawn) => run('withdraw', 'write', () => contacts.withdrawIntents(owner, withdrawn)),
    noteDoubt: (owner, doubt) => run('noteDoubt', 'write', () => contacts.noteDoubt(owner, doubt)),
    release: (owner, keys) => run('release', 'write', () => contacts.release(owner, keys)),
    sampleBound: (limit) => run('sampleBound', 'quiet', () => contacts.sampleBound(limit)),
  };
}
