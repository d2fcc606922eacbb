/**
 * Invents the contacts of a new workspace: people whom somebody entered by hand in the app.
 *
 * Such a contact has neither externalId nor source (4.1: "contacts created in the user interface have null").
 */
import { isoInstant } from '#src/clock.ts';
import { type NextContactId, newItemId } from '../contacts/contact-id.ts';
import type { StoredContact } from '../contacts/stored-contact.ts';
import { inventedContact } from './invented-people.ts';

const companies = ['Fennel & Sons', 'Harbor Tea', 'Lantern Works', null] as const;
const roles = ['Buyer', 'Owner', null] as const;

export interface InventedContactFacts {
  /** Counted from 0. */
  readonly index: number;
  /** E.164. */
  readonly phoneNumber: string;
  readonly createdMs: number;
  readonly ownerUserId: string;
  readonly nextContactId: NextContactId;
}

export function inventContact(facts: InventedContactFacts): StoredContact {
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
