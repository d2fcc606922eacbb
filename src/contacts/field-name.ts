/**
 * Field names: how plans, holds, reports and the page name one field of a contact.
 *
 * Names are stable: the ledger keeps those of held fields from run to run. Item names hold an address or a number and
 * are personal data, as values are: they stand in reports and on the page, never in a log.
 */
import type { ScalarName } from '#src/contacts/desired.ts';
import type { ItemKind } from '#src/contacts/item-identity.ts';

/** `firstName`, `custom.tier`, `email.ann@example.com`, `phone.+14155550100`. */
export type FieldName = ScalarName | `custom.${string}` | `email.${string}` | `phone.${string}`;

export function customFieldName(key: string): FieldName {
  return `custom.${key}`;
}

/** `identity` is the item's identity (`item-identity.ts`). */
export function itemFieldName(kind: ItemKind, identity: string): FieldName {
  return `${kind}.${identity}`;
}
