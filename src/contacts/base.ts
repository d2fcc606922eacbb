/**
 * *base*: what we remember of one contact (`rules.md`, "Three pictures, one plan").
 *
 * It has two halves and a list. *said* is per feed and key, *seen* and *owned* are per key and shared by the feeds.
 * Invariant: base moves only through `settle`, after a verified reply or a verified no-op.
 */

import type { DesiredCustomField, DesiredScalars, Slot } from '#src/contacts/desired.ts';
import type { FieldName } from '#src/contacts/field-name.ts';
import type { Contact } from '#src/wire/contact.ts';

/** What the feed's file last said for this key and had settled. A member that never settled is absent. */
export interface Said {
  readonly scalars: DesiredScalars;
  readonly emails: readonly Slot[];
  readonly phones: readonly Slot[];
  readonly customFields: readonly DesiredCustomField[];
  /** Fields that file and people changed differently, and that nobody has settled yet. */
  readonly held: readonly FieldName[];
}

/**
 * What the service last returned to us. A held field keeps the value it had before the hold, so that the people's
 * change stays visible.
 */
export type Seen = Contact;

export interface OwnedItem {
  /** The item's identity (`item-identity.ts`). */
  readonly value: string;
  readonly feed: string;
}

export interface OwnedCustomField {
  readonly key: string;
  readonly feed: string;
}

/** Which feed wrote each item. What is not listed was put there by hand, or by somebody else. */
export interface Ownership {
  readonly emails: readonly OwnedItem[];
  readonly phones: readonly OwnedItem[];
  readonly customFields: readonly OwnedCustomField[];
}

export interface Base {
  readonly said: Said | null;
  readonly seen: Seen | null;
  readonly owned: Ownership;
}

/** The base of a contact that we have never met. */
export const emptyBase: Base = { said: null, seen: null, owned: { emails: [], phones: [], customFields: [] } };
