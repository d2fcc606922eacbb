/**
 * The service of the model: contacts that are created and changed at once, late, or never; lists that lag; replies that are
 * no picture of the contact that was asked for.
 *
 * It has no idempotency and, unless `unique`, no idea of duplicates: a second create of a key really makes a second
 * contact. What a PATCH makes of a contact is worked out by the rules of the real service. Terms: a write *lands* when its
 * change is there; a list *lags* when it leaves out what was made, or shows what was there, less than the visibility lag
 * ago. A read of one contact by its id never lags.
 */

import type { UpdateBody } from '#src/service/contacts/contact-bodies.ts';
import { applyUpdate } from '#src/service/contacts/contact-changes.ts';
import { Refusal } from '#src/service/http/refusal.ts';
import type { StoredContact } from '#src/service/stored-records.ts';
import type { Contact, CreateContactBody, CustomFieldValue, UpdateContactBody } from '#src/wire/contact.ts';

interface Version {
  readonly atMs: number;
  readonly contact: Contact;
}

/** What a person changed by hand, and when. */
export interface Edit {
  readonly contactId: string;
  readonly atMs: number;
}

interface LateWrite {
  readonly atMs: number;
  readonly land: () => void;
}

/** What there is at the beginning of a schedule. */
export interface ServiceContents {
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  readonly others: ReadonlySet<string>;
}

export type ListLag = 'none' | 'absence' | 'contents';

export interface ModelService {
  readonly edits: readonly Edit[];
  contents(): ServiceContents;
  /** All contacts of that key, whether lists show them yet or not. */
  contactsOf(key: string): readonly Contact[];
  /** Null where the key is taken (unique only). */
  create(body: CreateContactBody): Contact | null;
  /** Null where it is refused: there is no such contact, or it has no such item. */
  update(id: string, body: UpdateContactBody): Contact | null;
  landLater(atMs: number, land: () => void): void;
  get(id: string): Contact | null;
  /** How a list of these keys could lag now. */
  lagsOf(keys: readonly string[]): readonly ListLag[];
  list(keys: readonly string[], lag: ListLag): readonly Contact[];
  /** A person saves the contact with a change. Answers false where there is none. */
  edit(key: string, change: (contact: Contact) => Contact): boolean;
  /** A person deletes the contact. Answers false where there is none. */
  remove(key: string): boolean;
  /** Somebody else makes a contact; without an externalId where the key is empty. */
  add(key: string, fields: Fields): boolean;
  /** Contacts that somebody else has added. */
  madeByOthers(key: string): number;
  /** Lets everything land that is due by then. */
  land(dueMs: number): void;
  /** When the last late write lands; null where none is on its way. */
  lastLateMs(): number | null;
  nextLateMs(): number | null;
}

export interface ServiceOptions {
  readonly unique: boolean;
  readonly patchMode: 'merge' | 'replace';
  readonly visibilityLagMs: number;
  readonly nowMs: () => number;
  readonly beginning: ServiceContents;
}

export interface Fields {
  readonly firstName?: string | null;
  readonly lastName?: string | null;
  readonly company?: string | null;
  readonly role?: string | null;
  readonly emails?: readonly { readonly name: string; readonly value: string }[];
  readonly phoneNumbers?: readonly { readonly name: string; readonly value: string }[];
}

export const noContents: ServiceContents = { versions: new Map(), others: new Set() };

