/** Items belong to every feed whose file names them (`docs/rules.md`, "Three pictures, one plan"). */
import { describe, expect, test } from 'vitest';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { Contact } from '#src/wire/contact.ts';
import { phone, type WantedContact, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const phonesOf = (contact: Contact) => contact.defaultFields.phoneNumbers.map(({ value }) => value).toSorted();
const seatsOf = (contact: Contact) => contact.customFields.find(({ key }) => key === 'seats')?.value ?? null;

const load = (world: UpsertWorld, feed: string, parts: WantedContact) => world.load([wanted('crm-1', parts)], { feed });

describe('a number that two feeds name', () => {
  test('stays while the other file still names it, and leaves with the last one', async () => {
    const world = await openUpsertWorld();
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    await load(world, 'shop', { phones: { desk: [phone(1)] } });
    const dropped = await load(world, 'crm', { phones: { mobile: [] } });
    expect(dropped.counts).toMatchObject({ removedValues: 0 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
    const last = await load(world, 'shop', { phones: { desk: [] } });
    expect(last.counts).toMatchObject({ updated: 1, removedValues: 1 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await world.expectSound();
  });

  test('that people removed is put back by neither', async () => {
    const world = await openUpsertWorld();
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    const { id, defaultFields } = await world.contactOf('crm-1');
    const phoneNumbers = defaultFields.phoneNumbers.map((item) => ({ ...item, value: null }));
    await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, phoneNumbers } });
    await load(world, 'shop', { phones: { desk: [phone(1)] } });
    await load(world, 'crm', { role: 'Buyer', phones: { mobile: [phone(1)] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await world.expectSound();
  });

  test.each(['update:dropAfter', 'update:status=503'])(
    'of which one was never told the answer (%s) is theirs all the same: it leaves with the file later',
    async (fault) => {
      const world = await openUpsertWorld();
      await load(world, 'crm', { phones: { mobile: [phone(1)] } });
      await world.faults(fault);
      const shop = await world.stage([wanted('crm-1', { phones: { desk: [phone(2)] } })], { feed: 'shop' });
      expect(await world.workOnce(shop)).toEqual(['deferred']);
      await world.faults();
      // The first one to look after the horizon is the other feed.
      await load(world, 'crm', { role: 'Buyer', phones: { mobile: [phone(1)] } });
      await world.finish(shop);
      expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1), phone(2)]);
      const left = await load(world, 'shop', { phones: { desk: [] } });
      expect(left.counts).toMatchObject({ updated: 1, removedValues: 1 });
      expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
      await world.expectSound();
    },
  );
});

describe('within a feed', () => {
  test('a number that stands in two columns stays while one of them names it', async () => {
    const world = await openUpsertWorld();
    await load(world, 'crm', { phones: { mobile: [phone(1)], work: [phone(1)] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
    const one = await load(world, 'crm', { phones: { mobile: [], work: [phone(1)] } });
    expect(one.counts).toMatchObject({ removedValues: 0 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
    // A column that is absent keeps what it said.
    await load(world, 'crm', { phones: { mobile: [phone(2)] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1), phone(2)]);
    const none = await load(world, 'crm', { phones: { mobile: [phone(2)], work: [] } });
    expect(none.counts).toMatchObject({ removedValues: 1 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(2)]);
    await world.expectSound();
  });

  test('a JSON array says the whole list, also what columns said before', async () => {
    const world = await openUpsertWorld();
    await load(world, 'crm', { phones: { mobile: [phone(1)], work: [phone(2)] } });
    const whole = (...values: readonly string[]): DesiredContact => ({
      ...wanted('crm-1'),
      phones: [{ slot: 'phones', whole: true, items: values.map((value) => ({ label: 'phone', value })) }],
    });
    const shorter = await world.load([whole(phone(2))], { feed: 'crm' });
    expect(shorter.counts).toMatchObject({ removedValues: 1 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(2)]);
    const empty = await world.load([whole()], { feed: 'crm' });
    expect(empty.counts).toMatchObject({ updated: 1, removedValues: 1 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await world.expectSound();
  });
});

describe('#CLEAR of a custom field', () => {
  test('removes what its feed wrote, and nothing that another feed still says', async () => {
    const world = await openUpsertWorld();
    await load(world, 'crm', { customFields: { seats: 4 } });
    const shop = await load(world, 'shop', { customFields: { seats: null } });
    expect(shop.requests.patch).toBe(0);
    expect(seatsOf(await world.contactOf('crm-1'))).toBe(4);
    const crm = await load(world, 'crm', { customFields: { seats: null } });
    expect(crm.counts).toMatchObject({ updated: 1 });
    expect(seatsOf(await world.contactOf('crm-1'))).toBeNull();
    await world.expectSound();
  });

  test('leaves what people entered', async () => {
    const world = await openUpsertWorld();
    const fields = { externalId: 'crm-1', defaultFields: { firstName: 'Ann' } };
    await world.byHand('POST', '/v1/contacts', { ...fields, customFields: [{ key: 'seats', value: 7 }] });
    await load(world, 'crm', { customFields: { seats: null } });
    expect(seatsOf(await world.contactOf('crm-1'))).toBe(7);
    await world.expectSound();
  });
});

describe('who owns nothing', () => {
  test('main gives a number up once a named feed names it: it leaves with that feed, though main still says it', async () => {
    const world = await openUpsertWorld();
    await load(world, 'main', { phones: { mobile: [phone(1)] } });
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    const left = await load(world, 'crm', { phones: { mobile: [] } });
    expect(left.counts).toMatchObject({ removedValues: 1 });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await world.expectSound();
  });

  test('a feed that is gone keeps no number on the contact, and none from being added again', async () => {
    const world = await openUpsertWorld({ limits: { ownsItems: (feed) => feed !== 'old' } });
    await load(world, 'old', { phones: { mobile: [phone(1)] } });
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    await load(world, 'crm', { phones: { mobile: [] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
    await world.expectSound();
  });

  test('a feed that is gone keeps no number from being added again whose removal had no answer', async () => {
    const world = await openUpsertWorld({ limits: { ownsItems: (feed) => feed !== 'old' } });
    await load(world, 'old', { phones: { mobile: [phone(1)] } });
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    await world.faults('update:dropAfter');
    const run = await world.stage([wanted('crm-1', { phones: { mobile: [] } })], { feed: 'crm' });
    expect(await world.workOnce(run)).toEqual(['deferred']);
    await world.faults();
    await world.finish(run);
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
    await world.expectSound();
  });

  test('a feed that is away adds the value of a custom field again that another cleared, also where that had no answer', async () => {
    let isAway = false;
    const world = await openUpsertWorld({ limits: { ownsItems: (feed) => feed !== 'shop' || !isAway } });
    const three = { customFields: { seats: 3 } };
    await load(world, 'shop', three);
    await load(world, 'crm', three);
    isAway = true;
    await world.faults('update:dropAfter');
    const run = await world.stage([wanted('crm-1', { customFields: { seats: null } })], { feed: 'crm' });
    expect(await world.workOnce(run)).toEqual(['deferred']);
    await world.faults();
    await world.finish(run);
    expect(seatsOf(await world.contactOf('crm-1'))).toBeNull();
    isAway = false;
    await load(world, 'shop', three);
    expect(seatsOf(await world.contactOf('crm-1'))).toBe(3);
    await world.expectSound();
  });

  test('a feed that was away during a run that left its number alone owns it again', async () => {
    let isAway = false;
    const world = await openUpsertWorld({ limits: { ownsItems: (feed) => feed !== 'shop' || !isAway } });
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    await load(world, 'shop', { phones: { desk: [phone(1)] } });
    isAway = true;
    await load(world, 'crm', { role: 'Buyer', phones: { mobile: [phone(1)] } });
    isAway = false;
    await load(world, 'crm', { role: 'Buyer', phones: { mobile: [] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([phone(1)]);
    await load(world, 'shop', { phones: { desk: [] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await world.expectSound();
  });

  test('a feed that was away while people and another feed let go of its number does not put it back', async () => {
    let isAway = false;
    const world = await openUpsertWorld({ limits: { ownsItems: (feed) => feed !== 'shop' || !isAway } });
    await load(world, 'crm', { phones: { mobile: [phone(1)] } });
    await load(world, 'shop', { phones: { desk: [phone(1)] } });
    const { id, defaultFields } = await world.contactOf('crm-1');
    const phoneNumbers = defaultFields.phoneNumbers.map((item) => ({ ...item, value: null }));
    await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, phoneNumbers } });
    isAway = true;
    await load(world, 'crm', { phones: { mobile: [] } });
    isAway = false;
    await load(world, 'shop', { role: 'Buyer', phones: { desk: [phone(1)] } });
    expect(phonesOf(await world.contactOf('crm-1'))).toEqual([]);
    await world.expectSound();
  });
});
