/** A contact as replies show it (2.1 to 2.3). */
import { invariant } from '#src/errors.ts';
import type { CustomFieldDefinitions, StoredContact } from '#src/service/stored-records.ts';

/** 2.3: create and read replies carry an id in a custom field item, the update reply does not. */
export type ReplyKind = 'create' | 'read' | 'update';

export function contactReplyData(
  contact: StoredContact,
  definitions: CustomFieldDefinitions,
  kind: ReplyKind,
): Readonly<Record<string, unknown>> {
  const { id, externalId, source, sourceUrl, defaultFields, createdAt, updatedAt, createdByUserId } = contact;
  const customFields = contact.customFields.map((field) => {
    const definition = definitions.get(field.key);
    invariant(definition !== undefined, 'a stored custom field has a definition');
    const { name, key, type } = definition;
    return { name, key, ...(kind === 'update' ? {} : { id: field.id }), type, value: field.value };
  });
  return { id, externalId, source, sourceUrl, defaultFields, customFields, createdAt, updatedAt, createdByUserId };
}
