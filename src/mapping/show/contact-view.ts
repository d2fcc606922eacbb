/**
 * A desired contact as people read it, and as the fixtures of a mapping write it: `{ externalId, firstName, emails: [{ name,
 * value }], … }`. Items of all columns are one list; what the row does not say is absent.
 */
import type { DesiredContact, DesiredItem } from '#src/contacts/desired.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';

export interface ContactView {
  readonly externalId: string;
  readonly firstName?: string | null;
  readonly lastName?: string | null;
  readonly company?: string | null;
  readonly role?: string | null;
  readonly sourceUrl?: string | null;
  readonly source?: string;
  readonly emails?: readonly ItemView[];
  readonly phones?: readonly ItemView[];
  readonly customFields?: { readonly [key: string]: CustomFieldValue };
}

export interface ItemView {
  readonly name: string;
  readonly value: string;
}

export function viewContact({ key, scalars, source, emails, phones, customFields }: DesiredContact): ContactView {
  const items = (slots: readonly { readonly items: readonly DesiredItem[] }[]): readonly ItemView[] =>
    slots.flatMap((slot) => slot.items.map(({ label, value }) => ({ name: label, value })));
  return {
    externalId: key,
    ...scalars,
    ...(source === null ? {} : { source }),
    ...(emails.length === 0 ? {} : { emails: items(emails) }),
    ...(phones.length === 0 ? {} : { phones: items(phones) }),
    ...(customFields.length === 0
      ? {}
      : { customFields: Object.fromEntries(customFields.map(({ key: name, value }) => [name, value])) }),
  };
}
