/** A doubt is resolved field by field and exactly, from what the claim kept (`docs/rules.md`, "One contact per key", 6). */
import { describe, expect, test } from 'vitest';
import type { Contact } from '#src/wire/contact.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

/** A person changes scalars in the app; the rest of the contact stays. */
async function typed(world: UpsertWorld, changes: Partial<Contact['defaultFields']>): Promise<void> {
  const { id, defaultFields } = await world.contactOf('crm-1');
  await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, ...changes } });
}

const fieldsOf = async (world: UpsertWorld) => (await world.contactOf('crm-1')).defaultFields;

describe('an update in doubt that changes the case of a name only', () => {
  const before = wanted('crm-1', { firstName: 'JOHN' });
  const after = wanted('crm-1', { firstName: 'John' });

  test('has not landed where the service shows the old spelling: it is written after the horizon', async () => {
    const world = await openUpsertWorld();
    await world.load([before]);
    await world.faults('update:status=503');
    const run = await world.stage([after]);
    expect(await world.workOnce(run)).toEqual(['deferred']);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, heldFields: 0 });
    expect((await fieldsOf(world)).firstName).toBe('John');
    expect(world.service.counts().update).toBe(2);
    await world.expectSound();
  });

  test('has landed where the service shows the new one: it is sent once', async () => {
    const world = await openUpsertWorld();
    await world.load([before]);
    await world.faults('update:dropAfter');
    const run = await world.stage([after]);
    await world.workOnce(run);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, heldFields: 0 });
    expect(world.service.counts().update).toBe(1);
    await world.expectSound();
  });
});

describe('a person types one of two values of an update in doubt', () => {
  const before = wanted('crm-1', { role: 'Buyer', company: 'Old Mill' });
  const after = wanted('crm-1', { role: 'Seller', company: 'New Mill' });

  test('the other one has not landed, and is written', async () => {
    const world = await openUpsertWorld();
    await world.load([before]);
    await world.faults('update:status=503');
    const run = await world.stage([after]);
    await world.workOnce(run);
    await world.faults();
    await typed(world, { role: 'Seller' });
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, heldFields: 0 });
    expect(await fieldsOf(world)).toMatchObject({ role: 'Seller', company: 'New Mill' });
    await world.expectSound();
  });

  test('a further value that differs from both is theirs: held, whether the update landed or not', async () => {
    for (const fault of ['update:status=503', 'update:dropAfter']) {
      const world = await openUpsertWorld();
      await world.load([before]);
      await world.faults(fault);
      const run = await world.stage([after]);
      await world.workOnce(run);
      await world.faults();
      await typed(world, { company: 'Third Mill' });
      expect((await world.finish(run)).counts).toMatchObject({ updated: 1, heldFields: 1 });
      expect(await fieldsOf(world)).toMatchObject({ role: 'Seller', company: 'Third Mill' });
      await world.expectSound();
    }
  });
});

describe('a create in doubt', () => {
  const ours = wanted('crm-1', { role: 'Seller', company: 'New Mill', phones: { mobile: [phone(1)] } });

  test('of which a person changed one value: that one is held, the other ones are agreed', async () => {
    const world = await openUpsertWorld({ faults: ['create:dropAfter'] });
    const run = await world.stage([ours]);
    await world.workOnce(run);
    await world.faults();
    await typed(world, { company: 'Third Mill' });
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, heldFields: 1 });
    expect(await fieldsOf(world)).toMatchObject({ role: 'Seller', company: 'Third Mill' });
    const next = await world.load([wanted('crm-1', { role: 'Boss', company: 'Fourth Mill' })]);
    expect(next.counts).toMatchObject({ updated: 1, heldFields: 1 });
    expect(await fieldsOf(world)).toMatchObject({ role: 'Boss', company: 'Third Mill' });
    await world.expectSound();
  });

  test('that a person made with one of its values: the other ones do not pass for landed', async () => {
    const world = await openUpsertWorld({ faults: ['create:status=503'] });
    const run = await world.stage([ours]);
    await world.workOnce(run);
    await world.faults();
    const defaultFields = { firstName: 'Ann', role: 'Seller' };
    await world.byHand('POST', '/v1/contacts', { externalId: 'crm-1', defaultFields });
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1, adopted: 1, heldFields: 0 });
    const made = await fieldsOf(world);
    expect(made).toMatchObject({ role: 'Seller', company: 'New Mill' });
    expect(made.phoneNumbers.map(({ value }) => value)).toEqual([phone(1)]);
    expect(world.service.counts()).toMatchObject({ create: 2, update: 1 });
    await world.expectSound();
  });
});
