/**
 * What is remembered of a person after an import of eight columns: externalId, first and last name, company, role, email, and
 * two phones. Ids and instants have the form in which the service gives them (`docs/facts.md`, "ids").
 */
import { createHash } from 'node:crypto';
import { emptyBase } from '#src/contacts/base.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { planContact } from '#src/contacts/plan.ts';
import { usualPolicies } from '#src/contacts/policies.ts';
import { settle } from '#src/contacts/settle.ts';
import type { ContactMemory } from '#src/ledger/packed-memory.ts';
import type { Contact } from '#src/wire/contact.ts';

const firstNames = ['Ann', 'Benjamin', 'Chloe', 'Dmitri', 'Elizabeth', 'Fatima', 'Gus', 'Hannah', 'Ivan', 'Jacqueline'];
const lastNames = [
  'Lee',
  'Anderson',
  'Okafor',
  'Schneider',
  'Montgomery',
  'Petrov',
  'Nguyen',
  'García',
  'Kim',
  'Walsh',
];
const companies = ['Harbour Dental Group', 'Acme', 'Northwind Traders', 'Blue Ridge Plumbing', 'Sunrise Realty LLC'];
const roles = ['Office manager', 'Owner', 'Head of procurement', 'Receptionist', 'Sales'];

const pick = (texts: readonly string[], index: number): string => texts[index % texts.length] ?? '';

export function usualKey(index: number): string {
  return `CRM-${String(100_000 + index)}`;
}

/** The row. */
export function usualDesired(index: number): DesiredContact {
  const firstName = pick(firstNames, index);
  const lastName = pick(lastNames, Math.floor(index / 10));
  const ascii = lastName.normalize('NFD').replace(/[^a-z]/gi, '');
  return {
    key: usualKey(index),
    scalars: { firstName, lastName, company: pick(companies, index), role: pick(roles, index * 3) },
    source: null,
    emails: [
      {
        slot: 'email',
        items: [{ label: 'email', value: `${firstName}.${ascii}${index}@example.com`.toLowerCase() }],
      },
    ],
    phones: ['mobile', 'work'].map((label, place) => ({
      slot: `phone ${label}`,
      items: [{ label, value: `+1415${String(5_000_000 + index * 2 + place)}` }],
    })),
    customFields: [],
  };
}

/** As the service returns it after its create. */
export function usualContact(index: number): Contact {
  const { key, scalars, emails, phones } = usualDesired(index);
  const id = (part: string) => createHash('sha256').update(`${index} ${part}`).digest('hex').slice(0, 24);
  const at = new Date(Date.UTC(2026, 10, 20) + index * 123).toISOString();
  const itemsOf = (slots: DesiredContact['emails']) =>
    slots.flatMap(({ items }) => items.map(({ label, value }) => ({ id: id(value), name: label, value })));
  return {
    id: id('contact'),
    externalId: key,
    source: 'patchbay',
    sourceUrl: null,
    defaultFields: {
      firstName: scalars.firstName ?? null,
      lastName: scalars.lastName ?? null,
      company: scalars.company ?? null,
      role: scalars.role ?? null,
      emails: itemsOf(emails),
      phoneNumbers: itemsOf(phones),
    },
    customFields: [],
    createdAt: at,
    updatedAt: at,
    createdByUserId: 'US7f3a91c2',
  };
}

export function usualMemory(index: number, feed = 'crm'): ContactMemory {
  const input = {
    ...{ feed, sequence: 12, sourceLabel: 'patchbay', base: emptyBase, theirs: null, ours: usualDesired(index) },
    ...({
      itemRemoval: 'owned',
      policies: usualPolicies,
      isLinked: false,
      restores: false,
      adopt: false,
      yieldsItems: false,
      slotNames: null,
    } as const),
  };
  const settled = settle({ ...input, plan: planContact(input), reply: usualContact(index) });
  const { seen, owned, agreed, stamps, said } = settled;
  return { seen, owned, agreed, stamps, saids: [{ feed, said }] };
}
