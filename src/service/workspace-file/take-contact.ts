/** Takes the contacts of a workspace file: the shape of each, its custom fields, its ids. */
import { isoInstant } from '#src/clock.ts';
import { createContactIds, newItemId } from '#src/service/contacts/contact-changes.ts';
import { type CustomFieldItem, checkCustomFieldItems } from '#src/service/contacts/custom-field-values.ts';
import { Refusal } from '#src/service/http/refusal.ts';
import type {
  CustomFieldDefinitions,
  StoredContact,
  StoredCustomField,
  StoredItem,
} from '#src/service/stored-records.ts';
import type { LoadContext } from './load-context.ts';
import { checkRecord, type Problems, type RecordPlace } from './problems.ts';
import { type ContactRecord, contactRecord } from './record-schemas.ts';

/** Contacts without an instant all get the one at which the taking begins. */
export function takeContacts({ tables, problems, keep, owner, definitions, clock }: LoadContext) {
  const nextContactId = createContactIds();
  const loadedMs = clock.nowMs();
  const facts: LoadedContactFacts = {
    nextContactId: () => nextContactId(loadedMs),
    newItemId,
    loadedAt: isoInstant(loadedMs),
    ownerUserId: owner.id,
  };
  return (value: unknown, place: RecordPlace): void => {
    const contact = contactOf(value, place, problems, definitions.all(), facts);
    if (contact !== null) keep('contacts', place, () => tables.contacts.insert(contact));
  };
}

/** The contact, or null where the record has a problem. */
function contactOf(
  value: unknown,
  place: RecordPlace,
  problems: Problems,
  definitions: CustomFieldDefinitions,
  facts: LoadedContactFacts,
): StoredContact | null {
  const record = checkRecord(contactRecord, value, place, problems);
  if (record === null) return null;
  const items = customFieldItems(record.customFields, place, problems, definitions);
  if (items === null) return null;
  const contact = loadedContact(record, items, facts);
  return hasDistinctItems(contact, place, problems) ? contact : null;
}

/** The interface's own check; its problems are reported with paths in the file. */
function customFieldItems(
  items: readonly unknown[] | undefined,
  place: RecordPlace,
  problems: Problems,
  definitions: CustomFieldDefinitions,
): readonly CustomFieldItem[] | null {
  try {
    return checkCustomFieldItems(items, 'known', definitions) ?? [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    for (const { path, message } of error.problems) {
      const parts = path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      problems.add(place, parts, message);
    }
    return null;
  }
}

/** An update names an item by its id: two of a list must not share one (4.3). */
function hasDistinctItems({ defaultFields }: StoredContact, place: RecordPlace, problems: Problems): boolean {
  for (const list of ['emails', 'phoneNumbers'] as const) {
    const items = defaultFields[list];
    if (new Set(items.map((item) => item.id)).size === items.length) continue;
    problems.add(place, ['defaultFields', list], 'two items have the same id');
    return false;
  }
  return true;
}

interface LoadedContactFacts {
  readonly nextContactId: () => string;
  readonly newItemId: () => string;
  /** For a contact that names no instant. ISO 8601. */
  readonly loadedAt: string;
  /** For a contact that names no creator. */
  readonly ownerUserId: () => string;
}

/** The contact that a record describes. Pure: ids and instants come in. */
function loadedContact(
  record: ContactRecord,
  customFields: readonly CustomFieldItem[],
  facts: LoadedContactFacts,
): StoredContact {
  const { defaultFields } = record;
  const withIds = (items: ContactRecord['defaultFields']['emails'] = []): readonly StoredItem[] =>
    items.map(({ id, name, value }) => ({ id: id ?? facts.newItemId(), name, value }));
  const createdAt = record.createdAt ?? facts.loadedAt;
  return {
    id: record.id ?? facts.nextContactId(),
    externalId: record.externalId ?? null,
    // Not `public-api`, as on create: a file is not the interface, and without a source it is entered by hand (4.1).
    source: record.source ?? null,
    sourceUrl: record.sourceUrl ?? null,
    defaultFields: {
      company: defaultFields.company ?? null,
      firstName: defaultFields.firstName ?? null,
      lastName: defaultFields.lastName ?? null,
      role: defaultFields.role ?? null,
      emails: withIds(defaultFields.emails),
      phoneNumbers: withIds(defaultFields.phoneNumbers),
    },
    customFields: customFields.flatMap(({ id, key, value }): StoredCustomField[] =>
      value === null ? [] : [{ id: id ?? facts.newItemId(), key, value }],
    ),
    createdAt,
    updatedAt: record.updatedAt ?? createdAt,
    createdByUserId: record.createdByUserId ?? facts.ownerUserId(),
  };
}
