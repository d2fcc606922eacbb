/** Contacts are kept as reads show them, and what an older version kept is brought into that form. */
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createContactDocuments } from '#src/service/store/contact-table.ts';
import { migrations } from '#src/service/store/schema.ts';
import type { CustomFieldDefinition, StoredContact } from '#src/service/stored-records.ts';

const contact: StoredContact = {
  id: 'c-1',
  externalId: 'e-1',
  source: 'crm',
  sourceUrl: null,
  defaultFields: { company: null, firstName: 'Ada', lastName: null, role: null, emails: [], phoneNumbers: [] },
  customFields: [
    { id: 'f-1', key: 'newsletter', value: true },
    { id: 'f-2', key: 'interests', value: ['tea', 'salt'] },
    { id: 'f-3', key: 'account_manager', value: 'O"Neil' },
    { id: 'f-4', key: 'seats', value: 12.5 },
  ],
  createdAt: '2026-11-21T00:00:00.000Z',
  updatedAt: '2026-11-21T00:00:00.000Z',
  createdByUserId: 'US1',
};
const definitions = [
  { key: 'newsletter', name: 'Newsletter', type: 'boolean' },
  { key: 'interests', name: 'Interests', type: 'multi-select' },
  { key: 'account_manager', name: 'Account "manager"', type: 'string' },
  { key: 'seats', name: 'Seats', type: 'number' },
] as const;

test('a document is the contact as a read shows it, and gives back the contact', () => {
  const documents = createContactDocuments({ all: () => definitions });
  const document = documents.write(contact);
  expect(JSON.parse(document).customFields[1]).toEqual({
    name: 'Interests',
    key: 'interests',
    id: 'f-2',
    type: 'multi-select',
    value: ['tea', 'salt'],
  });
  expect(documents.read(document)).toEqual(contact);
});

test('a definition that was added since the last contact is known', () => {
  const known: CustomFieldDefinition[] = [definitions[0]];
  const documents = createContactDocuments({ all: () => known });
  documents.write({ ...contact, customFields: contact.customFields.slice(0, 1) });
  for (const definition of definitions.slice(1)) known.push(definition);
  expect(documents.read(documents.write(contact))).toEqual(contact);
});

test('documents of version 1 get the names and types of their custom fields, character for character', () => {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  const [first = '', ...later] = migrations;
  database.exec(first);
  for (const { key, name, type } of definitions) {
    database.prepare('INSERT INTO custom_fields (key, name, type) VALUES (?, ?, ?)').run(key, name, type);
  }
  const insert = database.prepare('INSERT INTO contacts (id, created_ms, document) VALUES (?, 0, ?)');
  const plain = { ...contact, id: 'c-2', customFields: [] };
  for (const one of [contact, plain]) insert.run(one.id, JSON.stringify(one));
  for (const migration of later) database.exec(migration);
  const { write } = createContactDocuments({ all: () => definitions });
  const rows = database.prepare('SELECT document FROM contacts ORDER BY seq').all();
  expect(rows.map((row) => row.document)).toEqual([write(contact), write(plain)]);
});
