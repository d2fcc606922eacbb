/** Fills a new workspace: custom fields, users with phone numbers, contacts, and what happened on the first numbers. */
import { type Clock, isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { createContactIds, type NextContactId, newItemId } from '#src/service/contacts/contact-changes.ts';
import type { Seed } from '#src/service/store/open-store.ts';
import type { CustomFieldDefinition, PhoneNumber, StoredContact } from '#src/service/stored-records.ts';
import { createNumberPlan, inventedContact } from './invented-people.ts';
import { activeNumberCount, seedActivity } from './seed-activity.ts';
import { inventPhoneNumber, inventUsers } from './seed-phone-numbers.ts';

const seedContactsMax = 1_000_000;
const seedPhoneNumbersMax = 10_000;

/** The contacts of a seed were entered one a minute, the last one a minute ago. */
const betweenContactsMs = 60_000;

interface SeedCounts {
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

/** The custom fields of a new workspace: one of each of the seven types (`docs/contract.md`, "Service"). */
export const seededCustomFields: readonly CustomFieldDefinition[] = [
  { key: 'office_address', name: 'Office address', type: 'address' },
  { key: 'newsletter', name: 'Newsletter', type: 'boolean' },
  { key: 'customer_since', name: 'Customer since', type: 'date' },
  { key: 'interests', name: 'Interests', type: 'multi-select' },
  { key: 'seats', name: 'Seats', type: 'number' },
  { key: 'account_manager', name: 'Account manager', type: 'string' },
  { key: 'portal', name: 'Portal', type: 'url' },
];

/**
 * Invents the contacts of a new workspace: people who were entered by hand in the app.
 *
 * Such a contact has neither externalId nor source (4.1: "contacts created in the user interface have null").
 */
const companies = ['Fennel & Sons', 'Harbor Tea', 'Lantern Works', null] as const;
const roles = ['Buyer', 'Owner', null] as const;

interface InventedContactFacts {
  /** Counted from 0. */
  readonly index: number;
  /** E.164. */
  readonly phoneNumber: string;
  readonly createdMs: number;
  readonly ownerUserId: string;
  readonly nextContactId: NextContactId;
}

function inventContact(facts: InventedContactFacts): StoredContact {
  const { index, phoneNumber, createdMs, ownerUserId, nextContactId } = facts;
  const { firstName, lastName, email } = inventedContact(index);
  const createdAt = isoInstant(createdMs);
  return {
    id: nextContactId(createdMs),
    externalId: null,
    source: null,
    sourceUrl: null,
    defaultFields: {
      company: companies[index % companies.length] ?? null,
      firstName,
      lastName,
      role: roles[index % roles.length] ?? null,
      emails: [{ id: newItemId(), name: 'work', value: email }],
      phoneNumbers: [{ id: newItemId(), name: 'mobile', value: phoneNumber }],
    },
    customFields: [],
    createdAt,
    updatedAt: createdAt,
    createdByUserId: ownerUserId,
  };
}
