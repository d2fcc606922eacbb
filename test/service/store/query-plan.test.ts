import { expect, test } from 'vitest';
import { isoInstant } from '#src/clock.ts';
import { createContactDocuments, createContactTable } from '#src/service/store/contact-table.ts';
import { createPhoneNumberTable } from '#src/service/store/workspace-tables.ts';
import type { StoredContact } from '#src/service/stored-records.ts';
import { watchedDatabase } from '../support/watched-database.ts';

const documents = createContactDocuments({ all: () => [] });

test('no statement on contacts or phone numbers walks a table to find its rows', () => {
  const { database, prepared, planOf } = watchedDatabase();
  createContactTable(database, documents);
  createPhoneNumberTable(database);
  const walks = prepared.filter((sql) => planOf(sql).some((step) => /^SCAN (?!json_each)/.test(step)));
  expect(prepared.length).toBeGreaterThan(10);
  expect(walks).toEqual([]);
});

test('no statement sorts, and the look-up of some externalIds finds each by its index', () => {
  const { database, prepared, planOf } = watchedDatabase();
  createContactTable(database, documents);
  createPhoneNumberTable(database);
  expect(prepared.filter((sql) => planOf(sql).some((step) => step.includes('TEMP B-TREE')))).toEqual([]);
  const byExternalIds = prepared.filter((sql) => sql.includes('INDEXED BY contacts_by_external_id'));
  expect(byExternalIds.length).toBe(2);
  for (const sql of byExternalIds) {
    expect(planOf(sql)[0]).toBe('SEARCH contacts USING INDEX contacts_by_external_id (external_id=? AND rowid>?)');
  }
});

const contact = (index: number, source: string): StoredContact => ({
  id: `id-${index}`,
  externalId: `e-${index}`,
  source,
  sourceUrl: null,
  defaultFields: { company: null, firstName: 'Ada', lastName: null, role: null, emails: [], phoneNumbers: [] },
  customFields: [],
  createdAt: isoInstant(index),
  updatedAt: isoInstant(index),
  createdByUserId: 'US1',
});

test('a walk by several sources meets each contact once, in order of creation, whatever the page size', () => {
  const { database } = watchedDatabase();
  const contacts = createContactTable(database, documents);
  for (let index = 0; index < 60; index += 1) contacts.insert(contact(index, `s${index % 3}`));
  const wanted = Array.from({ length: 60 }, (_, index) => index).filter((index) => index % 3 !== 1);
  for (const limit of [1, 7, 40, 100]) {
    const met: string[] = [];
    let afterSeq = 0;
    // Ends: each page goes on after the last one, and the last is empty.
    for (;;) {
      const createdMsMax = Number.MAX_SAFE_INTEGER;
      const page = contacts.page({ externalIds: null, sources: ['s0', 's2', 's0'], afterSeq, createdMsMax, limit });
      const last = page.at(-1);
      if (last === undefined) break;
      afterSeq = last.seq;
      met.push(...page.map((row) => JSON.parse(row.document).id));
    }
    expect(met).toEqual(wanted.map((index) => `id-${index}`));
  }
});

test('contacts that are too young are left out of a walk by sources without leaving a hole in its pages', () => {
  const { database } = watchedDatabase();
  const contacts = createContactTable(database, documents);
  for (const [index, ms] of [5_000, 10, 6_000, 20, 30].entries()) {
    contacts.insert({ ...contact(index, 's'), createdAt: isoInstant(ms) });
  }
  const page = contacts.page({ externalIds: null, sources: ['s'], afterSeq: 0, createdMsMax: 1_000, limit: 2 });
  expect(page.map((row) => JSON.parse(row.document).id)).toEqual(['id-1', 'id-3']);
});

test('each gives all contacts in order of creation', () => {
  const { database } = watchedDatabase();
  const contacts = createContactTable(database, documents);
  for (let index = 0; index < 5; index += 1) contacts.insert(contact(index, 's'));
  contacts.remove('id-3');
  expect([...contacts.each()].map((one) => one.id)).toEqual(['id-0', 'id-1', 'id-2', 'id-4']);
});
