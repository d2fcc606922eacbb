/** Policies against the real service, with edits made by hand between runs, under both readings of PATCH. */
import { describe, expect, test } from 'vitest';
import type { FieldPolicy, ItemPolicy } from '#src/contacts/policies.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import { phone, type WantedContact, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

function mappingWith(policy: FieldPolicy, items: ItemPolicy = 'owned'): Mapping {
  const custom = ['seats', 'newsletter'];
  return mappingSchema.parse({
    name: 'crm',
    key: 'id',
    items,
    fields: { company: { column: 'company', policy }, role: { column: 'role', policy } },
    emails: [{ column: 'work' }],
    phones: [{ column: 'mobile' }],
    customFields: custom.map((key) => ({ column: key, key, policy })),
  });
}

const first: WantedContact = { company: 'Elm', role: 'Clerk', customFields: { seats: 5, newsletter: true } };
const second: WantedContact = { company: 'Fir', role: 'Buyer', customFields: { seats: 7, newsletter: false } };
const byHand = { company: 'Oak', role: null, seats: 9, newsletter: true };

interface Fields {
  readonly company: string | null;
  readonly role: string | null;
  readonly seats: CustomFieldValue;
  readonly newsletter: CustomFieldValue;
}

const fieldsOf = ({ defaultFields, customFields }: Contact): Fields => ({
  company: defaultFields.company,
  role: defaultFields.role,
  seats: customFields.find(({ key }) => key === 'seats')?.value ?? null,
  newsletter: customFields.find(({ key }) => key === 'newsletter')?.value ?? null,
});

async function editFields(world: UpsertWorld): Promise<void> {
  const { id, defaultFields, customFields } = await world.contactOf('crm-1');
  await world.byHand('PATCH', `/v1/contacts/${id}`, {
    defaultFields: { ...defaultFields, company: byHand.company, role: byHand.role },
    customFields: customFields.map(({ key, value }) => ({ key, value: key === 'seats' ? byHand.seats : value })),
  });
}

const phonesOf = ({ defaultFields }: Contact) => defaultFields.phoneNumbers.map(({ value }) => value).toSorted();
const emailsOf = ({ defaultFields }: Contact) => defaultFields.emails.map(({ value }) => value).toSorted();

describe.each(['merge', 'replace'] as const)('a service that reads PATCH as %s', (patchMode) => {
  test.each<[FieldPolicy, Fields, Fields, number]>([
    // The file repeats itself after people edited; then it says something new.
    ['shared', byHand, byHand, 3],
    [
      'source',
      { company: 'Elm', role: 'Clerk', seats: 5, newsletter: true },
      { company: 'Fir', role: 'Buyer', seats: 7, newsletter: false },
      0,
    ],
    ['fill', byHand, { ...byHand, role: 'Buyer' }, 0],
    ['seed', byHand, byHand, 0],
    ['app', byHand, { ...byHand, newsletter: false }, 0],
  ])('with policy %s each kind of field is as its table says', async (policy, repeated, changed, heldFields) => {
    const world = await openUpsertWorld({ patchMode });
    const options = { feed: 'crm', mapping: mappingWith(policy) };
    await world.load([wanted('crm-1', first)], options);
    await editFields(world);
    // Another first name, so that the row is planned.
    await world.load(
      [{ ...wanted('crm-1', first), scalars: { ...wanted('crm-1', first).scalars, firstName: 'Bea' } }],
      options,
    );
    expect(fieldsOf(await world.contactOf('crm-1'))).toEqual(repeated);
    const run = await world.load([wanted('crm-1', second)], options);
    const expected = policy === 'shared' ? { ...changed, newsletter: false } : changed;
    expect(fieldsOf(await world.contactOf('crm-1'))).toEqual(expected);
    expect(run.counts).toMatchObject({ updated: 1, dead: 0, heldFields });
    // The same file once more has nothing to do.
    const again = await world.load([wanted('crm-1', second)], options);
    expect(again.counts).toMatchObject({ unchanged: 1, updated: 0, heldFields });
    await world.expectSound();
  });

  test.each<[ItemPolicy, readonly string[], readonly string[]]>([
    ['owned', [phone(1), phone(9)], ['hand@example.com']],
    ['all', [phone(1)], []],
    ['none', [phone(1), phone(2), phone(9)], ['hand@example.com', 'old@example.com']],
  ])('with policy %s lists lose what their file no longer names', async (items, phones, emails) => {
    const world = await openUpsertWorld({ patchMode });
    const options = { feed: 'crm', mapping: mappingWith('shared', items) };
    const full = { phones: { mobile: [phone(1), phone(2)] }, emails: { work: ['old@example.com'] } };
    await world.load([wanted('crm-1', full)], options);
    const { id, defaultFields } = await world.contactOf('crm-1');
    await world.byHand('PATCH', `/v1/contacts/${id}`, {
      defaultFields: {
        ...defaultFields,
        phoneNumbers: [...defaultFields.phoneNumbers, { name: 'by hand', value: phone(9) }],
        emails: [...defaultFields.emails, { name: 'by hand', value: 'hand@example.com' }],
      },
    });
    const less = { phones: { mobile: [phone(1)] }, emails: { work: [] } };
    const run = await world.load([wanted('crm-1', less)], options);
    expect(run.counts).toMatchObject({ updated: items === 'none' ? 0 : 1, dead: 0 });
    const after = await world.contactOf('crm-1');
    expect(phonesOf(after)).toEqual([...phones].toSorted());
    expect(emailsOf(after)).toEqual(emails);
    await world.expectSound();
  });
});

test('a field of policy fill that people emptied stays empty, though it never held what the file says', async () => {
  const world = await openUpsertWorld();
  const options = { feed: 'crm', mapping: mappingWith('fill') };
  await world.byHand('POST', '/v1/contacts', {
    externalId: 'crm-1',
    defaultFields: { firstName: 'Ann', role: 'Boss' },
  });
  const row = wanted('crm-1', { role: 'Seller' });
  await world.load([row], options);
  expect(await world.contactOf('crm-1')).toMatchObject({ defaultFields: { role: 'Boss' } });
  const { id, defaultFields } = await world.contactOf('crm-1');
  await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: null } });
  const another = await world.load([wanted('crm-1', { role: 'Seller', company: 'Fir' })], options);
  expect(another.counts).toMatchObject({ updated: 1 });
  expect(await world.contactOf('crm-1')).toMatchObject({ defaultFields: { role: null, company: 'Fir' } });
  await world.load([wanted('crm-1', { role: 'Buyer', company: 'Fir' })], options);
  expect(await world.contactOf('crm-1')).toMatchObject({ defaultFields: { role: 'Buyer' } });
});

test('a decision of a person about a held field is carried out, though the mapping now says otherwise', async () => {
  const world = await openUpsertWorld();
  await world.load([wanted('crm-1', first)], { feed: 'crm', mapping: mappingWith('shared') });
  await editFields(world);
  const held = await world.load([wanted('crm-1', second)], { feed: 'crm', mapping: mappingWith('shared') });
  expect(held.counts.heldFields).toBe(3);
  // The same row under policy source: a person is asked no more.
  const run = await world.load([wanted('crm-1', second)], { feed: 'crm', mapping: mappingWith('source') });
  expect(run.counts).toMatchObject({ updated: 1, heldFields: 0 });
  expect(fieldsOf(await world.contactOf('crm-1'))).toMatchObject({ company: 'Fir', role: 'Buyer', seats: 7 });
  expect(await world.ledger.contacts.heldCount({ feed: 'crm' })).toBe(0);
});
