/** A contact is planned from, and remembered, only whole and as itself (`docs/rules.md`, "Workspace, feed, key"). */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { type Contact, contactReply } from '#src/wire/contact.ts';
import type { WriteResult } from '#src/workspace/port.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const whole = wanted('crm-1', {
  role: 'Buyer',
  phones: { mobile: [phone(1)] },
  emails: { email: ['ann@example.com'] },
  customFields: { seats: 4 },
});
const after = wanted('crm-1', { role: 'Seller' });

/** The contact as a service tells it that leaves a member out. */
function without(contact: Contact, member: 'emails' | 'phoneNumbers' | 'customFields'): Contact {
  const told = (holder: object) => Object.fromEntries(Object.entries(holder).filter(([name]) => name !== member));
  return contactReply.parse({ ...told(contact), defaultFields: told(contact.defaultFields) });
}

interface Bends {
  readonly list?: (contact: Contact) => Contact;
  readonly get?: (contact: Contact) => Contact;
  readonly write?: (contact: Contact) => Contact;
}

/** The same worker, with replies as another service would give them. */
function withBent(parts: UpsertParts, { list, get, write }: Bends): UpsertParts {
  const { workspace } = parts;
  const written = (result: WriteResult): WriteResult =>
    result.kind === 'done' && write !== undefined ? { ...result, contact: write(result.contact) } : result;
  return {
    ...parts,
    workspace: {
      ...workspace,
      listByExternalIds: async (keys, options) => {
        const found = await workspace.listByExternalIds(keys, options);
        return list === undefined ? found : { ...found, contacts: found.contacts.map(list) };
      },
      getContact: async (id, options) => {
        const contact = await workspace.getContact(id, options);
        return contact === null || get === undefined ? contact : get(contact);
      },
      createContact: async (body, options) => written(await workspace.createContact(body, options)),
      updateContact: async (id, body, options) => written(await workspace.updateContact(id, body, options)),
    },
  };
}

const boundTo = async (world: UpsertWorld) => (await world.ledger.contacts.get(['crm-1'])).get('crm-1');

describe.each(['emails', 'phoneNumbers', 'customFields'] as const)('a list whose contacts lack %s', (member) => {
  test.each(['merge', 'replace'] as const)(
    'is no picture: the contact is fetched by its id (%s)',
    async (patchMode) => {
      const world = await openUpsertWorld({ patchMode });
      await world.load([whole]);
      const before = await world.contactOf('crm-1');
      const run = await world.stage([after]);
      const bent = withBent(world.parts, { list: (contact) => without(contact, member) });
      expect(await world.workOnce(run, bent)).toEqual(['done']);
      expect(await world.countsOf(run)).toMatchObject({ updated: 1 });
      expect((await world.ledger.runs.get(run.id))?.requests).toMatchObject({ get: 2, patch: 1 });
      const { defaultFields, customFields } = await world.contactOf('crm-1');
      expect(defaultFields).toEqual({ ...before.defaultFields, role: 'Seller' });
      expect(customFields).toEqual(before.customFields);
      await world.expectSound();
    },
  );

  test('and whose own read lacks it too: the row is dead (oddReply), nothing is written', async () => {
    const world = await openUpsertWorld();
    await world.load([whole]);
    const before = await world.contactOf('crm-1');
    const run = await world.stage([after]);
    const lacking = (contact: Contact) => without(contact, member);
    await world.workOnce(run, withBent(world.parts, { list: lacking, get: lacking }));
    expect(await world.countsOf(run)).toMatchObject({ updated: 0, dead: 1 });
    expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
      { class: 'exhausted', code: 'oddReply', key: 'crm-1', message: expect.stringContaining(member) },
    ]);
    expect(world.service.counts().update ?? 0).toBe(0);
    expect(await world.contactOf('crm-1')).toEqual(before);
    await world.expectSound();
  });
});

test('a contact that is found for a new key without what is promised counts as found, and is fetched', async () => {
  const world = await openUpsertWorld();
  const defaultFields = { firstName: 'Ann', emails: [{ name: 'home', value: 'ann@example.com' }] };
  await world.byHand('POST', '/v1/contacts', { externalId: 'crm-1', defaultFields });
  const run = await world.stage([after]);
  await world.workOnce(run, withBent(world.parts, { list: (contact) => without(contact, 'emails') }));
  const { counts } = (await world.ledger.runs.get(run.id)) ?? run;
  expect(counts).toMatchObject({ updated: 1, adopted: 1, foundUnknown: 1 });
  expect((await world.contactOf('crm-1')).defaultFields.emails).toMatchObject([{ value: 'ann@example.com' }]);
  await world.expectSound();
});

