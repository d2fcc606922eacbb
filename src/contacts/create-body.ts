/** The body that creates a contact (`interface.md`, 4.1): what is null or not wanted is left out. */

import type { DesiredContact, Slot } from '#src/contacts/desired.ts';
import type { ItemKind } from '#src/contacts/item-identity.ts';
import { customValueOrNull } from '#src/contacts/same-value.ts';
import { wantedItems } from '#src/contacts/slots.ts';
import type { CreateContactBody } from '#src/wire/contact.ts';

/** `sourceLabel` is the feed's label, for rows that name no source of their own; null leaves it to the service. */
export function createBody(ours: DesiredContact, sourceLabel: string | null): CreateContactBody {
  const source = ours.source ?? sourceLabel;
  const sourceUrl = ours.scalars.sourceUrl ?? null;
  const others: { [Name in 'lastName' | 'company' | 'role']?: string } = {};
  for (const name of ['lastName', 'company', 'role'] as const) {
    const value = ours.scalars[name] ?? null;
    if (value !== null) others[name] = value;
  }
  const emails = itemsOf('email', ours.emails);
  const phoneNumbers = itemsOf('phone', ours.phones);
  const customFields = ours.customFields.filter((field) => customValueOrNull(field.value) !== null);
  return {
    externalId: ours.key,
    ...(source === null ? {} : { source }),
    ...(sourceUrl === null ? {} : { sourceUrl }),
    defaultFields: {
      // The one member that must be there, be it null (`facts.md`, "required on create").
      firstName: ours.scalars.firstName ?? null,
      ...others,
      ...(emails.length === 0 ? {} : { emails }),
      ...(phoneNumbers.length === 0 ? {} : { phoneNumbers }),
    },
    ...(customFields.length === 0 ? {} : { customFields }),
  };
}

function itemsOf(kind: ItemKind, slots: readonly Slot[]): { name: string; value: string }[] {
  return [...wantedItems(kind, slots).values()].map(({ label, value }) => ({ name: label, value }));
}
