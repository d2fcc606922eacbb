/** Reads within V of our own write may show what was there before (`docs/rules.md`, "One contact per key", step 6). */
import { describe, expect, test } from 'vitest';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import type { Contact } from '#src/wire/contact.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const visibilityLagMs = 10_000;

/** The same worker; until that moment every read of the contact shows the old picture of it. */
function withLag(world: UpsertWorld, old: Contact, untilMs: number): UpsertParts {
  const { workspace } = world.parts;
  const asShown = (contact: Contact): Contact =>
    contact.id === old.id && world.clock.monotonicMs() < untilMs ? old : contact;
  return {
    ...world.parts,
    workspace: {
      ...workspace,
      listByExternalIds: async (keys, options) => {
        const found = await workspace.listByExternalIds(keys, options);
        return { ...found, contacts: found.contacts.map(asShown) };
      },
      getContact: async (id, options) => {
        const contact = await workspace.getContact(id, options);
        return contact === null ? null : asShown(contact);
      },
    },
  };
}

describe('a file right after another one', () => {
  test.each(['merge', 'replace'] as const)(
    'is planned from the first one’s reply, and loses none of its values (%s)',
    async (patchMode) => {
      const world = await openUpsertWorld({ patchMode, limits: { visibilityLagMs } });
      await world.load([wanted('crm-1', { role: 'Buyer', phones: { mobile: [phone(1)] } })]);
      world.clock.advance(visibilityLagMs);
      const old = await world.contactOf('crm-1');
      await world.load([wanted('crm-1', { role: 'Seller', phones: { mobile: [phone(2)] } })]);
      const lagging = withLag(world, old, world.clock.monotonicMs() + visibilityLagMs - 1_000);
      const second = await world.stage([wanted('crm-1', { company: 'New Mill' })], { feed: 'shop' });
      expect(await world.workOnce(second, lagging)).toEqual(['deferred']);
      expect(world.service.counts().update).toBe(1);
      expect((await world.finish(second)).counts).toMatchObject({ updated: 1, heldFields: 0, removedValues: 0 });
      const { role, company, phoneNumbers } = (await world.contactOf('crm-1')).defaultFields;
      expect({ role, company }).toEqual({ role: 'Seller', company: 'New Mill' });
      expect(phoneNumbers.map(({ value }) => value)).toEqual([phone(2)]);
      await world.expectSound();
    },
  );

  test('waits for no lag where the contact’s own read shows what was written: no list is asked, however stale', async () => {
    const world = await openUpsertWorld({ faults: ['list:listLag=60m'], limits: { visibilityLagMs } });
    await world.load([wanted('crm-1', { role: 'Buyer' }), wanted('crm-2', { role: 'Buyer' })]);
    const lists = world.service.counts().list;
    const second = await world.stage([wanted('crm-1', { role: 'Seller' }), wanted('crm-2', { role: 'Seller' })]);
    expect(await world.workOnce(second)).toEqual(['done']);
    expect(await world.countsOf(second)).toMatchObject({ updated: 2 });
    expect(world.service.counts().list).toBe(lists);
    await world.faults();
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Seller');
    await world.expectSound();
  });

  test('does not take a contact for gone that no read shows yet', async () => {
    const world = await openUpsertWorld({ limits: { visibilityLagMs } });
    await world.load([wanted('crm-1', { role: 'Buyer' })]);
    const { workspace } = world.parts;
    const blind = { ...world.parts, workspace: { ...workspace, getContact: async () => null } };
    const second = await world.stage([wanted('crm-1', { role: 'Seller' })]);
    expect(await world.workOnce(second, blind)).toEqual(['deferred']);
    expect((await world.finish(second)).counts).toMatchObject({ updated: 1, skipped: 0 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Seller');
    await world.expectSound();
  });

  test('that meets what people changed in the meantime reads again after V, and keeps their change', async () => {
    const world = await openUpsertWorld({ limits: { visibilityLagMs } });
    await world.load([wanted('crm-1', { role: 'Buyer', company: 'Old Mill' })]);
    const { id, defaultFields } = await world.contactOf('crm-1');
    await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, company: 'Third Mill' } });
    const second = await world.stage([wanted('crm-1', { role: 'Seller', company: 'Old Mill' })]);
    expect(await world.workOnce(second)).toEqual(['deferred']);
    expect((await world.finish(second)).counts).toMatchObject({ updated: 1 });
    expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({ role: 'Seller', company: 'Third Mill' });
    await world.expectSound();
  });

  test('whose read grows too old, and meets a change of people when it reads again, waits as well', async () => {
    const world = await openUpsertWorld({ limits: { visibilityLagMs } });
    await world.load([wanted('crm-1', { role: 'Buyer', company: 'Old Mill' })]);
    const { id, defaultFields } = await world.contactOf('crm-1');
    const { workspace, limits } = world.parts;
    const edited: UpsertParts = {
      ...world.parts,
      // Every read is too old when its write is about to be sent.
      limits: { ...limits, readAgeMaxMs: -1 },
      workspace: {
        ...workspace,
        getContact: async (contactId, options) => {
          const contact = await workspace.getContact(contactId, options);
          const company = { ...defaultFields, company: 'Third Mill' };
          await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: company });
          return contact;
        },
      },
    };
    const second = await world.stage([wanted('crm-1', { role: 'Seller', company: 'Old Mill' })]);
    expect(await world.workOnce(second, edited)).toEqual(['deferred']);
    expect((await world.finish(second)).counts).toMatchObject({ updated: 1 });
    expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({ role: 'Seller', company: 'Third Mill' });
    await world.expectSound();
  });
});
