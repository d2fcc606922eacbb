/**
 * Which contacts to be made are in the workspace already, without an externalId (`docs/rules.md`, "Contacts without an
 * externalId"). Pure.
 *
 * Rows and contacts are compared by their phone numbers and e-mail addresses (`itemIdentity`). A value that several rows or
 * several contacts have says nothing about a person: a company's switchboard, a shared mailbox. A row is *matched* to a contact
 * where a value of theirs belongs to no other row and no other contact, and no value leads either of them to anybody else.
 * A row that shares values with contacts without an externalId and is matched to none is *unclear*.
 *
 * The rows are indexed first, by hashes of 48 bits, so that many of them need little memory; of rows that are to be compared with a
 * few contacts only, what those few have (`valuesOf`). Then the contacts pass by, page by page, and only what meets the index is kept.
 * What met is compared exactly when the rows are read a second time.
 */
import { hash } from 'node:crypto';
import {
  type DesiredContact,
  type FieldName,
  type ItemKind,
  itemFieldName,
  itemIdentity,
} from '#src/contacts/desired.ts';
import { isLinked } from '#src/contacts/plan.ts';
import type { RowLink, StagedRecord } from '#src/ledger/staging.ts';
import type { Contact } from '#src/wire/contact.ts';

type IndexedRow = Pick<StagedRecord, 'position' | 'key' | 'desired'>;

export interface ContactMatcher {
  /** All rows whose contacts are to be made; before the first contact. */
  addRow(row: IndexedRow): void;
  /** Every contact of the workspace; one that is shown twice counts once. */
  addContact(contact: Contact): void;
  /** Whether a contact without an externalId has met a row. */
  hasMet(): boolean;
  /** The rows once more, all of them. @returns whether this one has met a contact without an externalId. */
  readAgain(row: IndexedRow): boolean;
  /** What the rows were found to be, in their order, and how many of them have their contact already, under their key. */
  result(): { readonly matches: readonly RowMatch[]; readonly existing: number };
}

export interface RowMatch {
  readonly position: number;
  readonly link: RowLink;
  /** The value that they share, or one of them: `phone.+14155550100`. */
  readonly field: FieldName;
  /** The contact; of an unclear row one of them. */
  readonly contactId: string;
  readonly contactName: string | null;
}

/** A value that a row and a contact have. */
interface Meeting {
  readonly field: FieldName;
  /** The first contact that had it, and its name. */
  contactId: string;
  contactName: string | null;
  isUnkeyed: boolean;
  isOfSeveral: boolean;
}

/** In the index: rows of several positions share the value. */
const severalRows = -1;

/** What a few contacts have, by which rows may meet them. */
export interface ContactValues {
  readonly keys: ReadonlySet<number>;
  readonly values: ReadonlySet<number>;
}

export function valuesOf(contacts: readonly Contact[]): ContactValues {
  return {
    keys: new Set(contacts.map(({ externalId }) => hashOf(externalId ?? ''))),
    values: new Set(contacts.flatMap((contact) => valuesOfContact(contact).map(hashOf))),
  };
}

/** Whether the row has a value by which it can be compared. */
export function hasValues({ desired: { emails, phones } }: Pick<IndexedRow, 'desired'>): boolean {
  return [...emails, ...phones].some(({ items }) => items.length > 0);
}

