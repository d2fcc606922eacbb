/** Makes the contact that a create body describes (4.1). Pure: ids and instants come in. */
import { badRequest, invalidCustomFieldItem, Refusal, type RequestProblem } from '#src/service/http/refusal.ts';
import type { StoredContact, StoredCustomField, StoredDefaultFields, StoredItem } from '#src/service/stored-records.ts';
import { randomHex } from '#src/service/text-schemas.ts';
import { type CreateBody, fieldLimits, type UpdateBody, type UpdateItem } from './contact-bodies.ts';
import type { CustomFieldItem } from './custom-field-values.ts';

/** 4.1: the default for contacts created through this interface. */
const defaultSource = 'public-api';

interface NewContactFacts {
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly ownerUserId: string;
  readonly newItemId: () => string;
}

export function newContact(
  body: CreateBody,
  customFields: readonly CustomFieldItem[],
  facts: NewContactFacts,
): StoredContact {
  const { defaultFields } = body;
  const withIds = (items: readonly { name: string; value: string }[] = []) =>
    items.map(({ name, value }) => ({ id: facts.newItemId(), name, value }));
  return {
    id: facts.id,
    externalId: body.externalId ?? null,
    source: body.source ?? defaultSource,
    sourceUrl: body.sourceUrl ?? null,
    defaultFields: {
      company: defaultFields.company ?? null,
      firstName: defaultFields.firstName,
      lastName: defaultFields.lastName ?? null,
      role: defaultFields.role ?? null,
      emails: withIds(defaultFields.emails),
      phoneNumbers: withIds(defaultFields.phoneNumbers),
    },
    customFields: customFields.flatMap(({ key, value }): StoredCustomField[] =>
      // 2.3, null on create: not shown. It means no value, and nothing is kept.
      value === null ? [] : [{ id: facts.newItemId(), key, value }],
    ),
    createdAt: facts.createdAt,
    updatedAt: facts.createdAt,
    // 4.1, the value where the body names none: not shown. The user to whom the key belongs.
    createdByUserId: body.createdByUserId ?? facts.ownerUserId,
  };
}

// What a PATCH makes of a contact. Pure.
//
// 4.3, "effect of omitted fields on the stored contact": not shown, and reported in two contradictory ways. Hence two
// modes (`docs/facts.md`, "Consequence"). In both, externalId, source and sourceUrl change only where the body has them.
// - *merge*: what the body leaves out stays. A list names the items that change; an empty list names none.
// - *replace*: e-mails, phone numbers and custom fields are what the body lists, and empty where it leaves them out,
//   with or without `defaultFields`. A scalar that a given `defaultFields` leaves out becomes null.

/**
 * `customFields` are the checked items of the body, or null where it has none.
 * Throws `Refusal` 400 for an item that names an unknown id, or none where it removes.
 */
export function applyUpdate(
  contact: StoredContact,
  body: UpdateBody,
  customFields: readonly CustomFieldItem[] | null,
  facts: UpdateFacts,
): StoredContact {
  return {
    ...contact,
    externalId: body.externalId === undefined ? contact.externalId : body.externalId,
    source: body.source === undefined ? contact.source : body.source,
    sourceUrl: body.sourceUrl === undefined ? contact.sourceUrl : body.sourceUrl,
    defaultFields: applyDefaultFields(contact.defaultFields, body.defaultFields, facts),
    customFields: applyCustomFields(contact.customFields, customFields, facts),
    updatedAt: facts.updatedAt,
  };
}

function applyDefaultFields(
  stored: StoredDefaultFields,
  given: UpdateBody['defaultFields'],
  facts: UpdateFacts,
): StoredDefaultFields {
  const scalar = (name: 'company' | 'firstName' | 'lastName' | 'role'): string | null => {
    const value = given?.[name];
    if (value !== undefined) return value;
    return facts.mode === 'replace' && given !== undefined ? null : stored[name];
  };
  const emails = applyItems(stored.emails, given?.emails, facts);
  const phoneNumbers = applyItems(stored.phoneNumbers, given?.phoneNumbers, facts);
  const problems = [
    ...itemProblems('defaultFields.emails', stored.emails, given?.emails, emails),
    ...itemProblems('defaultFields.phoneNumbers', stored.phoneNumbers, given?.phoneNumbers, phoneNumbers),
  ];
  if (problems.length > 0) throw badRequest(problems);
  return {
    company: scalar('company'),
    firstName: scalar('firstName'),
    lastName: scalar('lastName'),
    role: scalar('role'),
    emails,
    phoneNumbers,
  };
}

// What a PATCH makes of a list of e-mail addresses or phone numbers (2.2, 4.3). Pure.
//
// An item with an id changes that item; with the value null it removes it. An item without an id is added.

/** What the list becomes, to be kept where `itemProblems` finds nothing. */
function applyItems(
  stored: readonly StoredItem[],
  given: readonly UpdateItem[] | undefined,
  { mode, newItemId }: Pick<UpdateFacts, 'mode' | 'newItemId'>,
): readonly StoredItem[] {
  // 4.3, omitted list: not shown; see `applyUpdate`. An explicit empty list: not shown either; it lists no item, so
  // that merge changes nothing and replace keeps nothing.
  if (given === undefined) return mode === 'merge' ? stored : [];
  const byId = new Map(given.flatMap((item) => (item.id === undefined ? [] : [[item.id, item] as const])));
  const kept = stored.flatMap((item): StoredItem[] => {
    const change = byId.get(item.id);
    if (change === undefined) return mode === 'merge' ? [item] : [];
    return change.value === null ? [] : [{ id: item.id, name: change.name, value: change.value }];
  });
  // 4.3, order of the items afterwards: not shown. Those that were there keep theirs, new ones follow.
  const added = given.flatMap(({ id, name, value }): StoredItem[] =>
    id === undefined && value !== null ? [{ id: newItemId(), name, value }] : [],
  );
  return [...kept, ...added];
}