export function createModelService(options: ServiceOptions): ModelService {
  const { nowMs, patchMode, visibilityLagMs } = options;
  const versions = new Map(options.beginning.versions);
  const others = new Set(options.beginning.others);
  const edits: Edit[] = [];
  let late: LateWrite[] = [];
  const latest = (known: readonly Version[]): Contact[] => known.slice(-1).map(({ contact }) => contact);
  const put = (contact: Contact): Contact => {
    versions.set(contact.id, [...(versions.get(contact.id) ?? []), { atMs: nowMs(), contact }]);
    return contact;
  };
  const get = (id: string): Contact | null => latest(versions.get(id) ?? [])[0] ?? null;
  const all = (): Contact[] => [...versions.values()].flatMap(latest);
  const contactsOf = (key: string): Contact[] => all().filter(({ externalId }) => externalId === key);
  const isYoung = ({ atMs }: Version): boolean => nowMs() - atMs < visibilityLagMs;
  /** As a list may still show it. */
  const shownLate = (known: readonly Version[]): Contact[] => {
    const old = known.filter((one) => !isYoung(one));
    return latest(old.length > 0 ? old : known.slice(0, 1));
  };
  let itemCount = 0;
  const newItemId = (): string => {
    itemCount += 1;
    return `${nowMs()}-${itemCount}`;
  };

  return {
    edits,
    contents: () => ({ versions: new Map(versions), others: new Set(others) }),
    contactsOf,
    create: (body) => {
      const key = body.externalId ?? '';
      if (options.unique && contactsOf(key).length > 0) return null;
      const { customFields = [], source = null } = body;
      return put(
        newContact({ id: `c${versions.size + 1}`, key, fields: body.defaultFields, customFields, source, newItemId }),
      );
    },
    update: (id, body) => {
      const contact = get(id);
      if (contact === null) return null;
      const facts = { mode: patchMode, updatedAt: '', newItemId };
      const customFields = body.customFields.map(({ id: own, ...field }) => ({ id: own ?? null, ...field }));
      try {
        return put(asContact(applyUpdate(asStored(contact), asRead(body), customFields, facts)));
      } catch (error) {
        if (error instanceof Refusal) return null;
        throw error;
      }
    },
    landLater: (atMs, land) => {
      late.push({ atMs, land });
    },
    get,
    lagsOf: (keys) => {
      const own = [...versions.values()].filter((known) => keys.includes(latest(known)[0]?.externalId ?? ''));
      const isNew = own.some((known) => known.length > 0 && known.every(isYoung));
      const isOld = own.some((known) => known.length > 1 && known.slice(1).some(isYoung));
      return [...(isNew ? (['absence'] as const) : []), ...(isOld ? (['contents'] as const) : [])];
    },
    list: (keys, lag) =>
      [...versions.values()].flatMap((known) => {
        const [contact] = latest(known);
        if (contact === undefined || !keys.includes(contact.externalId ?? '')) return [];
        // The filter is one of what is shown.
        if (lag === 'contents') return shownLate(known).filter((one) => keys.includes(one.externalId ?? ''));
        return lag === 'absence' && known.every(isYoung) ? [] : [contact];
      }),
    madeByOthers: (key) => contactsOf(key).filter(({ id }) => others.has(id)).length,
    add: (key, fields) => {
      if (options.unique && contactsOf(key).length > 0) return false;
      const id = `c${versions.size + 1}`;
      others.add(id);
      put(newContact({ id, key, fields, customFields: [], source: null, newItemId }));
      return true;
    },
    edit: (key, change) => {
      const [contact] = contactsOf(key);
      if (contact === undefined) return false;
      put(change(contact));
      edits.push({ contactId: contact.id, atMs: nowMs() });
      return true;
    },
    remove: (key) => {
      const [contact] = contactsOf(key);
      // Its id is never given again.
      if (contact !== undefined) versions.set(contact.id, []);
      return contact !== undefined;
    },
    land: (dueMs) => {
      const due = late.filter((one) => one.atMs <= dueMs);
      late = late.filter((one) => one.atMs > dueMs);
      for (const { land } of due) land();
    },
    lastLateMs: () => (late.length === 0 ? null : Math.max(...late.map((one) => one.atMs))),
    nextLateMs: () => (late.length === 0 ? null : Math.min(...late.map((one) => one.atMs))),
  };
}

/** As it arrives. */
function asRead({ externalId, defaultFields }: UpdateContactBody): UpdateBody {
  const { emails, phoneNumbers } = defaultFields;
  const key = externalId === undefined ? {} : { externalId };
  return { ...key, defaultFields: { ...defaultFields, emails: [...emails], phoneNumbers: [...phoneNumbers] } };
}

function asStored(contact: Contact): StoredContact {
  const { createdAt, updatedAt, createdByUserId, defaultFields, customFields } = contact;
  const items = (list: Contact['defaultFields']['emails']) =>
    list.map(({ id, name, value }) => ({ id: id ?? '', name: name ?? '', value: value ?? '' }));
  return {
    ...contact,
    createdAt: createdAt ?? '',
    updatedAt: updatedAt ?? '',
    createdByUserId: createdByUserId ?? '',
    defaultFields: {
      ...defaultFields,
      emails: items(defaultFields.emails),
      phoneNumbers: items(defaultFields.phoneNumbers),
    },
    customFields: customFields.flatMap(({ id, key, value }) => (value === null ? [] : [{ id: id ?? '', key, value }])),
  };
}

function asContact({ defaultFields, customFields, ...rest }: StoredContact): Contact {
  return {
    ...rest,
    defaultFields: {
      ...defaultFields,
      emails: [...defaultFields.emails],
      phoneNumbers: [...defaultFields.phoneNumbers],
    },
    customFields: customFields.map((field) => ({ ...field, name: field.key, type: 'string' })),
  };
}

interface NewContact {
  readonly id: string;
  readonly key: string;
  readonly fields: Fields;
  readonly customFields: readonly { readonly key: string; readonly value: CustomFieldValue }[];
  readonly source: string | null;
  readonly newItemId: () => string;
}

function newContact({ id, key, fields, customFields, source, newItemId }: NewContact): Contact {
  const { firstName = null, lastName = null, company = null, role = null, emails = [], phoneNumbers = [] } = fields;
  const items = (list: readonly { readonly name: string; readonly value: string }[]) =>
    list.map((item) => ({ id: newItemId(), ...item }));
  return {
    id,
    externalId: key === '' ? null : key,
    source,
    sourceUrl: null,
    defaultFields: { firstName, lastName, company, role, emails: items(emails), phoneNumbers: items(phoneNumbers) },
    customFields: customFields.flatMap((field) =>
      field.value === null ? [] : [{ id: newItemId(), name: field.key, type: 'string', ...field }],
    ),
    createdAt: null,
    updatedAt: null,
    createdByUserId: null,
  };
}
