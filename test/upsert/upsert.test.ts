import { describe, expect, test } from 'vitest';
import type { Contact } from '#src/wire/contact.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

const phonesOf = (contact: Contact) => contact.defaultFields.phoneNumbers.map((item) => item.value).toSorted();
const path = (contact: Contact) => `/v1/contacts/${contact.id}`;

describe.each(['merge', 'replace'] as const)('on a service whose PATCH means %s', (patchMode) => {
  test('a contact that nobody has is created whole, and bound', async () => {
    const world = await openUpsertWorld({ patchMode });
    const contact = wanted('crm-1', {
      company: 'Example Ltd',
      phones: { mobile: [phone(1)], work: [phone(2)] },
      emails: { email: ['ann@example.com'] },
      customFields: { account_manager: 'Bea', seats: 12, interests: ['tea', 'chess'] },
    });
    const run = await world.load([contact]);
    expect(run.counts).toMatchObject({ rows: 1, created: 1 });
    expect(run.requests).toMatchObject({ get: 1, post: 1, patch: 0 });
    const made = await world.contactOf('crm-1');
    expect(made).toMatchObject({ source: 'patchbay', defaultFields: { firstName: 'Ann', company: 'Example Ltd' } });
    expect(phonesOf(made)).toEqual([phone(1), phone(2)]);
    expect(Object.fromEntries(made.customFields.map(({ key, value }) => [key, value]))).toMatchObject({
      account_manager: 'Bea',
      seats: 12,
      interests: ['tea', 'chess'],
    });
    expect((await world.ledger.contacts.get(['crm-1'])).get('crm-1')).toMatchObject({
      state: 'bound',
      contactId: made.id,
      saids: [{ feed: 'main', said: { scalars: { firstName: 'Ann', company: 'Example Ltd' }, held: [] } }],
      claim: null,
    });
    expect((await world.ledger.runs.saidOf('main', ['crm-1'])).get('crm-1')?.rowHash).not.toBeNull();
    await world.expectSound();
  });

  test('a contact that is as the file wants it costs no write and is unchanged', async () => {
    const world = await openUpsertWorld({ patchMode });
    const contact = wanted('crm-1', { role: 'Buyer', phones: { mobile: [phone(1)] } });
    await world.load([contact]);
    const again = await world.load([contact]);
    expect(again.counts).toMatchObject({ rows: 1, unchanged: 1, updated: 0 });
    expect(again.requests).toMatchObject({ get: 1, post: 0, patch: 0 });
    expect(world.service.counts()).toMatchObject({ create: 1 });
    expect(world.service.counts().update ?? 0).toBe(0);
    await world.expectSound();
  });

  test('a number that left the file is removed, and one that somebody added by hand stays', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1', { phones: { mobile: [phone(1)], work: [phone(2)] } })]);
    const made = await world.contactOf('crm-1');
    const kept = made.defaultFields.phoneNumbers.map(({ id, name, value }) => ({ id, name, value }));
    await world.byHand('PATCH', path(made), {
      defaultFields: {
        firstName: 'Ann',
        emails: [],
        phoneNumbers: [...kept, { name: 'boat', value: phone(9) }],
      },
    });
    const run = await world.load([wanted('crm-1', { phones: { mobile: [phone(3)], work: [phone(2)] } })]);
    expect(run.counts).toMatchObject({ updated: 1, removedValues: 1 });
    expect(run.requests).toMatchObject({ get: 1, patch: 1 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(2), phone(3), phone(9)]);
    await world.expectSound();
  });

  test('e-mails, custom fields and scalars that the file does not name outlive every update', async () => {
    const world = await openUpsertWorld({ patchMode });
    const fields = { emails: { email: ['ann@example.com'] }, customFields: { seats: 4 } };
    await world.load([wanted('crm-1', { company: 'Example Ltd', phones: { mobile: [phone(1)] }, ...fields })]);
    const run = await world.load([wanted('crm-1', { firstName: 'Anne' })]);
    expect(run.counts).toMatchObject({ updated: 1, removedValues: 0 });
    const contact = await world.contactOf('crm-1');
    expect(contact.defaultFields).toMatchObject({ firstName: 'Anne', company: 'Example Ltd' });
    expect(contact.defaultFields.emails).toMatchObject([{ value: 'ann@example.com' }]);
    expect(phonesOf(contact)).toEqual([phone(1)]);
    expect(contact.customFields.find(({ key }) => key === 'seats')?.value).toBe(4);
    await world.expectSound();
  });

  test('a field that the file clears is cleared', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1', { role: 'Buyer', customFields: { seats: 4, newsletter: true } })]);
    const run = await world.load([wanted('crm-1', { role: null, customFields: { seats: null, newsletter: true } })]);
    expect(run.counts).toMatchObject({ updated: 1 });
    const contact = await world.contactOf('crm-1');
    expect(contact.defaultFields.role).toBeNull();
    const filled = contact.customFields.filter(({ value }) => value !== null);
    expect(filled.map(({ key, value }) => [key, value])).toEqual([['newsletter', true]]);
    await world.expectSound();
  });

  test('a role that somebody changed by hand outlives two further imports', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1', { role: 'Buyer', company: 'Example Ltd' })]);
    await world.byHand('PATCH', path(await world.contactOf('crm-1')), {
      defaultFields: { firstName: 'Ann', company: 'Example Ltd', role: 'Head of buying' },
    });
    for (const company of ['Example GmbH', 'Example SA']) {
      const run = await world.load([wanted('crm-1', { role: 'Buyer', company })]);
      expect(run.counts).toMatchObject({ updated: 1, heldFields: 0 });
      expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({ company, role: 'Head of buying' });
    }
    await world.expectSound();
  });

  test('an update tells the key and the fields that it wrote; a create and an unchanged row tell nothing', async () => {
    const world = await openUpsertWorld({ patchMode });
    const created = await world.load([wanted('crm-1', { role: 'Buyer', company: 'Example Ltd' })]);
    const changed = wanted('crm-1', { role: 'Seller', company: 'Example Ltd' });
    const updated = await world.load([changed]);
    const again = await world.load([changed]);
    expect(await world.eventsOf(updated)).toMatchObject([
      { kind: 'changed', line: 2, key: 'crm-1', code: 'updated', fields: ['role'] },
    ]);
    expect([...(await world.eventsOf(created)), ...(await world.eventsOf(again))]).toEqual([]);
  });

  test('a field that file and people changed differently is held, and listed in every run until it is settled', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1', { role: 'Buyer', company: 'Example Ltd' })]);
    await world.byHand('PATCH', path(await world.contactOf('crm-1')), {
      defaultFields: { firstName: 'Ann', company: 'Example Ltd', role: 'Head of buying' },
    });
    const both = wanted('crm-1', { role: 'Seller', company: 'Example GmbH' });
    const first = await world.load([both]);
    expect(first.counts).toMatchObject({ updated: 1, heldFields: 1 });
    const second = await world.load([both]);
    expect(second.counts).toMatchObject({ unchanged: 1, heldFields: 1 });
    expect(second.requests.patch).toBe(0);
    for (const run of [first, second]) {
      const held = (await world.eventsOf(run)).filter(({ kind }) => kind === 'held');
      expect(held).toMatchObject([{ field: 'role', key: 'crm-1', line: 2 }]);
    }
    expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({
      company: 'Example GmbH',
      role: 'Head of buying',
    });
    expect((await world.ledger.runs.saidOf('main', ['crm-1'])).get('crm-1')).toMatchObject({
      heldCount: 1,
      said: { held: ['role'], scalars: { role: 'Buyer' } },
    });
    const settled = await world.load([wanted('crm-1', { role: 'Head of buying', company: 'Example GmbH' })]);
    expect(settled.counts).toMatchObject({ unchanged: 1, heldFields: 0 });
    await world.expectSound();
  });

  test('a contact that is there under the key already is adopted: nothing of it is overwritten or lost', async () => {
    const world = await openUpsertWorld({ patchMode });
    const there = await world.byHand('POST', '/v1/contacts', {
      externalId: 'crm-1',
      source: 'elsewhere',
      defaultFields: { firstName: 'A.', phoneNumbers: [{ name: 'boat', value: phone(9) }] },
      customFields: [{ key: 'portal', value: 'https://portal.example.com' }],
    });
    const run = await world.load([wanted('crm-1', { role: 'Buyer', phones: { mobile: [phone(1)] } })]);
    expect(run.counts).toMatchObject({ created: 0, updated: 1, adopted: 1, heldFields: 1 });
    expect(world.service.counts().create).toBe(1);
    const contact = await world.contactOf('crm-1');
    const held = { firstName: 'A.', role: 'Buyer' };
    expect(contact).toMatchObject({ id: there.id, source: 'elsewhere', defaultFields: held });
    expect(phonesOf(contact)).toEqual([phone(1), phone(9)]);
    expect(contact.customFields.find(({ key }) => key === 'portal')?.value).toBe('https://portal.example.com');
    const bound = (await world.ledger.contacts.get(['crm-1'])).get('crm-1');
    expect(bound).toMatchObject({ state: 'bound', contactId: there.id });
    await world.expectSound();
  });

  test('an adopted contact that is as wanted counts as updated and adopted, without a write', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.byHand('POST', '/v1/contacts', { externalId: 'crm-1', defaultFields: { firstName: 'Ann' } });
    const run = await world.load([wanted('crm-1')]);
    expect(run.counts).toMatchObject({ updated: 1, adopted: 1, unchanged: 0 });
    expect(run.requests.patch).toBe(0);
    await world.expectSound();
  });

  test('two feeds share a contact, and each removes only what it wrote', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1', { phones: { mobile: [phone(1)] } })]);
    await world.load([wanted('crm-1', { phones: { desk: [phone(2)] } })], { feed: 'shop' });
    await world.load([wanted('crm-1', { phones: { mobile: [] } })], { feed: 'shop' });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1), phone(2)]);
    const run = await world.load([wanted('crm-1', { phones: { desk: [] } })], { feed: 'shop' });
    expect(run.counts).toMatchObject({ updated: 1, removedValues: 1 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
    await world.expectSound();
  });

  test('many rows in several batches each end once', async () => {
    const world = await openUpsertWorld({ patchMode });
    const keys = Array.from({ length: 53 }, (_, index) => `crm-${index}`);
    const first = await world.load(keys.map((key) => wanted(key)));
    expect(first.counts).toMatchObject({ rows: 53, created: 53 });
    const second = await world.load(
      keys.map((key, index) => wanted(key, index % 2 === 0 ? {} : { role: 'Buyer' })),
      { rowsPerBatch: 10 },
    );
    expect(second.counts).toMatchObject({ rows: 53, unchanged: 27, updated: 26 });
    expect(await world.contacts()).toHaveLength(53);
    await world.expectSound();
  });
});
