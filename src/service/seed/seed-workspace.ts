/** Fills a new workspace: custom fields, users with phone numbers, contacts. */
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { createContactIds } from '../contacts/contact-id.ts';
import type { Seed } from '../store/open-store.ts';
import { seededCustomFields } from './custom-field-seed.ts';
import { inventContact } from './seed-contacts.ts';
import { inventPhoneNumber, inventUsers } from './seed-phone-numbers.ts';

export const seedContactsMax = 1_000_000;
export const seedPhoneNumbersMax = 10_000;

/** The contacts of a seed were entered one a minute, the last one a minute ago. */
const betweenContactsMs = 60_000;

export interface SeedCounts {
  readonly seedContacts: number;
  readonly seedPhoneNumbers: number;
}

/** Throws a `usage` error, `seedTooLarge`, for a count that is no whole number in its range. */
export function workspaceSeed(counts: SeedCounts, clock: Clock): Seed {
  requireCount('contacts', counts.seedContacts, seedContactsMax);
  requireCount('phone numbers', counts.seedPhoneNumbers, seedPhoneNumbersMax);
  return ({ contacts, customFields, phoneNumbers }) => {
    const nowMs = clock.nowMs();
    for (const definition of seededCustomFields) customFields.insert(definition);
    const users = inventUsers(counts.seedPhoneNumbers);
    for (let index = 0; index < counts.seedPhoneNumbers; index += 1) {
      phoneNumbers.insert(inventPhoneNumber(index, users, nowMs));
    }
    const ownerUserId = users[0].id;
    const nextContactId = createContactIds();
    for (let index = 0; index < counts.seedContacts; index += 1) {
      const createdMs = Math.max(0, nowMs - (counts.seedContacts - index) * betweenContactsMs);
      contacts.insert(inventContact({ index, createdMs, ownerUserId, nextContactId }));
    }
    return ownerUserId;
  };
}

function requireCount(what: string, count: number, countMax: number): void {
  if (Number.isInteger(count) && count >= 0 && count <= countMax) return;
  throw new PatchbayError('usage', 'seedTooLarge', `cannot invent ${count} ${what}: the most is ${countMax}`, {
    facts: { what, count, countMax },
    hint: `Give a whole number from 0 to ${countMax}.`,
  });
}
