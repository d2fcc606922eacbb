import { expect, test } from 'vitest';
import { emptyBase } from '#src/contacts/base.ts';
import { planContact } from '#src/contacts/plan.ts';
import { base, contact, desired, input, said } from './support/build.ts';

const theirs = contact({
  scalars: { firstName: 'Ann', company: 'Example Ltd', sourceUrl: 'https://crm.example.com/1' },
  emails: [['work', 'ann@example.com']],
  customFields: [
    ['tier', 'gold'],
    ['note', null],
    ['score', 7, 'number'],
  ],
});

/** What an import wrote. */
const owned = { ...emptyBase.owned, customFields: [{ key: 'tier', value: 'gold' }] };

test('a patch says all that the contact will hold, and leaves out what is null and stays null', () => {
  const plan = planContact(
    input({ base: base({ seen: theirs, owned }), theirs, ours: desired({ scalars: { company: 'New Ltd' } }) }),
  );
  expect(plan.body).toEqual({
    defaultFields: {
      firstName: 'Ann',
      company: 'New Ltd',
      emails: [{ id: 'e1', name: 'work', value: 'ann@example.com' }],
      phoneNumbers: [],
    },
    customFields: [
      { id: 'f-tier', key: 'tier', value: 'gold' },
      { id: 'f-score', key: 'score', value: 7 },
    ],
  });
});

test('a custom field is cleared by null under its id, and a new one has none', () => {
  const ours = desired({
    customFields: [
      { key: 'tier', value: null },
      { key: 'since', value: '2026-03-01' },
    ],
  });
  const plan = planContact(input({ base: base({ seen: theirs, owned }), theirs, ours }));
  expect(plan).toMatchObject({
    kind: 'patch',
    body: {
      customFields: [
        { id: 'f-tier', key: 'tier', value: null },
        { id: 'f-score', key: 'score', value: 7 },
        { key: 'since', value: '2026-03-01' },
      ],
    },
    clears: 1,
  });
});

test('sourceUrl travels beside defaultFields, and only when it is written', () => {
  const url = 'https://crm.example.com/2';
  expect(
    planContact(input({ base: base({ seen: theirs, owned }), theirs, ours: desired({ scalars: { sourceUrl: url } }) }))
      .body,
  ).toHaveProperty('sourceUrl', url);
  expect(
    planContact(input({ base: base({ seen: theirs, owned }), theirs, ours: desired({ scalars: { sourceUrl: null } }) }))
      .body,
  ).toHaveProperty('sourceUrl', null);
  expect(
    planContact(input({ base: base({ seen: theirs, owned }), theirs, ours: desired({ scalars: { role: 'Buyer' } }) }))
      .body,
  ).not.toHaveProperty('sourceUrl');
});

test('a patch never carries externalId or source', () => {
  const body = planContact(
    input({
      base: base({ seen: theirs, owned }),
      theirs,
      ours: desired({ source: 'fair', scalars: { role: 'Buyer' } }),
    }),
  ).body;
  expect(body).not.toHaveProperty('externalId');
  expect(body).not.toHaveProperty('source');
});

test('what the reply must hold is the contact as it will be', () => {
  const plan = planContact(
    input({
      base: base({ seen: theirs, owned }),
      theirs,
      ours: desired({ scalars: { company: null }, customFields: [{ key: 'tier', value: null }] }),
    }),
  );
  expect(plan.expected).toEqual({
    externalId: 'K-1',
    source: null,
    scalars: { firstName: 'Ann', lastName: null, company: null, role: null, sourceUrl: 'https://crm.example.com/1' },
    emails: [{ label: 'work', value: 'ann@example.com' }],
    phones: [],
    customFields: [{ key: 'score', type: 'number', value: 7 }],
  });
  expect(plan.clears).toBe(2);
});

test('when nothing differs there is no body', () => {
  const ours = desired({
    scalars: { firstName: 'Ann', company: 'Example Ltd' },
    customFields: [{ key: 'tier', value: 'gold' }],
  });
  expect(planContact(input({ base: base({ seen: theirs, owned }), theirs, ours }))).toMatchObject({
    kind: 'noop',
    body: null,
    expected: null,
    reasons: [],
  });
});

test('a plan survives JSON unchanged', () => {
  const plan = planContact(
    input({
      theirs,
      base: base({ said: said(), seen: contact() }),
      ours: desired({ scalars: { firstName: 'Bea', role: 'Buyer' } }),
    }),
  );
  expect(plan.held).toHaveLength(1);
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
});

test('a custom field that a service lists twice is written once, and the other is kept', () => {
  const twice = contact({
    customFields: [
      ['tier', 'tin'],
      ['tier', 'iron'],
    ],
  });
  expect(
    planContact(
      input({
        base: base({ seen: twice }),
        theirs: twice,
        ours: desired({ customFields: [{ key: 'tier', value: 'gold' }] }),
      }),
    ),
  ).toMatchObject({
    body: { customFields: [{ value: 'gold' }, { value: 'iron' }] },
  });
});
