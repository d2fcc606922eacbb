/**
 * What a run wrote, contact by contact, as the order to take it back (`src/contacts/undo.ts`): several writes of one contact are one
 * order, from the value before the first to the value that the last left.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FieldName, UndoChange, UndoOrder } from '#src/contacts/desired.ts';
import { itemOf } from '#src/contacts/merge.ts';
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
  for (const { field, from, to, why, label } of rows.flatMap((row) => row.changes)) {
    const isLabel = isOfLabel(field, { from, to, why });
    const name = `${field} ${isLabel}`;
    const known = changes.get(name);
    changes.set(name, {
      field,
      left: to,
      before: known === undefined ? from : known.before,
      ...(isLabel ? { isLabel: true as const } : {}),
      ...(known?.label !== undefined ? { label: known.label } : label === undefined ? {} : { label }),
    });
  }
  const last = rows.at(-1);
  return {
    key: last?.key ?? '',
    contactId: last?.contactId ?? '',
    isMade: rows.some(({ kind }) => kind === 'create'),
    isDeleted: rows.some(({ kind }) => kind === 'delete'),
    isLinked: rows.some(({ kind }) => kind === 'link'),
    changes: [...changes.values()].filter(({ left, before }) => JSON.stringify(left) !== JSON.stringify(before)),
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
  { contactId, changes, isMade, isDeleted }: WrittenContact,
  deleteCreated: boolean,
): UndoOrder | null {
  // A deleted contact stays gone.
  if (isDeleted || (isMade && !deleteCreated)) return null;
  return { contactId, changes, deletes: isMade };
}
