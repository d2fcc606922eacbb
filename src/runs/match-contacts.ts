/**
 * Which contacts to be made are in the workspace already: without an externalId (`docs/rules.md`, "Contacts without an
 * externalId"), or under another form of their key (`docs/rules.md`, "One person under two keys"). Pure.
 *
 * Rows and contacts are compared by their phone numbers and e-mail addresses (`itemIdentity`). A value that several rows or
 * several contacts have says nothing about a person: a company's switchboard, a shared mailbox. A row is *matched* to a contact
 * where a value of theirs belongs to no other row and no other contact, and no value leads either of them to anybody else.
 * A row that shares values with contacts without an externalId and is matched to none is *unclear*.
 *
 * The rows are indexed first, by hashes of 48 bits, so that many of them need little memory; then the contacts pass by, page by
 * page, and only what meets the index is kept. What met is compared exactly when the rows are read a second time.
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
import type { NewKeyRow, RowLink } from '#src/ledger/staging.ts';
import type { Contact } from '#src/wire/contact.ts';

type IndexedRow = Pick<NewKeyRow, 'position' | 'key' | 'desired'>;

export interface ContactMatcher {
  /** All rows whose contacts are to be made; before the first contact. */
  addRow(row: IndexedRow): void;
  /** Whether any row has something to compare. */
  hasValues(): boolean;
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

export function createContactMatcher(): ContactMatcher {
  const rowOf = new Map<number, number>();
  const keyOf = new Map<number, number>();
  const meetings = new Map<number, Meeting>();
  const existing = new Set<number>();
  const candidates = new Map<number, { readonly sure: Meeting[]; readonly vague: Meeting[] }>();

  return {
    addRow: ({ position, key, desired }) => {
      keyOf.set(hashOf(key), position);
      for (const field of valuesOfRow(desired)) {
        const name = hashOf(field);
        const other = rowOf.get(name);
        rowOf.set(name, other === undefined || other === position ? position : severalRows);
      }
    },
    hasValues: () => rowOf.size > 0,
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
function valuesOfRow({ emails, phones }: DesiredContact): readonly FieldName[] {
  const of = (kind: ItemKind, values: readonly string[]) =>
    values.map((value) => itemFieldName(kind, itemIdentity(kind, value)));
  const valuesIn = (slots: DesiredContact['emails']) => slots.flatMap(({ items }) => items.map(({ value }) => value));
  return [...new Set([...of('phone', valuesIn(phones)), ...of('email', valuesIn(emails))])];
}

function valuesOfContact({ defaultFields: { emails, phoneNumbers } }: Contact): readonly FieldName[] {
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

// Keys that are another form of keys that the workspace knows (`docs/rules.md`, "One person under two keys"): the same people
// would be made a second time. Pure.
//
// - A Salesforce id with 15 characters and the same id with 18: the last three are computed from the case of the others, so
// that the two are one record, whatever the rows say.
// - A key with the prefix of a mapping, or without it (`hubspot-251`, `251`), and keys that differ in case only: two systems may
// have the same numbers, and case may matter. So these count only where the contact shares a phone number, an e-mail
// address or first and last name with the row.

export type KeyForm = 'salesforce15' | 'salesforce18' | 'prefix' | 'case';

interface KnownKey {
  readonly key: string;
  /** The contact as the service last returned it. */
  readonly seen: Contact | null;
}

/**
 * In which forms the workspace may know the key; ASCII letters in lower case.
 * @param prefix of the mapping at hand; empty without one. @param prefixes those of other mappings.
 */
export function formsOf(key: string, prefix: string, prefixes: readonly string[]): readonly string[] {
  const bare = withoutPrefix(key, prefix);
  const bodies = [bare, ...(otherSalesforceId(bare) ?? [])];
  const prefixed = ['', prefix, ...prefixes].flatMap((one) => bodies.map((body) => foldCase(`${one}${body}`)));
  return [...new Set(prefixed)];
}

/** As which of the known keys the row's contact is there; null where none of them is the same person. */
export function sameUnderOtherKey(
  { key, desired }: { readonly key: string; readonly desired: DesiredContact },
  known: readonly KnownKey[],
  prefix: string,
  prefixes: readonly string[],
): { readonly form: KeyForm; readonly known: string } | null {
  const bodyOf = (text: string, own: readonly string[]) => own.map((one) => withoutPrefix(text, one));
  const bare = withoutPrefix(key, prefix);
  const other = otherSalesforceId(bare);
  for (const one of known) {
    if (one.key === key) continue;
    if (other !== null && bodyOf(one.key, ['', prefix, ...prefixes]).includes(other[0]))
      return { form: bare.length === 15 ? 'salesforce15' : 'salesforce18', known: one.key };
  }
  for (const one of known) {
    if (one.key === key || one.seen === null || !isSamePerson(desired, one.seen)) continue;
    return { form: foldCase(one.key) === foldCase(key) ? 'case' : 'prefix', known: one.key };
  }
  return null;
}

/** As the ledger folds keys: ASCII letters only. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function withoutPrefix(key: string, prefix: string): string {
  return prefix !== '' && key.length > prefix.length && key.startsWith(prefix) ? key.slice(prefix.length) : key;
}

const salesforceLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** The same record's id with 18 characters for one with 15, and the other way round; null for anything else. */
function otherSalesforceId(id: string): readonly [string] | null {
  if (!/^[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?$/.test(id)) return null;
  const short = id.slice(0, 15);
  // A number alone is no id of Salesforce, which begins with the kind of its object: `003`, `00Q`.
  if (/^\d+$/.test(short)) return null;
  const long = `${short}${checksumOf(short)}`;
  if (id.length === 15) return [long];
  return id === long ? [short] : null;
}

/** Three characters, each for five: one bit for each capital, the first the lowest. */
function checksumOf(short: string): string {
  return [0, 5, 10]
    .map((start) => {
      const bits = [...short.slice(start, start + 5)].map((letter) => Number(/[A-Z]/.test(letter)));
      return salesforceLetters[bits.reduce((sum, bit, place) => sum + bit * 2 ** place, 0)] ?? '';
    })
    .join('');
}

function isSamePerson({ scalars, emails, phones }: DesiredContact, { defaultFields }: Contact): boolean {
  const shares = (
    kind: 'email' | 'phone',
    slots: DesiredContact['emails'],
    items: readonly { value: string | null }[],
  ) => {
    const there = new Set(items.flatMap(({ value }) => (value === null ? [] : [itemIdentity(kind, value)])));
    return slots.some((slot) => slot.items.some(({ value }) => there.has(itemIdentity(kind, value))));
  };
  if (shares('email', emails, defaultFields.emails) || shares('phone', phones, defaultFields.phoneNumbers)) return true;
  const fold = (name: string | null | undefined) => name?.normalize('NFC').trim().toLowerCase() || null;
  const [first, last] = [fold(scalars.firstName), fold(scalars.lastName)];
  return (
    first !== null && last !== null && first === fold(defaultFields.firstName) && last === fold(defaultFields.lastName)
  );
}
