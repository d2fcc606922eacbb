/** Fills a new workspace: custom fields, users with phone numbers, contacts, and what happened on the first numbers. */
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { createContactIds } from '../contacts/contact-id.ts';
import type { PhoneNumber } from '../phone-numbers/phone-number.ts';
import type { Seed } from '../store/open-store.ts';
import { seededCustomFields } from './custom-field-seed.ts';
import { createNumberPlan } from './number-plan.ts';
import { activeNumberCount, seedActivity } from './seed-activity.ts';
import { inventContact } from './seed-contacts.ts';
import { inventPhoneNumber, inventUsers } from './seed-phone-numbers.ts';

export const seedContactsMax = 1_000_000;
export const seedPhoneNumbersMax = 10_000;

/** The contacts of a seed were entered one a minute, the last one a minute ago. */
const betweenContactsMs = 60_000;

export interface SeedCounts {
  readonly seedContacts: number;
  readonly seedPhoneNumbers: number;
  /** Whether the numbers may send abroad. Default: false. */
  readonly internationalMessaging?: boolean;
}

/** Throws a `usage` error, `seedTooLarge`, for a count that is no whole number in its range. */
export function workspaceSeed(counts: SeedCounts, clock: Clock): Seed {
  requireCount('contacts', counts.seedContacts, seedContactsMax);
  requireCount('phone numbers', counts.seedPhoneNumbers, seedPhoneNumbersMax);
  return (tables) => {
    const { contacts, customFields, phoneNumbers } = tables;
    const nowMs = clock.nowMs();
    for (const definition of seededCustomFields) customFields.insert(definition);
    const users = inventUsers(counts.seedPhoneNumbers);
    for (const user of users) tables.users.insert(user);
    const numberPlan = createNumberPlan(counts.seedPhoneNumbers);
    const { internationalMessaging = false } = counts;
    const numberFacts = { nowMs, internationalMessaging, forwardTo: numberPlan.ofStranger(activeNumberCount) };
    const activeNumbers: PhoneNumber[] = [];
    for (let index = 0; index < counts.seedPhoneNumbers; index += 1) {
      const phoneNumber = inventPhoneNumber(index, users, numberFacts);
      phoneNumbers.insert(phoneNumber);
      if (index < activeNumberCount) activeNumbers.push(phoneNumber);
    }
    const ownerUserId = users[0].id;
    const nextContactId = createContactIds();
    for (let index = 0; index < counts.seedContacts; index += 1) {
      const createdMs = Math.max(0, nowMs - (counts.seedContacts - index) * betweenContactsMs);
      const phoneNumber = numberPlan.ofContact(index);
      contacts.insert(inventContact({ index, phoneNumber, createdMs, ownerUserId, nextContactId }));
    }
    seedActivity(tables, activeNumbers, { nowMs, ownerUserId, contactCount: counts.seedContacts, numberPlan });
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
