/** What must be true at the very moment at which a write leaves (`rules.md`, "One contact per key", steps 1 and 3). */
import { realLimits, socketWriteMs } from './seams.ts';
import type { Stage, Worker } from './stage.ts';

/** A create: behind a committed intent whose horizon covers all that may come of it, and a lease that covers the request. */
export function watchCreate(stage: Stage, worker: Worker, key: string): void {
  const row = stage.store.tables.contacts.get(key);
  const { nowMs, bootAtMs } = stage.time;
  const { latestCommitMs, visibilityLagMs } = realLimits;
  if (row?.state !== 'intent') {
    stage.violate('unguardedWrite', `a create of ${key} leaves without an intent in the ledger`);
  }
  const coveredMs = bootAtMs + (row?.horizonMs ?? 0);
  if (nowMs + socketWriteMs + latestCommitMs + visibilityLagMs > coveredMs) {
    stage.violate('unguardedWrite', `a create of ${key} leaves, and may show up after its horizon`);
  }
  watchWriter(stage, worker, key);
}

export function watchUpdate(stage: Stage, worker: Worker, key: string): void {
  watchWriter(stage, worker, key);
}

function watchWriter(stage: Stage, worker: Worker, key: string): void {
  const { nowMs, bootAtMs } = stage.time;
  const row = stage.store.tables.contacts.get(key);
  const owner = row?.owner?.split('#')[0];
  if (owner !== worker.name) {
    stage.violate('unguardedWrite', `${worker.name} writes ${key}, and the lease belongs to ${owner ?? 'nobody'}`);
  }
  if (nowMs + realLimits.requestMs > bootAtMs + (row?.leaseUntilMs ?? 0)) {
    stage.violate('unguardedWrite', `${worker.name} writes ${key}, and the request outlasts its lease`);
  }
  for (const flight of stage.flights) {
    const isOnItsWay = flight.key === key && nowMs < flight.sentAtMs + realLimits.requestMs;
    if (isOnItsWay && flight.worker !== worker) {
      stage.violate('twoWriters', `${worker.name} writes ${key}, and a write of ${flight.worker.name} is on its way`);
    }
  }
  if (stage.service.contactsOf(key).length > 1) {
    stage.violate('conflictWritten', `${worker.name} writes ${key}, and there are two contacts of that key`);
  }
}
