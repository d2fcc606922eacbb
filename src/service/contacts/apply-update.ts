/**
 * What a PATCH makes of a contact. Pure.
 *
 * 4.3, "effect of omitted fields on the stored contact": not shown, and reported in two contradictory ways. Hence two
 * modes (`facts.md`, "Consequence"). In both, externalId, source and sourceUrl change only where the body has them.
 * - *merge*: what the body leaves out stays. A list names the items that change; an empty list names none.
 * - *replace*: e-mails, phone numbers and custom fields are what the body lists, and empty where it leaves them out,
 *   with or without `defaultFields`. A scalar that a given `defaultFields` leaves out becomes null.
 */
import { applyCustomFields } from './apply-custom-fields.ts';
import { applyItems } from './apply-items.ts';
import type { CustomFieldItem } from './custom-field-items.ts';
import type { StoredContact, StoredDefaultFields } from './stored-contact.ts';
import type { UpdateBody } from './update-body.ts';
import type { UpdateFacts } from './update-facts.ts';

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
  return {
    company: scalar('company'),
    firstName: scalar('firstName'),
    lastName: scalar('lastName'),
    role: scalar('role'),
    emails: applyItems('defaultFields.emails', stored.emails, given?.emails, facts),
    phoneNumbers: applyItems('defaultFields.phoneNumbers', stored.phoneNumbers, given?.phoneNumbers, facts),
  };
}
