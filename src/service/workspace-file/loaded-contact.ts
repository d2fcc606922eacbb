/** Makes the contact that a record of a workspace file describes. Pure: ids and instants come in. */
import type { CustomFieldItem } from '#src/service/contacts/custom-field-values.ts';
import type { StoredContact, StoredCustomField, StoredItem } from '#src/service/stored-records.ts';
import type { ContactRecord } from './record-schemas.ts';

export interface LoadedContactFacts {
  readonly nextContactId: () => string;
  readonly newItemId: () => string;
  /** For a contact that names no instant. ISO 8601. */
  readonly loadedAt: string;
  /** For a contact that names no creator. */
  readonly ownerUserId: () => string;
}

export function loadedContact(
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
