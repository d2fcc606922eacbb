/**
 * What a run wrote, contact by contact, as the order to take it back (`src/contacts/undo.ts`): several writes of one contact are one
 * order, from the value before the first to the value that the last left.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DesiredContact,
  type DesiredItem,
  type FieldName,
  type ItemKind,
  type OwnedValue,
  type Slot,
  scalarNames,
  type UndoChange,
  type UndoOrder,
} from '#src/contacts/desired.ts';
import { itemOf } from '#src/contacts/items.ts';
import { customKeyOf } from '#src/contacts/merge.ts';
import type { ContactLedger, JournalRow } from '#src/ledger/contacts.ts';

/** What a run wrote to one contact. */
export interface WrittenContact {
  readonly key: string;
  readonly contactId: string;
  /** The run made the contact. */
  readonly isMade: boolean;
  /** The run, an undo itself, deleted it. */
  readonly isDeleted: boolean;
  /** The run gave it its key, which it keeps. */
  readonly isLinked: boolean;
  readonly changes: readonly UndoChange[];
  /** Values that the run took over, or gave back, without a write. */
  readonly unwritten: readonly OwnedValue[];
  /** Of one that the run made or deleted: its `source`, where the journal has it. */
  readonly source?: string | null;
}

const writesPerPage = 250;
/** A contact is written once by a run, and some times more where answers were lost. */
const writesOfContactMax = 100;

/** Page by page, in the order of each contact's last write. Ends with the run's journal. */
export async function* writtenContacts(
  { journal }: Pick<ContactLedger, 'journal'>,
  runId: string,
): AsyncGenerator<readonly WrittenContact[]> {
  let after: number | undefined;
  for (;;) {
    const page = await journal({ runId, ...(after === undefined ? {} : { after }), limit: writesPerPage });
    const contacts: WrittenContact[] = [];
    for (const row of page) {
      const rows = await journal({ runId, key: row.key, limit: writesOfContactMax });
      if (rows.at(-1)?.number === row.number) contacts.push(writtenContact(rows));
    }
    if (contacts.length > 0) yield contacts;
    if (page.length < writesPerPage) return;
    after = page.at(-1)?.number;
    await nextTurn();
  }
}

/** @param rows of one key, in the order of entry; at least one. */
export function writtenContact(rows: readonly JournalRow[]): WrittenContact {
  const changes = new Map<string, UndoChange>();
  const owners = new Map<FieldName, OwnedValue>();
  for (const { field, from, to, why, label, agreedWith } of rows.flatMap((row) => row.changes)) {
    if (why === 'adopted' || why === 'givenBack') {
      owners.set(field, { field, value: to, isOurs: why === 'adopted' });
      continue;
    }
    const isLabel = isOfLabel(field, { from, to, why });
    const name = `${field} ${isLabel}`;
    const known = changes.get(name);
    const feeds = known === undefined ? agreedWith : known.agreedWith;
    changes.set(name, {
      field,
      left: to,
      before: known === undefined ? from : known.before,
      ...(feeds === undefined ? {} : { agreedWith: feeds }),
      ...(isLabel ? { isLabel: true as const } : {}),
      ...(known?.label !== undefined ? { label: known.label } : label === undefined ? {} : { label }),
    });
  }
  const last = rows.at(-1);
  const source = rows.findLast((row) => row.source !== undefined)?.source;
  return {
    key: last?.key ?? '',
    contactId: last?.contactId ?? '',
    isMade: rows.some(({ kind }) => kind === 'create'),
    isDeleted: rows.some(({ kind }) => kind === 'delete'),
    isLinked: rows.some(({ kind }) => kind === 'link'),
    changes: [...changes.values()].filter(({ left, before }) => JSON.stringify(left) !== JSON.stringify(before)),
    unwritten: [...owners.values()],
    ...(source === undefined ? {} : { source }),
  };
}

/** A change of an item that neither adds nor removes it is one of its label, also where it landed without an answer. */
function isOfLabel(
  field: FieldName,
  { from, to, why }: Pick<JournalRow['changes'][number], 'from' | 'to' | 'why'>,
): boolean {
  return itemOf(field) !== null && (why === 'relabelled' || (why === 'landed' && from !== null && to !== null));
}

/** Null where nothing of it is to be taken back. */
export function undoOrderOf(
  { contactId, changes, unwritten, isMade, isDeleted, source }: WrittenContact,
  deleteCreated: boolean,
): UndoOrder | null {
  const owners = unwritten.length === 0 ? {} : { unwritten };
  const order = { contactId, changes, ...owners, ...(source === undefined ? {} : { source }) };
  if (isDeleted) return changes.length === 0 ? null : { ...order, deletes: false, makes: true };
  return isMade && !deleteCreated ? null : { ...order, deletes: isMade };
}

/** What a deleted contact held, as it is to be made again: each item in a list of its own kind, with its label. */
export function contentsBefore({ changes, source = null }: UndoOrder): Omit<DesiredContact, 'key' | 'undo'> {
  const held = changes.filter(({ before, isLabel }) => before !== null && isLabel !== true);
  const items = (kind: ItemKind): readonly Slot[] => {
    const of = held.filter(({ field }) => itemOf(field)?.kind === kind);
    const all = of.map(({ before, label }): DesiredItem => ({ label: label ?? kind, value: String(before) }));
    return all.length === 0 ? [] : [{ slot: `${kind}s`, items: all, whole: true }];
  };
  const scalars = held.flatMap(({ field, before }) => {
    const name = scalarNames.find((one) => one === field);
    return name === undefined ? [] : [[name, String(before)] as const];
  });
  const customFields = held.flatMap(({ field, before }) => {
    const key = customKeyOf(field);
    return key === null ? [] : [{ key, value: before }];
  });
  return { scalars: Object.fromEntries(scalars), source, emails: items('email'), phones: items('phone'), customFields };
}
