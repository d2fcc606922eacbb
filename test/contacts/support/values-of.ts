/** What a contact holds, without ids and nulls, for comparing in tests. */
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';

export function valuesOf(contact: Contact) {
  const { firstName, lastName, company, role, emails, phoneNumbers } = contact.defaultFields;
  const items = (list: typeof emails) => list.map(({ name, value }) => JSON.stringify([name, value])).sort();
  return {
    scalars: { firstName, lastName, company, role, sourceUrl: contact.sourceUrl },
    emails: items(emails),
    phones: items(phoneNumbers),
    customFields: [...customValuesOf(contact)].sort(([one], [other]) => (one < other ? -1 : 1)),
  };
}

export function customValuesOf(contact: Contact): ReadonlyMap<string, CustomFieldValue> {
  return new Map(contact.customFields.flatMap(({ key, value }) => (value === null ? [] : [[key, value] as const])));
}
