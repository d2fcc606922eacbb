/** A contact as the store keeps it (2.1 to 2.3). Names and types of custom fields stand with their definitions. */
import type { CustomFieldValue } from '#src/wire/contact.ts';

export interface StoredItem {
  readonly id: string;
  readonly name: string;
  readonly value: string;
}

export interface StoredCustomField {
  readonly id: string;
  readonly key: string;
  /** Never null: a field without a value is not kept. */
  readonly value: NonNullable<CustomFieldValue>;
}

export interface StoredDefaultFields {
  readonly company: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly role: string | null;
  readonly emails: readonly StoredItem[];
  readonly phoneNumbers: readonly StoredItem[];
}

export interface StoredContact {
  readonly id: string;
  readonly externalId: string | null;
  readonly source: string | null;
  readonly sourceUrl: string | null;
  readonly defaultFields: StoredDefaultFields;
  readonly customFields: readonly StoredCustomField[];
  /** ISO 8601 in UTC, to the millisecond. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly createdByUserId: string;
}
