/** Makes the contact that a create body describes (4.1). Pure: ids and instants come in. */
import type { CreateBody } from './create-body.ts';
import type { CustomFieldItem } from './custom-field-items.ts';
import type { StoredContact, StoredCustomField } from './stored-contact.ts';

/** 4.1: the default for contacts created through this interface. */
const defaultSource = 'public-api';

export interface NewContactFacts {
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
