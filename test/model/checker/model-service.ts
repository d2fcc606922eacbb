/**
 * The service of the model: contacts that are created and changed at once, late, or never; lists that lag.
 *
 * It has no idempotency and, unless `unique`, no idea of duplicates: a second create of a key really makes a second
 * contact. Terms: a write *lands* when its change is there; a list *lags* when it leaves out what landed less than the
 * visibility lag ago. A read of one contact by its id never lags.
 */
import type { Contact, CreateContactBody, UpdateContactBody } from '#src/wire/contact.ts';

export type FieldName = 'firstName' | 'lastName' | 'company' | 'role';
export type Fields = { readonly [Name in FieldName]?: string | null };

interface StoredContact {
  readonly contact: Contact;
  readonly createdAtMs: number;
}

/** What a person changed by hand, and when. */
export interface Edit {
  readonly contactId: string;
  readonly field: FieldName;
  readonly value: string;
  readonly atMs: number;
}

interface LateWrite {
  readonly atMs: number;
  readonly land: () => void;
}

export interface ServiceState {
  readonly contacts: ReadonlyMap<string, StoredContact>;
  readonly edits: readonly Edit[];
  /** Edits that a later update took back, although it was sent long enough after them to have read them. */
  readonly lostEdits: readonly Edit[];
}

export interface ModelService {
  readonly state: ServiceState;
  /** All contacts of that key, whether lists show them yet or not. */
  contactsOf(key: string): readonly Contact[];
  /** Null where the key is taken (unique only). */
  create(body: CreateContactBody): Contact | null;
  /** Null where there is no such contact. `sentAtMs`: when the last check before the request was made. */
  update(id: string, body: UpdateContactBody, sentAtMs: number): Contact | null;
  landLater(atMs: number, land: () => void): void;
  get(id: string): Contact | null;
  /** Whether a list of these keys could leave out something now. */
  mayLag(keys: readonly string[]): boolean;
  list(keys: readonly string[], lags: boolean): readonly Contact[];
  /** A person changes a field. */
  edit(key: string, field: FieldName, value: string): boolean;
  /** Somebody else makes a contact. */
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
  readonly visibilityLagMs: number;
  /** How long before an update was sent its read may have been made. */
  readonly readAgeMaxMs: number;
  readonly nowMs: () => number;
  /** There from the start, and visible. */
  readonly contacts: readonly Contact[];
}

export function createModelService(options: ServiceOptions): ModelService {
  const { nowMs } = options;
  const contacts = new Map<string, StoredContact>(
    options.contacts.map((contact) => [contact.id, { contact, createdAtMs: Number.NEGATIVE_INFINITY }]),
  );
  const others = new Set<string>();
  const edits: Edit[] = [];
  const lostEdits: Edit[] = [];
  let late: LateWrite[] = [];
  const isYoung = ({ createdAtMs }: StoredContact): boolean => nowMs() - createdAtMs < options.visibilityLagMs;
  const storedOf = (key: string): StoredContact[] =>
    [...contacts.values()].filter(({ contact }) => contact.externalId === key);

  return {
    state: { contacts, edits, lostEdits },
    contactsOf: (key) => storedOf(key).map(({ contact }) => contact),
    create: (body) => {
      const key = body.externalId ?? '';
      if (options.unique && storedOf(key).length > 0) return null;
      const contact = newContact(`c${contacts.size + 1}`, key, body.defaultFields, body.source ?? null);
      contacts.set(contact.id, { contact, createdAtMs: nowMs() });
      return contact;
    },
    update: (id, body, sentAtMs) => {
      const stored = contacts.get(id);
      if (stored === undefined) return null;
      const fields = { ...stored.contact.defaultFields, ...scalarsOf(body.defaultFields) };
      const contact = { ...stored.contact, defaultFields: fields };
      for (const edit of edits) {
        if (edit.contactId !== id || sentAtMs <= edit.atMs + options.readAgeMaxMs) continue;
        if (stored.contact.defaultFields[edit.field] === edit.value && fields[edit.field] !== edit.value) {
          lostEdits.push(edit);
        }
      }
      contacts.set(id, { ...stored, contact });
      return contact;
    },
    landLater: (atMs, land) => {
      late.push({ atMs, land });
    },
    get: (id) => contacts.get(id)?.contact ?? null,
    mayLag: (keys) => [...contacts.values()].some((one) => isAsked(keys, one.contact) && isYoung(one)),
    list: (keys, lags) =>
      [...contacts.values()]
        .filter((one) => isAsked(keys, one.contact) && !(lags && isYoung(one)))
        .map(({ contact }) => contact),
    madeByOthers: (key) => storedOf(key).filter(({ contact }) => others.has(contact.id)).length,
    add: (key, fields) => {
      if (options.unique && storedOf(key).length > 0) return false;
      const contact = newContact(`c${contacts.size + 1}`, key, fields);
      others.add(contact.id);
      contacts.set(contact.id, { contact, createdAtMs: nowMs() });
      return true;
    },
    edit: (key, field, value) => {
      const stored = storedOf(key)[0];
      if (stored === undefined) return false;
      const { contact } = stored;
      contacts.set(contact.id, {
        ...stored,
        contact: { ...contact, defaultFields: { ...contact.defaultFields, [field]: value } },
      });
      edits.push({ contactId: contact.id, field, value, atMs: nowMs() });
      return true;
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

function isAsked(keys: readonly string[], { externalId }: Contact): boolean {
  return externalId !== null && keys.includes(externalId);
}

/** Only the fields that the body names; e-mails and phones are not part of the model. */
function scalarsOf({ firstName, lastName, company, role }: Fields): Fields {
  return {
    ...(firstName === undefined ? {} : { firstName }),
    ...(lastName === undefined ? {} : { lastName }),
    ...(company === undefined ? {} : { company }),
    ...(role === undefined ? {} : { role }),
  };
}

export function newContact(id: string, key: string, fields: Fields, source: string | null = null): Contact {
  const { firstName = null, lastName = null, company = null, role = null } = fields;
  return {
    id,
    externalId: key,
    source,
    sourceUrl: null,
    defaultFields: { firstName, lastName, company, role, emails: [], phoneNumbers: [] },
    customFields: [],
    createdAt: null,
    updatedAt: null,
    createdByUserId: null,
  };
}
