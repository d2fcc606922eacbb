/**
 * Looks at the contacts of the people in a file, for drift (`docs/rules.md`, "Drift"): read only, at the allowed rate. With `repair` those
 * that drifted are staged, so that the guards count them before the first write.
 *
 * In slices; phone numbers are remembered up to a limit, for those that two keys have.
 */

import type { PlanInput } from '#src/contacts/base.ts';
import { itemIdentity } from '#src/contacts/desired.ts';
import { contactOfDrift, contactOfMoved, type Drifted, driftOf } from '#src/contacts/drift.ts';
import type { Policies } from '#src/contacts/policies.ts';
import { findUndoThatDeleted } from '#src/journal/changes.ts';
import type { ContactRecord } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { hasBit, numbersIn } from '#src/ledger/rules/bitmap.ts';
import { baseFor } from '#src/ledger/rules/feeds.ts';
import { deletedSentence } from '#src/ledger/rules/gone.ts';
import type { DriftCounts, RequestTotals, RunRecord } from '#src/ledger/runs.ts';
import type { KeysOfFile, RunEvent } from '#src/ledger/staging.ts';
import { makesGoneAgain, type UpsertLimits } from '#src/upsert/chunk.ts';
import { type Contact, isContactId } from '#src/wire/contact.ts';
import { lookUpKeys } from '#src/workspace/look-up.ts';
import type { Workspace } from '#src/workspace/port.ts';
import type { StageItem } from './compare.ts';
import { staysGone } from './import-flags.ts';
import type { StagedRows } from './late-rows.ts';

export interface VerifyParts {
  readonly ledger: Ledger;
  readonly workspace: Pick<Workspace, 'listByExternalIds' | 'getContact'>;
  readonly upsert: { readonly limits: Pick<UpsertLimits, 'ownsItems' | 'itemRemoval' | 'adoptOf' | 'onGoneOf'> };
}

export interface DriftFound {
  readonly counts: DriftCounts;
  /** How many contacts are to be repaired: updates, for the guards. */
  readonly repairs: number;
  /** Of those: contacts in which people changed something. The others have the key of one of before, and are taken over. */
  readonly restored: number;
  /** The numbers of keys whose contacts are gone, and are to be made again of their unchanged rows: creates, for the guards. */
  readonly again: readonly number[];
  /** Whether contacts that are gone are made again. */
  readonly makesAgain: boolean;
  readonly notes: readonly string[];
}

/** Five look-ups: a slice of the file takes less than a second at most rates. */
const keysPerSlice = 100;
/** About 20 MB. */
const phonesMax = 200_000;
const noDrift: DriftCounts = { looked: 0, changed: 0, gone: 0, doubled: 0 };

export type DriftedItem = Extract<StageItem, { readonly kind: 'desired' }> & { readonly number: number };

/**
 * @param restage stages what drifted, in place of its unchanged row; null where nothing is to be repaired.
 * @throws what reads throw, unless it concerns one key alone.
 */
export async function verifyContacts(
  parts: VerifyParts,
  run: RunRecord,
  { keys, policies }: { readonly keys: KeysOfFile; readonly policies: Policies },
  restage: ((items: readonly DriftedItem[]) => Promise<StagedRows>) | null,
  write: (events: readonly RunEvent[]) => Promise<void>,
  signal: AbortSignal,
): Promise<DriftFound> {
  const { ledger, workspace } = parts;
  const counts = { ...noDrift };
  // `--create-only` leaves out the rows of all contacts that the ledger knows.
  const makesAgain = restage !== null && makesGoneAgain(parts.upsert.limits, run) && !run.options.createOnly;
  const again: number[] = [];
  let [repairs, restored] = [0, 0];
  let unread = 0;
  const only = new Set(run.options.only);
  const isSelected = (key: string): boolean => only.size === 0 || only.has(key);
  const phones = new Map<string, string>();
  let samePhones = 0;
  const requests = new Map<keyof RequestTotals, number>();
  const onRequest = (kind: keyof RequestTotals): void => void requests.set(kind, (requests.get(kind) ?? 0) + 1);
  for (const numbers of numbersIn(keys.met, keysPerSlice)) {
    signal.throwIfAborted();
    const byNumber = await ledger.runs.keysAt(numbers);
    const records = await ledger.contacts.get([...byNumber.values()]);
    const known = await ledger.runs.saidOf(run.feed, [...byNumber.values()]);
    // What is on its way, or in doubt, is judged when it has landed.
    const looked = [...byNumber].filter(([, key]) => isAtRest(records.get(key)) && isSelected(key));
    const found = await lookUpKeys(
      workspace,
      looked.map(([, key]) => key),
      { signal, onRequest },
    );
    const contacts = Map.groupBy(found.contacts, ({ externalId }) => externalId ?? '');
    const events: RunEvent[] = [];
    const items: DriftedItem[] = [];
    const movedKeys = new Set<string>();
    for (const [number, key] of looked) {
      const record = records.get(key);
      const said = known.get(key);
      if (record === undefined || said === undefined || record.contactId === null) continue;
      const [shown, ...others] = contacts.get(key) ?? [];
      const isReadable = shown === undefined ? isContactId(record.contactId) : shown.missing === undefined;
      if (found.failures.has(key) || !isReadable) {
        unread += 1;
        continue;
      }
      counts.looked += 1;
      if (others.length > 0) {
        counts.doubled += 1;
        events.push(doubled(key, [shown, ...others]));
        continue;
      }
      // A list may lag behind what a read by the id shows.
      const theirs = shown ?? (await workspace.getContact(record.contactId, { signal, onRequest }));
      if (theirs === null) {
        counts.gone += 1;
        if (makesAgain && hasBit(keys.unchanged, number)) again.push(number);
        const message = deletedSentence(await findUndoThatDeleted(ledger.contacts, key, record.contactId));
        events.push({ ...event(key), code: 'driftGone', field: null, message });
        continue;
      }
      const isMoved = theirs.id !== record.contactId && theirs.id !== record.linkedTo;
      // Nothing was agreed on about a contact that has the key by now.
      const drift = isMoved ? [] : driftOf({ ...inputOf(parts, run, record, theirs), policies }, theirs);
      const isDrift = isMoved || drift.length > 0;
      if (isDrift) counts.changed += 1;
      if (isMoved) {
        movedKeys.add(key);
        events.push(moved(key, theirs, record.contactId));
      }
      events.push(...drift.map((one) => changed(key, one)));
      for (const value of phonesOf(theirs)) {
        const other = phones.get(value);
        if (other === undefined) {
          if (phones.size < phonesMax) phones.set(value, key);
        } else if (other !== key) {
          samePhones += 1;
          events.push(samePhone(key, other, value));
        }
      }
      if (isDrift && restage !== null && hasBit(keys.unchanged, number)) {
        const row = { kind: 'cells', line: 0, record: 0, columns: ['externalId'], cells: [key] } as const;
        const { rowHash, fingerprint } = said;
        const keeps = rowHash === null || fingerprint === null ? {} : { keeps: { rowHash, fingerprint } };
        const desired = isMoved ? contactOfMoved(key, said.said) : contactOfDrift(key, said.said, drift);
        items.push({ kind: 'desired', row, desired, sequence: run.sequence, number, ...keeps });
      }
    }
    await write(events);
    if (restage !== null && items.length > 0) {
      // `--limit` may leave some of them for the next import.
      const { stagedKeys } = await restage(items);
      repairs += stagedKeys.length;
      restored += stagedKeys.filter((key) => !movedKeys.has(key)).length;
    }
    const totals = Object.fromEntries(requests);
    requests.clear();
    await ledger.runs.record(run.id, { requests: totals });
  }
  const notes = [
    `looked at ${counted(counts.looked, 'contact')}: ${counts.changed} changed, ${counts.gone} gone, ${counts.doubled} doubled`,
    ...(unread === 0
      ? []
      : [`${counted(unread, 'contact')} could not be read, and ${unread === 1 ? 'was' : 'were'} not compared`]),
    ...(samePhones === 0
      ? []
      : [`${samePhones === 1 ? '1 phone number stands' : `${samePhones} phone numbers stand`} under two keys`]),
    ...(phones.size < phonesMax ? [] : [`phone numbers were compared for the first ${phonesMax} of them`]),
  ];
  return { counts, repairs, restored, again, makesAgain, notes };
}

