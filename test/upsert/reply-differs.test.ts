/** A service that says yes and shows something else: the row is dead, never a success (`docs/rules.md`, "Three pictures, one plan"). */
import { expect, test } from 'vitest';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import type { WriteResult } from '#src/workspace/port.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

const before = wanted('crm-1', { role: 'Buyer', phones: { mobile: [phone(1)] } });
const after = wanted('crm-1', { role: 'Seller', phones: { mobile: [phone(2)] } });
const latest = wanted('crm-1', { role: 'Seller', phones: { mobile: [phone(3)] } });

/** The same worker; every reply to a write shows another company than the service holds. */
function withBentReplies(parts: UpsertParts): UpsertParts {
  const { workspace } = parts;
  const bend = (result: WriteResult): WriteResult => {
    if (result.kind !== 'done') return result;
    const { contact } = result;
    return { ...result, contact: { ...contact, defaultFields: { ...contact.defaultFields, company: 'Other Ltd' } } };
  };
  return {
    ...parts,
    workspace: {
      ...workspace,
      createContact: async (body, options) => bend(await workspace.createContact(body, options)),
      updateContact: async (id, body, options) => bend(await workspace.updateContact(id, body, options)),
    },
  };
}

test('a create whose reply differs is dead, names the field, and is bound: no second create', async () => {
  const world = await openUpsertWorld();
  const run = await world.stage([before]);
  await world.workOnce(run, withBentReplies(world.parts));
  expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 1 });
  expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
    { class: 'notApplied', code: 'notApplied', field: 'company', key: 'crm-1' },
  ]);
  await world.expectSound();
  expect((await world.load([before])).counts).toMatchObject({ unchanged: 1, created: 0 });
  expect(world.service.counts().create).toBe(1);
  expect((await world.ledger.counts()).openLetters).toBe(0);
  await world.expectSound();
});

test.each(['create', 'update'] as const)(
  'what a not applied %s did write is the feed’s own: it leaves with the file later',
  async (write) => {
    const world = await openUpsertWorld();
    if (write === 'update') await world.load([before]);
    const run = await world.stage([after]);
    await world.workOnce(run, withBentReplies(world.parts));
    expect(await world.countsOf(run)).toMatchObject({ dead: 1, updated: 0 });
    await world.load([after]);
    expect((await world.load([latest])).counts).toMatchObject({ updated: 1, removedValues: 1 });
    const { phoneNumbers } = (await world.contactOf('crm-1')).defaultFields;
    expect(phoneNumbers.map(({ value }) => value)).toEqual([phone(3)]);
    await world.expectSound();
  },
);

test('what the service answered instead is no value of ours: it is held when the row is tried again, and what landed is agreed', async () => {
  const world = await openUpsertWorld();
  await world.load([before]);
  const { workspace } = world.parts;
  /** Says yes, and stores another role. */
  const wilful: UpsertParts = {
    ...world.parts,
    workspace: {
      ...workspace,
      updateContact: (id, body, options) =>
        workspace.updateContact(id, { ...body, defaultFields: { ...body.defaultFields, role: 'Ignored' } }, options),
    },
  };
  const run = await world.stage([after]);
  await world.workOnce(run, wilful);
  expect(await world.countsOf(run)).toMatchObject({ dead: 1 });
  expect((await world.load([after])).counts).toMatchObject({ unchanged: 1, heldFields: 1 });
  const { role, phoneNumbers } = (await world.contactOf('crm-1')).defaultFields;
  expect(role).toBe('Ignored');
  expect(phoneNumbers.map(({ value }) => value)).toEqual([phone(2)]);
  await world.expectSound();
});

test('a rejected row whose write was answered names what is there: it leaves when that feed drops it, and not when another one does', async () => {
  const world = await openUpsertWorld();
  await world.load([before]);
  const run = await world.stage([wanted('crm-1', { role: 'Seller', phones: { mobile: [phone(1)] } })], { feed: 'crm' });
  await world.workOnce(run, withBentReplies(world.parts));
  expect(await world.countsOf(run)).toMatchObject({ dead: 1, updated: 0 });
  const numbers = async () =>
    (await world.contactOf('crm-1')).defaultFields.phoneNumbers.map(({ value }) => value).sort();
  expect((await world.load([after])).counts).toMatchObject({ updated: 1, removedValues: 0 });
  expect(await numbers()).toEqual([phone(1), phone(2)]);
  expect((await world.load([latest], { feed: 'crm' })).counts).toMatchObject({ updated: 1, removedValues: 1 });
  expect(await numbers()).toEqual([phone(2), phone(3)]);
  await world.expectSound();
});
