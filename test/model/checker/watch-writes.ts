/** What must be true at the very moment at which a write leaves (`docs/rules.md`, "One contact per key", steps 1 and 3). */
import type { Contact, UpdateContactBody } from '#src/wire/contact.ts';
import { afterUpdate, fieldsOf, pictureOf, valueIn } from '../commands/picture.ts';
import { realLimits, socketWriteMs } from './seams.ts';
import type { Stage, Worker } from './stage.ts';

/** A create: behind a committed intent whose horizon covers all that may come of it, and a lease that covers the request. */
export function watchCreate(stage: Stage, worker: Worker, key: string): void {
  const row = stage.ledger.keyRow(key);
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

/**
 * An update: planned from what was there, but for what people did since shortly before it was read (`docs/rules.md`, "Three
 * pictures, one plan": a read no older than the limit), and right under both readings of the interface.
 */
export function watchUpdate(stage: Stage, worker: Worker, { key, read, now, body }: Update): void {
  watchWriter(stage, worker, key);
  if (read === null || read.contact === null) {
    stage.violate('unguardedWrite', `an update of ${key} leaves without a read`);
    return;
  }
  const ageMs = stage.time.nowMs - read.atMs;
  if (ageMs > realLimits.readAgeMaxMs)
    stage.violate('lostEdit', `an update of ${key} leaves ${ageMs} ms after its read`);
  const isOf = (edit: { contactId: string; atMs: number }): boolean =>
    edit.contactId === now.id && edit.atMs >= read.atMs - read.lagMs;
  if (!stage.service.edits.some(isOf)) {
    const [shown, there] = [pictureOf(read.contact), pictureOf(now)];
    for (const field of fieldsOf(shown, there)) {
      if (valueIn(shown, field) === valueIn(there, field)) continue;
      const words = `${field} = "${valueIn(shown, field)}", and it was "${valueIn(there, field)}"`;
      stage.violate('staleValue', `an update of ${key} was planned from ${words}`);
    }
  }
  const [merged, replaced] = [afterUpdate(read.contact, body, 'merge'), afterUpdate(read.contact, body, 'replace')];
  for (const field of fieldsOf(merged, replaced)) {
    if (valueIn(merged, field) === valueIn(replaced, field)) continue;
    stage.violate(
      'twoReadings',
      `an update of ${key} means two things: ${field} depends on whether it merges or replaces`,
    );
  }
}

export interface Read {
  readonly contact: Contact | null;
  readonly atMs: number;
  /** How old what it showed may have been. */
  readonly lagMs: number;
}

interface Update {
  readonly key: string;
  readonly read: Read | null;
  /** What the service holds. */
  readonly now: Contact;
  readonly body: UpdateContactBody;
}

function watchWriter(stage: Stage, worker: Worker, key: string): void {
  const { nowMs, bootAtMs } = stage.time;
  const row = stage.ledger.keyRow(key);
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
