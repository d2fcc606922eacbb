/** Desired contacts in short words. A slot is one column; its label is its name. */
import type { DesiredContact, Slot } from '#src/contacts/desired.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';

export interface WantedContact {
  readonly firstName?: string | null;
  readonly company?: string | null;
  readonly role?: string | null;
  /** Values by column: an empty list is a column that is cleared. */
  readonly phones?: Readonly<Record<string, readonly string[]>>;
  readonly emails?: Readonly<Record<string, readonly string[]>>;
  readonly customFields?: Readonly<Record<string, CustomFieldValue>>;
}

export function wanted(key: string, parts: WantedContact = {}): DesiredContact {
  const { phones = {}, emails = {}, customFields = {}, ...scalars } = parts;
  return {
    key,
    scalars: { firstName: 'Ann', ...scalars },
    source: null,
    emails: slots(emails),
    phones: slots(phones),
    customFields: Object.entries(customFields).map(([field, value]) => ({ key: field, value })),
  };
}

function slots(columns: Readonly<Record<string, readonly string[]>>): Slot[] {
  return Object.entries(columns).map(([slot, values]) => ({
    slot,
    items: values.map((value) => ({ label: slot, value })),
  }));
}

/** An invented number that nobody has. */
export const phone = (last: number): string => `+141555501${String(last).padStart(2, '0')}`;
