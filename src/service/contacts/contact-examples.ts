/**
 * The examples of the operations on contacts for the public description: one invented contact, created and updated by the
 * rules that real ones follow, so that no reply shows what the service would not answer.
 */

import { contactReplyData } from '#src/service/store/contact-table.ts';
import type { CustomFieldDefinitions } from '#src/service/stored-records.ts';
import type { CustomFieldType } from '#src/wire/contact.ts';
import type { CreateBody, UpdateBody } from './contact-bodies.ts';
import { applyUpdate, newContact, type PatchMode } from './contact-changes.ts';
import type { CustomFieldItem } from './custom-field-values.ts';

const definitions: CustomFieldDefinitions = new Map(
  (
    [
      ['seats', 'Seats', 'number'],
      ['interests', 'Interests', 'multi-select'],
    ] as const
  ).map(([key, name, type]: readonly [string, string, CustomFieldType]) => [key, { key, name, type }]),
);

const scalars = { company: 'Harbor Tea', firstName: 'Ada', lastName: 'Grove', role: 'Buyer' };

const createBody = {
  defaultFields: {
    ...scalars,
    emails: [{ name: 'work', value: 'ada.grove@example.com' }],
    phoneNumbers: [{ name: 'mobile', value: '+14155550142' }],
  },
  customFields: [
    { key: 'seats', value: 4 },
    { key: 'interests', value: ['tea', 'maps'] },
  ],
  externalId: 'crm-1001',
  source: 'harbor-crm',
  sourceUrl: 'https://crm.example.com/people/1001',
} satisfies CreateBody;

const updateBody = {
  // Without an item's id it can be sent as it stands, to any contact.
  defaultFields: { ...scalars, role: 'Head of buying', emails: [{ name: 'home', value: 'ada@example.org' }] },
  customFields: [{ key: 'seats', value: 5 }],
} satisfies UpdateBody;

/** `mode`: of the service that is described. */
export function contactExamples(mode: PatchMode) {
  const newItemId = exampleItemIds();
  const created = newContact(createBody, checked(createBody.customFields), {
    id: '019aa6f3c1d20000a1b2c3d4',
    createdAt: '2026-11-21T14:00:00.000Z',
    ownerUserId: 'USa1b2c3d4e5',
    newItemId,
  });
  const updated = applyUpdate(created, updateBody, checked(updateBody.customFields), {
    mode,
    updatedAt: '2026-11-21T14:05:00.000Z',
    newItemId,
  });
  const read = contactReplyData(created, definitions, 'read');
  return {
    createBody,
    updateBody,
    createReply: { data: contactReplyData(created, definitions, 'create') },
    getReply: { data: read },
    listReply: { data: [read], totalItems: 1, nextPageToken: null },
    updateReply: { data: contactReplyData(updated, definitions, 'update') },
  };
}

function checked(items: readonly Omit<CustomFieldItem, 'id'>[]): readonly CustomFieldItem[] {
  return items.map((item) => ({ ...item, id: null }));
}

/** The same at each start: a description is known by its bytes. */
function exampleItemIds(): () => string {
  let last = 0x18;
  return () => `6920f0c2a1b2c3d4e5f607${(last++).toString(16)}`;
}
