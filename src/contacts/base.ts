/**
 * *base*: what we remember of one contact (`rules.md`, "Three pictures, one plan").
 *
 * *said* is per feed, key and field: what the file said last and had settled. *agreed* is per key and field: the value
 * that file and app last had in common. *seen* and *owned* are per key. What people changed is what differs from
 * agreed; an edit of theirs that was kept never becomes agreed, so that no night in between can turn it into ours.
 *
 * Invariant: base moves only through `settle`, after a verified reply or a verified no-op, and through `claim.ts`,
 * where a write in doubt turns out to have landed.
 */
import type { Agreement, FieldStamp } from '#src/contacts/agreed.ts';
import type { DesiredContact, DesiredCustomField, DesiredScalars, Slot } from '#src/contacts/desired.ts';
import type { FieldName } from '#src/contacts/field-name.ts';
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';

/** What the feed's file last said for this key and had settled. A member that never settled is absent. */
export interface Said {
  readonly scalars: DesiredScalars;
  readonly emails: readonly Slot[];
  readonly phones: readonly Slot[];
  readonly customFields: readonly DesiredCustomField[];
  /** Fields that wait for a person. Their values above are those from before the hold. */
  readonly held: readonly FieldName[];
}

export const emptySaid: Said = { scalars: {}, emails: [], phones: [], customFields: [], held: [] };

/** What another feed said of the same key. */
export interface OtherSaid {
  readonly feed: string;
  readonly said: Said;
  /** Whether its items are its own: not those of a feed that is gone, nor those of `main` beside a named feed. */
  readonly owns: boolean;
}

/** The contact as the service last returned it to us, with its item ids: how we know our own replies and labels again. */
export type Seen = Contact;

export interface OwnedCustomField {
  readonly key: string;
  readonly value: CustomFieldValue;
}

/**
 * What Patchbay put on the contact: identities of items (`item-identity.ts`), entries of custom fields. Which feeds an
 * item belongs to follows from what they say; what is not listed was put there by people.
 */
export interface Ownership {
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly customFields: readonly OwnedCustomField[];
}

export interface Base {
  readonly said: Said | null;
  readonly others: readonly OtherSaid[];
  readonly agreed: readonly Agreement[];
  readonly stamps: readonly FieldStamp[];
  readonly seen: Seen | null;
  readonly owned: Ownership;
}

export const nobodyOwns: Ownership = { emails: [], phones: [], customFields: [] };

/** The base of a contact that we have never met. */
export const emptyBase: Base = { said: null, others: [], agreed: [], stamps: [], seen: null, owned: nobodyOwns };

/** The three pictures of one contact, and what the plan must know of the feed besides. */
export interface PlanInput {
  readonly feed: string;
  /** Of the run whose file said it: orders the changes of several feeds. */
  readonly sequence: number;
  /** The feed's source label, written on create; null leaves it to the service. */
  readonly sourceLabel: string | null;
  readonly base: Base;
  readonly theirs: Contact | null;
  readonly ours: DesiredContact;
  /** `owned`: items that Patchbay wrote leave with the file. `none`: no item is ever removed. */
  readonly itemRemoval: 'owned' | 'none';
  /** Whether the file wins over values that it never agreed on. */
  readonly adopt: boolean;
  /** Whether the feed gives an item up once another names it: `main` does. */
  readonly yieldsItems: boolean;
  /** The slots that the mapping names; null where any column may be one. */
  readonly slotNames: { readonly emails: readonly string[]; readonly phones: readonly string[] } | null;
}
