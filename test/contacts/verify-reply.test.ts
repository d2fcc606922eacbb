import { expect, test } from 'vitest';
import type { ExpectedContact } from '#src/contacts/plan.ts';
import { verifyReply } from '#src/contacts/reply.ts';
import { type ContactText, contact } from './support/build.ts';

const text: ContactText = {
  scalars: { firstName: 'Ann', company: 'Example Ltd' },
  emails: [['work', 'ann@example.com']],
  phones: [
    ['mobile', '+14155550100'],
    ['work', '+14155550101'],
  ],
  customFields: [['tags', ['a', 'b'], 'multi-select']],
};

const expected: ExpectedContact = {
  externalId: 'K-1',
  source: null,
  scalars: { firstName: 'Ann', lastName: null, company: 'Example Ltd', role: null, sourceUrl: null },
  emails: [{ label: 'work', value: 'ann@example.com' }],
  phones: [
    { label: 'work', value: '+14155550101' },
    { label: 'mobile', value: '+14155550100' },
  ],
  customFields: [{ key: 'tags', type: 'multi-select', value: ['b', 'a'] }],
};

test('a reply that holds what was wanted matches, whatever its order and item ids', () => {
  expect(verifyReply(expected, contact(text))).toEqual({ matches: true, differences: [], warnings: [] });
});

test('a difference of case or spaces is a warning only', () => {
  const reply = contact({
    ...text,
    scalars: { firstName: 'ANN', company: ' Example  Ltd' },
    emails: [['Work', 'Ann@Example.com']],
    phones: [
      ['mobile', '+1 415 555 0100'],
      ['work', '+14155550101'],
    ],
    customFields: [['tags', ['A', 'b '], 'multi-select']],
  });
  const verdict = verifyReply(expected, reply);
  expect(verdict).toMatchObject({ matches: true, differences: [] });
  expect(verdict.warnings.map(({ field }) => field)).toEqual([
    'firstName',
    'company',
    'email.ann@example.com',
    'email.ann@example.com.label',
    'phone.+14155550100',
    'custom.tags',
  ]);
});

test.each<[string, ContactText, string, unknown, unknown]>([
  ['a scalar with another value', { scalars: { firstName: 'Bea', company: 'Example Ltd' } }, 'firstName', 'Ann', 'Bea'],
  ['a scalar that was lost', { scalars: { firstName: 'Ann' } }, 'company', 'Example Ltd', null],
  [
    'a scalar that should be empty',
    { scalars: { firstName: 'Ann', company: 'Example Ltd', role: 'Clerk' } },
    'role',
    null,
    'Clerk',
  ],
  ['an item that was lost', { emails: [] }, 'email.ann@example.com', 'ann@example.com', null],
  [
    'an item that should be gone',
    { emails: [...(text.emails ?? []), ['home', 'old@example.com']] },
    'email.old@example.com',
    null,
    'old@example.com',
  ],
  [
    'an item that came twice',
    { emails: [...(text.emails ?? []), ['work', 'ann@example.com']] },
    'email.ann@example.com',
    null,
    'ann@example.com',
  ],
  [
    'a label with another text',
    { emails: [['home', 'ann@example.com']] },
    'email.ann@example.com.label',
    'work',
    'home',
  ],
  ['a custom field that was lost', { customFields: [] }, 'custom.tags', ['b', 'a'], null],
  [
    'a custom field that nobody wanted',
    { customFields: [...(text.customFields ?? []), ['tier', 'gold']] },
    'custom.tier',
    null,
    'gold',
  ],
  ['another key', { externalId: 'k-1' }, 'externalId', 'K-1', 'k-1'],
])('a reply with %s does not match', (_case, change, field, wanted, got) => {
  expect(verifyReply(expected, contact({ ...text, ...change }))).toMatchObject({
    matches: false,
    differences: [{ field, expected: wanted, got }],
  });
});

test('a custom field that is null equals one that is absent', () => {
  const customFields = [...(text.customFields ?? []), ['tier', null] as const];
  expect(verifyReply(expected, contact({ ...text, customFields })).matches).toBe(true);
});

test('a reply without an externalId matches, with a warning', () => {
  expect(verifyReply(expected, contact({ ...text, externalId: null }))).toMatchObject({
    matches: true,
    warnings: [{ field: 'externalId', code: 'replyDiffers', message: 'the reply does not carry it' }],
  });
});

test('the source is compared after a create, which writes it, and not after an update', () => {
  expect(verifyReply({ ...expected, source: 'fair' }, contact(text)).differences).toEqual([
    { field: 'source', expected: 'fair', got: 'crm' },
  ]);
});

test('items of one value are told apart by their labels, in any order', () => {
  const twice: ContactText = {
    ...text,
    emails: [
      ['home', 'ann@example.com'],
      ['work', 'Ann@example.com'],
    ],
  };
  const emails = [
    { label: 'work', value: 'Ann@example.com' },
    { label: 'home', value: 'ann@example.com' },
  ];
  expect(verifyReply({ ...expected, emails }, contact(twice))).toEqual({
    matches: true,
    differences: [],
    warnings: [],
  });
});
