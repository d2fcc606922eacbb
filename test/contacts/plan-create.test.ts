import { expect, test } from 'vitest';
import { planContact } from '#src/contacts/plan.ts';
import { base, desired, input, said, slot } from './support/build.ts';

const create = (parts: Parameters<typeof desired>[0], sourceLabel: string | null = 'CRM export') => {
  const plan = planContact(input({ theirs: null, ours: desired(parts), sourceLabel }));
  if (plan.kind !== 'create') throw new Error(`expected a create, got ${plan.kind}`);
  return plan;
};

test('a key that the service does not hold is created with all that the file says', () => {
  const plan = create({
    scalars: { firstName: 'Ann', lastName: 'Example', sourceUrl: 'https://crm.example.com/1' },
    emails: [slot('e-mail', ['work', 'ann@example.com'])],
    phones: [slot('phone', ['mobile', '+14155550100'])],
    customFields: [{ key: 'tier', value: 'gold' }],
  });
  expect(plan.body).toEqual({
    externalId: 'K-1',
    source: 'CRM export',
    sourceUrl: 'https://crm.example.com/1',
    defaultFields: {
      firstName: 'Ann',
      lastName: 'Example',
      emails: [{ name: 'work', value: 'ann@example.com' }],
      phoneNumbers: [{ name: 'mobile', value: '+14155550100' }],
    },
    customFields: [{ key: 'tier', value: 'gold' }],
  });
  expect(plan.reasons.map((change) => [change.field, change.why])).toEqual([
    ['firstName', 'added'],
    ['lastName', 'added'],
    ['sourceUrl', 'added'],
    ['email.ann@example.com', 'added'],
    ['phone.+14155550100', 'added'],
    ['custom.tier', 'added'],
  ]);
  expect(plan).toMatchObject({ clears: 0, removals: 0, held: [] });
});

test('the key firstName is always in the body of a create, be it null', () => {
  expect(create({}).body.defaultFields).toEqual({ firstName: null });
  expect(create({ scalars: { firstName: null } }).body.defaultFields).toEqual({ firstName: null });
});

test('what the file wants gone is left out of a create', () => {
  const { body } = create({
    scalars: { lastName: null, company: null, role: null, sourceUrl: null },
    emails: [slot('e-mail')],
    customFields: [{ key: 'tier', value: null }],
  });
  expect(body).toEqual({ externalId: 'K-1', source: 'CRM export', defaultFields: { firstName: null } });
});

test('a row that names its source is created with it, any other with the label of its feed', () => {
  expect(create({ source: 'fair 2026' }).body.source).toBe('fair 2026');
  expect(create({}).body.source).toBe('CRM export');
  expect(create({}, null).body).not.toHaveProperty('source');
});

test('a value that stands in two columns is created once, with the first label', () => {
  const { body } = create({
    phones: [slot('mobile', ['mobile', '+14155550100']), slot('work', ['work', '+14155550100'])],
  });
  expect(body.defaultFields.phoneNumbers).toEqual([{ name: 'mobile', value: '+14155550100' }]);
});

test('a contact that is made anew does not suffer from what was said about the one that is gone', () => {
  const phones = [slot('phone', ['mobile', '+14155550100'])];
  const plan = planContact(input({ theirs: null, base: base({ said: said({ phones }) }), ours: desired({ phones }) }));
  expect(plan).toMatchObject({
    kind: 'create',
    body: { defaultFields: { phoneNumbers: [{ value: '+14155550100' }] } },
  });
});