test('a read by id that answers with another contact: the row is dead (oddReply), nothing is written or remembered', async () => {
  const world = await openUpsertWorld();
  await world.load([whole, wanted('crm-2')]);
  const other = await world.contactOf('crm-2');
  const bound = await boundTo(world);
  const run = await world.stage([after]);
  const bends = { list: (contact: Contact) => without(contact, 'emails'), get: () => other };
  await world.workOnce(run, withBent(world.parts, bends));
  expect(await world.countsOf(run)).toMatchObject({ updated: 0, dead: 1 });
  expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([{ code: 'oddReply', key: 'crm-1' }]);
  expect(await boundTo(world)).toEqual(bound);
  expect(world.service.counts().update ?? 0).toBe(0);
  await world.expectSound();
});

describe('a reply to a write that is about another contact', () => {
  test('of an update is never remembered: the contact is read after the horizon', async () => {
    const world = await openUpsertWorld();
    await world.load([whole, wanted('crm-2')]);
    const other = await world.contactOf('crm-2');
    const { id } = await world.contactOf('crm-1');
    const run = await world.stage([after]);
    expect(await world.workOnce(run, withBent(world.parts, { write: () => other }))).toEqual(['deferred']);
    expect(await boundTo(world)).toMatchObject({ contactId: id, seen: { id, externalId: 'crm-1' } });
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, dead: 0 });
    expect(world.service.counts().update).toBe(1);
    expect((await world.contactOf('crm-2')).defaultFields).toEqual(other.defaultFields);
    await world.expectSound();
  });

  test('of a create binds nothing: the contact is looked up after the horizon, and made once', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-2')]);
    const other = await world.contactOf('crm-2');
    const run = await world.stage([whole]);
    expect(await world.workOnce(run, withBent(world.parts, { write: () => other }))).toEqual(['deferred']);
    expect(await boundTo(world)).toMatchObject({ state: 'intent', contactId: null });
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, dead: 0 });
    expect(await boundTo(world)).toMatchObject({ contactId: (await world.contactOf('crm-1')).id });
    expect(world.service.counts().create).toBe(2);
    await world.expectSound();
  });
});

describe.each(['..', '.', 'a\ud800'])('an id by which no contact can be read (%j)', (id) => {
  const withId = (contact: Contact): Contact => contactReply.parse({ ...contact, id });
  const deadRow = {
    class: 'exhausted',
    code: 'oddReply',
    key: 'crm-1',
    message: expect.stringContaining('such an id'),
  };

  test('in the reply to a create binds nothing: the contact is looked up after the horizon', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([whole]);
    expect(await world.workOnce(run, withBent(world.parts, { write: withId }))).toEqual(['deferred']);
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, dead: 0 });
    expect(await boundTo(world)).toMatchObject({ contactId: (await world.contactOf('crm-1')).id });
    await world.expectSound();
  });

  test('in a list: the row is dead (oddReply), and others go on', async () => {
    const world = await openUpsertWorld();
    await world.load([whole, wanted('crm-2')]);
    const run = await world.stage([after, wanted('crm-2', { role: 'Seller' })]);
    const list = (contact: Contact) => (contact.externalId === 'crm-1' ? withId(contact) : contact);
    await world.workOnce(run, withBent(world.parts, { list }));
    expect(await world.countsOf(run)).toMatchObject({ updated: 1, dead: 1 });
    expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([deadRow]);
    await world.expectSound();
  });
});

test.each(['..', '.'])(
  'an id that an older version has bound, by which no contact can be read (%s): the row is dead where no list shows the contact',
  async (id) => {
    const world = await openUpsertWorld();
    await world.load([whole]);
    const database = new DatabaseSync(world.ledgerFile);
    database.prepare('UPDATE contacts SET contact_id = ?').run(id);
    database.close();
    const run = await world.stage([after]);
    const workspace = { ...world.parts.workspace, listByExternalIds: async () => ({ contacts: [], readAtMs: 0 }) };
    await world.workOnce(run, { ...world.parts, workspace });
    expect(await world.countsOf(run)).toMatchObject({ updated: 0, dead: 1 });
    expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([{ code: 'oddReply', key: 'crm-1' }]);
  },
);