/** What is wrong with a given list, and with what it would become. `path` names the list. */
function itemProblems(
  path: string,
  stored: readonly StoredItem[],
  given: readonly UpdateItem[] | undefined,
  items: readonly StoredItem[],
): readonly RequestProblem[] {
  if (given === undefined) return [];
  const known = new Set(stored.map((item) => item.id));
  const named = new Set<string>();
  const problems = given.flatMap(({ id, value }, index): RequestProblem[] => {
    // 4.3, null without an id: not shown. Refused: it says what to do, but not to which item.
    const problem = (message: string): RequestProblem[] => [{ path: `${path}.${index}.id`, message, type: 'string' }];
    if (id === undefined) return value === null ? problem('is needed to remove an item') : [];
    // 4.3, an unknown id: not shown. Refused, since the writer's picture of the contact is out of date.
    if (!known.has(id)) return problem('no item of this contact has this id');
    // 4.3, an id twice: not shown. Refused, since one of the two changes would be lost.
    if (named.has(id)) return problem('is in the list twice');
    named.add(id);
    return [];
  });
  if (items.length > fieldLimits.itemsPerListMax) {
    problems.push({ path, message: `would hold more than ${fieldLimits.itemsPerListMax} items`, type: 'array' });
  }
  return problems;
}

// What a PATCH makes of the custom fields (2.3, 4.3). Pure. Items are matched by key; null removes.

/** `given` is null where the body has no custom fields. Throws `Refusal` 400 for an id that is not the item's. */
function applyCustomFields(
  stored: readonly StoredCustomField[],
  given: readonly CustomFieldItem[] | null,
  { mode, newItemId }: Pick<UpdateFacts, 'mode' | 'newItemId'>,
): readonly StoredCustomField[] {
  // 4.3, omitted custom fields: not shown; see `applyUpdate`.
  if (given === null) return mode === 'merge' ? stored : [];
  refuseForeignIds(stored, given);
  const byKey = new Map(given.map((item) => [item.key, item.value]));
  const kept = stored.flatMap((field): StoredCustomField[] => {
    const value = byKey.get(field.key);
    if (value === undefined) return mode === 'merge' ? [field] : [];
    return value === null ? [] : [{ ...field, value }];
  });
  const storedKeys = new Set(stored.map((field) => field.key));
  const added = given.flatMap(({ key, value }): StoredCustomField[] =>
    storedKeys.has(key) || value === null ? [] : [{ id: newItemId(), key, value }],
  );
  return [...kept, ...added];
}

/** 4.3, the meaning of an item's id beside its key: not shown. It may be left out; given, it must be the item's. */
function refuseForeignIds(stored: readonly StoredCustomField[], given: readonly CustomFieldItem[]): void {
  const idByKey = new Map(stored.map((field) => [field.key, field.id]));
  const problems = given.flatMap(({ key, id }, index): RequestProblem[] =>
    id === null || id === idByKey.get(key)
      ? []
      : [{ path: `customFields.${index}.id`, message: 'is not the id of this field in this contact', type: 'string' }],
  );
  if (problems.length > 0) throw invalidCustomFieldItem(problems);
}

/**
 * Contact ids: 24 hex digits, in the order of their making (2.1; form: `docs/facts.md`, "ids").
 *
 * Twelve digits are the millisecond, four count inside it, eight are random. A clock set back does not set the ids
 * back. Ordered ids insert twice as fast as random ones (`docs/design.md`, "HTTP").
 */
const countMax = 0xffff;

/** Answers the next id for an instant in milliseconds since 1970. */
export type NextContactId = (atMs: number) => string;

export function createContactIds(): NextContactId {
  let lastMs = 0;
  let count = 0;
  return (atMs) => {
    if (atMs > lastMs) {
      lastMs = atMs;
      count = 0;
    } else if (count === countMax) {
      // The millisecond is used up: the next one is borrowed.
      lastMs += 1;
      count = 0;
    } else count += 1;
    return hex(lastMs, 12) + hex(count, 4) + randomHex(4);
  };
}

/** Ids of e-mail, phone and custom-field items: 24 hex digits, random (2.2, 2.3). */
export function newItemId(): string {
  return randomHex(12);
}

function hex(value: number, digitCount: number): string {
  return value.toString(16).padStart(digitCount, '0');
}

/**
 * 409 for an externalId that another contact has (2.1; what is answered: not shown). It names neither the field nor the other contact (`docs/facts.md`,
 * "uniqueness": "no field named").
 */
export function conflictRefusal(): Refusal {
  return new Refusal(409, 'The contact conflicts with another contact of this workspace.');
}

/** What an update needs to know beside the contact and the body. */
export interface UpdateFacts {
  readonly mode: PatchMode;
  /** ISO 8601. */
  readonly updatedAt: string;
  readonly newItemId: () => string;
}

/** What PATCH does with what its body leaves out (4.3: not shown; `docs/facts.md`, "Consequence"). */
export type PatchMode = 'merge' | 'replace';

/** The harsher reading, and what the newest public text says: a client that is right here loses nothing elsewhere. */
export const defaultPatchMode: PatchMode = 'replace';