/**
 * What becomes of the drift of unchanged rows, and how the rest is brought back. Changed rows are written as they are.
 * @param made how many contacts that are gone are made again of unchanged rows.
 */
export function repairNotes(
  run: RunRecord,
  { counts: { gone, doubled }, restored, makesAgain }: DriftFound,
  made: number,
): readonly string[] {
  const are = made === 1 ? 'is' : 'are';
  const parts = [
    ...(restored === 0 ? [] : [`what people changed in ${counted(restored, 'contact')} is written back`]),
    ...(made === 0 ? [] : [`${counted(made, 'contact')} that ${are} gone ${are} made again`]),
    ...(doubled === 0
      ? []
      : [`${counted(doubled, 'externalId')} with several contacts: delete all but one of each in the app`]),
  ];
  return [
    ...(parts.length === 0 ? [] : [parts.join('; ')]),
    ...(gone === 0 || makesAgain ? [] : [staysGone(run, gone, true)]),
  ];
}

/** What a repair would plan the contact from. */
function inputOf(
  { upsert: { limits } }: VerifyParts,
  { feed, sequence, options }: RunRecord,
  record: ContactRecord,
  { id }: Contact,
): Omit<PlanInput, 'theirs' | 'ours' | 'restores' | 'policies'> {
  const { ownsItems, itemRemoval, adoptOf } = limits;
  const isLinked = record.linkedTo === id;
  const adopt = !isLinked && (options.adopt || adoptOf(feed));
  const base = baseFor(record, feed, ownsItems);
  return { feed, sequence, sourceLabel: null, base, itemRemoval, adopt, isLinked, yieldsItems: false, slotNames: null };
}

function isAtRest(record: ContactRecord | undefined): boolean {
  return record !== undefined && record.contactId !== null && record.claim === null && record.state !== 'intent';
}

function phonesOf({ defaultFields }: Contact): readonly string[] {
  const values = defaultFields.phoneNumbers.flatMap(({ value }) =>
    value === null ? [] : [itemIdentity('phone', value)],
  );
  return [...new Set(values)];
}

const event = (key: string) => ({ kind: 'drift', line: 0, key }) as const;

function changed(key: string, { field, from, to }: Drifted): RunEvent {
  const message = 'the app has another value than file and app agreed on';
  return { ...event(key), code: 'driftChanged', field, message, file: from, app: to };
}

function moved(key: string, { id }: Contact, before: string): RunEvent {
  const message = `another contact has this externalId: ${id}, no longer ${before}`;
  return { ...event(key), code: 'driftMoved', field: null, message };
}

function doubled(key: string, contacts: readonly (Contact | undefined)[]): RunEvent {
  const ids = contacts.flatMap((contact) => contact?.id ?? []);
  const message = `${ids.length} contacts have this externalId: ${ids.join(', ')}`;
  return { ...event(key), code: 'driftDoubled', field: null, message };
}

function samePhone(key: string, other: string, value: string): RunEvent {
  const message = 'a contact with another externalId has the same phone number';
  return { ...event(key), code: 'samePhone', field: null, value, contact: other, message };
}