/** @param among all contacts that will pass by; null where they are not known yet. */
export function createContactMatcher(among: ContactValues | null = null): ContactMatcher {
  const rowOf = new Map<number, number>();
  const keyOf = new Map<number, number>();
  const meetings = new Map<number, Meeting>();
  const existing = new Set<number>();
  const candidates = new Map<number, { readonly sure: Meeting[]; readonly vague: Meeting[] }>();

  return {
    addRow: ({ position, key, desired }) => {
      const ofKey = hashOf(key);
      if (among?.keys.has(ofKey) ?? true) keyOf.set(ofKey, position);
      for (const field of valuesOfRow(desired)) {
        const name = hashOf(field);
        if (!(among?.values.has(name) ?? true)) continue;
        const other = rowOf.get(name);
        rowOf.set(name, other === undefined || other === position ? position : severalRows);
      }
    },
    addContact: (contact) => {
      const { id, externalId, missing = [] } = contact;
      // A list that leaves out the member says nothing about it.
      const isUnkeyed = isLinked(contact) && !missing.includes('externalId');
      const position = isUnkeyed ? undefined : keyOf.get(hashOf(externalId ?? ''));
      if (position !== undefined) existing.add(position);
      for (const field of valuesOfContact(contact)) {
        const name = hashOf(field);
        if (!rowOf.has(name)) continue;
        const met = meetings.get(name);
        if (met === undefined) {
          const contactName = nameOf(contact.defaultFields);
          meetings.set(name, { field, contactId: id, contactName, isUnkeyed, isOfSeveral: false });
        } else if (met.contactId !== id) {
          met.isOfSeveral = true;
          if (isUnkeyed && !met.isUnkeyed) {
            // The contact that a person has to look at is the one without an externalId.
            Object.assign(met, { contactId: id, contactName: nameOf(contact.defaultFields), isUnkeyed });
          }
        }
      }
    },
    hasMet: () => [...meetings.values()].some(({ isUnkeyed }) => isUnkeyed),
    readAgain: ({ position, desired }) => {
      if (existing.has(position)) return false;
      const met = valuesOfRow(desired).flatMap((field) => {
        const name = hashOf(field);
        const meeting = meetings.get(name);
        if (meeting?.field !== field || !meeting.isUnkeyed) return [];
        return [{ meeting, isSure: !meeting.isOfSeveral && rowOf.get(name) === position }];
      });
      if (met.length === 0) return false;
      const those = (isSure: boolean) => met.filter((one) => one.isSure === isSure).map(({ meeting }) => meeting);
      candidates.set(position, { sure: those(true), vague: those(false) });
      return true;
    },
    result: () => {
      const rowsOfContact = new Map<string, number>();
      for (const { sure } of candidates.values()) {
        for (const id of new Set(sure.map(({ contactId }) => contactId))) {
          rowsOfContact.set(id, (rowsOfContact.get(id) ?? 0) + 1);
        }
      }
      const matches = [...candidates].flatMap(([position, { sure, vague }]): RowMatch[] => {
        const [first = vague[0]] = sure;
        if (first === undefined) return [];
        const { field, contactId, contactName } = first;
        const isOne = sure.length > 0 && sure.every((one) => one.contactId === contactId);
        const link: RowLink =
          isOne && rowsOfContact.get(contactId) === 1 ? { kind: 'contact', contactId } : { kind: 'unclear' };
        return [{ position, link, field, contactId, contactName }];
      });
      return { matches, existing: existing.size };
    },
  };
}

function hashOf(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

/** Each value once. */
export function valuesOfRow({ emails, phones }: DesiredContact): readonly FieldName[] {
  const of = (kind: ItemKind, values: readonly string[]) =>
    values.map((value) => itemFieldName(kind, itemIdentity(kind, value)));
  const valuesIn = (slots: DesiredContact['emails']) => slots.flatMap(({ items }) => items.map(({ value }) => value));
  return [...new Set([...of('phone', valuesIn(phones)), ...of('email', valuesIn(emails))])];
}

/** Each value once. */
export function valuesOfContact({ defaultFields: { emails, phoneNumbers } }: Contact): readonly FieldName[] {
  const of = (kind: ItemKind, items: Contact['defaultFields']['emails']) =>
    items.flatMap(({ value }) => (value === null ? [] : [itemFieldName(kind, itemIdentity(kind, value))]));
  return [...new Set([...of('phone', phoneNumbers), ...of('email', emails)])];
}

/** What people call a contact; null where it has no name. */
export function nameOf({
  firstName,
  lastName,
  company,
}: {
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly company?: string | null | undefined;
}): string | null {
  return [firstName, lastName].filter((name) => name).join(' ') || company || null;
}
