import { describe, expect, test, vi } from 'vitest';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

const before = wanted('crm-1', { role: 'Buyer', phones: { mobile: [phone(1)], work: [phone(2)] } });
const after = wanted('crm-1', { role: 'Seller', phones: { mobile: [phone(3)], work: [phone(2)] } });

describe.each(['merge', 'replace'] as const)('an update in doubt, where PATCH means %s', (patchMode) => {
  test.each(['update:hangAfter=20ms', 'update:dropAfter', 'update:truncated', 'update:notJson'])(
    '%s: it has landed, so what is planned again sends nothing more',
    async (fault) => {
      const world = await openUpsertWorld({ patchMode });
      await world.load([before]);
      await world.faults(fault);
      const run = await world.stage([after]);
      expect(await world.workOnce(run)).toEqual(['deferred']);
      expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Seller');
      await world.expectSound();
      await world.faults();
      const { counts } = await world.finish(run);
      expect(counts).toMatchObject({ updated: 1, unchanged: 0 });
      expect(world.service.counts().update).toBe(1);
      await world.expectSound();
    },
  );

  test.each(['update:status=503', 'update:dropBefore', 'update:status=408'])(
    '%s: it has not landed, so it is planned again and applied once',
    async (fault) => {
      const world = await openUpsertWorld({ patchMode });
      await world.load([before]);
      await world.faults(fault);
      const run = await world.stage([after]);
      expect(await world.workOnce(run)).toEqual(['deferred']);
      expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Buyer');
      await world.faults();
      expect((await world.finish(run)).counts).toMatchObject({ updated: 1, removedValues: 1 });
      const contact = await world.contactOf('crm-1');
      expect(contact.defaultFields.role).toBe('Seller');
      expect(contact.defaultFields.phoneNumbers.map(({ value }) => value).toSorted()).toEqual([phone(2), phone(3)]);
      expect(world.service.counts().update).toBe(2);
      await world.expectSound();
    },
  );

  test('what people change while it waits is kept: it is planned from a fresh read', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([before]);
    await world.faults('update:dropBefore');
    const run = await world.stage([after]);
    await world.workOnce(run);
    await world.faults();
    const contact = await world.contactOf('crm-1');
    const { firstName, role, phoneNumbers } = contact.defaultFields;
    await world.byHand('PATCH', `/v1/contacts/${contact.id}`, {
      defaultFields: {
        firstName,
        role,
        company: 'Example Ltd',
        emails: [],
        phoneNumbers: [...phoneNumbers, { name: 'boat', value: phone(9) }],
      },
    });
    expect((await world.finish(run)).counts).toMatchObject({ updated: 1 });
    const fields = (await world.contactOf('crm-1')).defaultFields;
    expect(fields).toMatchObject({ role: 'Seller', company: 'Example Ltd' });
    expect(fields.phoneNumbers.map(({ value }) => value).toSorted()).toEqual([phone(2), phone(3), phone(9)]);
    await world.expectSound();
  });
});

test.each([
  ['main', { skipped: 1 }],
  ['shop', { updated: 1 }],
] as const)(
  'an update that lands late neither overwrites a newer row of %s nor adds an item twice',
  async (feed, ends) => {
    const world = await openUpsertWorld({ faults: [] });
    await world.load([before]);
    await world.faults('update:lateCommit=60ms');
    const older = await world.stage([wanted('crm-1', { role: 'Seller', phones: { mobile: [phone(1), phone(4)] } })]);
    await world.workOnce(older);
    // The newer row may not be written while the older one can still land.
    const newer = await world.stage([wanted('crm-1', { company: 'Example Ltd' })], { feed });
    const asked = world.service.counts();
    expect(await world.workOnce(newer)).toEqual(['deferred']);
    expect(world.service.counts()).toEqual(asked);
    await vi.waitFor(async () => expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Seller'), 10_000);
    await world.faults();
    await world.finish(newer);
    expect((await world.finish(older)).counts).toMatchObject(ends);
    const { company, role, phoneNumbers } = (await world.contactOf('crm-1')).defaultFields;
    expect({ company, role }).toEqual({ company: 'Example Ltd', role: 'Seller' });
    expect(phoneNumbers.filter(({ value }) => value === phone(4))).toHaveLength(1);
    await world.expectSound();
  },
);

test('a number that an unanswered update added is the feed’s: it leaves with the file later', async () => {
  const world = await openUpsertWorld();
  await world.load([before]);
  await world.faults('update:dropAfter');
  const run = await world.stage([after]);
  await world.workOnce(run);
  await world.faults();
  await world.finish(run);
  const later = await world.load([wanted('crm-1', { phones: { mobile: [], work: [phone(2)] } })]);
  expect(later.counts).toMatchObject({ updated: 1, removedValues: 1 });
  const { phoneNumbers } = (await world.contactOf('crm-1')).defaultFields;
  expect(phoneNumbers.map(({ value }) => value)).toEqual([phone(2)]);
  await world.expectSound();
});

test('an outage of any length kills no row', async () => {
  const world = await openUpsertWorld();
  await world.load([before]);
  await world.faults('update:status=503');
  const run = await world.stage([after]);
  for (let outage = 0; outage < 8; outage += 1) {
    await world.workOnce(run);
    world.clock.advance(60_000);
  }
  expect(await world.countsOf(run)).toMatchObject({ updated: 0, dead: 0 });
  await world.faults();
  expect((await world.finish(run)).counts).toMatchObject({ updated: 1 });
  await world.expectSound();
});

test('three doubts while other writes succeed kill the row, and the contact is as it was', async () => {
  const writeHealth = { succeeded: () => {}, succeededSince: () => true };
  const world = await openUpsertWorld({ writeHealth });
  await world.load([before]);
  await world.faults('update:status=503');
  const run = await world.load([after]);
  expect(run.counts).toMatchObject({ dead: 1, updated: 0 });
  expect(world.service.counts().update).toBe(3);
  expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([{ class: 'doubt', key: 'crm-1' }]);
  await world.faults();
  const again = await world.load([after]);
  expect(again.counts).toMatchObject({ updated: 1 });
  expect((await world.ledger.counts()).openLetters).toBe(0);
  await world.expectSound();
});
