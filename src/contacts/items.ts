/** E-mails and phones: the lists of a contact and of what files say, by identity (`itemIdentity`). */
import type { Contact, ContactItem } from '#src/wire/contact.ts';
import { type DesiredItem, type FieldName, type ItemKind, itemIdentity, type Slot } from './desired.ts';

/** The list's name in said, ours and owned; the interface has another for phones. */
export const listOf = { email: 'emails', phone: 'phones' } as const;

export function itemsOf(kind: ItemKind, contact: Contact): readonly ContactItem[] {
  return kind === 'email' ? contact.defaultFields.emails : contact.defaultFields.phoneNumbers;
}

/** The item that a field's name is of; null for a scalar or custom field. */
export function itemOf(field: FieldName): { readonly kind: ItemKind; readonly identity: string } | null {
  for (const kind of ['email', 'phone'] as const) {
    if (field.startsWith(`${kind}.`)) return { kind, identity: field.slice(kind.length + 1) };
  }
  return null;
}

/** The identities of all items that have a value. */
export function identitiesOf(kind: ItemKind, contact: Contact): ReadonlySet<string> {
  return new Set(itemsOf(kind, contact).flatMap(({ value }) => (value === null ? [] : [itemIdentity(kind, value)])));
}

/** By identity, in the slots' order: a value in several slots is one item, as named first. */
export function wantedItems(kind: ItemKind, slots: readonly Slot[]): ReadonlyMap<string, DesiredItem> {
  const wanted = new Map<string, DesiredItem>();
  for (const item of slots.flatMap((slot) => slot.items)) {
    const identity = itemIdentity(kind, item.value);
    if (!wanted.has(identity)) wanted.set(identity, item);
  }
  return wanted;
}
