/**
 * The desired contact: what one row of a file says about one contact (`design.md`, "Words").
 *
 * A member that is present with a value is wanted, present with null is wanted gone, absent is not touched. The same
 * holds for slots: a slot that is present says all that its column (or JSON array) wants; with no items it wants
 * its items gone; a slot that is absent is not touched, and protects what it wrote before.
 *
 * Lists, not objects, hold what is named by the user's file: a column called `__proto__` is then a name like any other.
 */
import type { CustomFieldValue } from '#src/wire/contact.ts';

export const scalarNames = ['firstName', 'lastName', 'company', 'role', 'sourceUrl'] as const;
/** The single-valued fields of a contact that a file may set. */
export type ScalarName = (typeof scalarNames)[number];

export type DesiredScalars = { readonly [Name in ScalarName]?: string | null };

/** One e-mail address or phone number. `value` is normalised: E.164, or an address with its domain in lower case. */
export interface DesiredItem {
  readonly label: string;
  readonly value: string;
}

/** What one column, or one JSON array, says about a list of items. */
export interface Slot {
  /** The column's name in lower case, or `emails` and `phones` for a JSON array. Stable from file to file. */
  readonly slot: string;
  readonly items: readonly DesiredItem[];
  /** A JSON array that says the whole list: every other slot of the feed speaks through it. */
  readonly whole?: true;
}

export interface DesiredCustomField {
  readonly key: string;
  /** Of the field's type; null wants it gone. */
  readonly value: CustomFieldValue;
}

export interface DesiredContact {
  /** The `externalId`: trimmed, NFC, 1 to 75 code points. */
  readonly key: string;
  readonly scalars: DesiredScalars;
  /** Written on create only. Null leaves it to the feed's label. */
  readonly source: string | null;
  readonly emails: readonly Slot[];
  readonly phones: readonly Slot[];
  readonly customFields: readonly DesiredCustomField[];
}
