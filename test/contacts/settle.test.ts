import { expect, test } from 'vitest';
import { agreedValue, type Base, type PlanInput, type Said, stamp } from '#src/contacts/base.ts';
import { planContact } from '#src/contacts/plan.ts';
import { type Settled, settle } from '#src/contacts/settle.ts';
import type { Contact } from '#src/wire/contact.ts';
import { base, contact, desired, input, owned, said, slot } from './support/build.ts';

const mobile = '+14155550100';
const office = '+14155550101';

function settled(parts: Partial<PlanInput>, reply?: Contact): Settled {
  const whole = input(parts);
  const after = reply ?? whole.theirs;
  if (after === null) throw new Error('a create needs a reply');
  return settle({ ...whole, plan: planContact(whole), reply: after });
}

test('said moves for what was written, for what was kept and for what was found equal', () => {
  const after = settled(
    {
      base: base({
        said: said({ scalars: { firstName: 'Ann', role: 'Clerk' } }),
        seen: contact({ scalars: { firstName: 'Ann', role: 'Clerk' } }),
      }),
      theirs: contact({ scalars: { firstName: 'Anna', role: 'Clerk', company: 'Example Ltd' } }),
      ours: desired({ scalars: { firstName: 'Ann', role: 'Buyer', company: 'Example Ltd' } }),
    },
    contact({ scalars: { firstName: 'Anna', role: 'Buyer', company: 'Example Ltd' } }),
  );
  expect(after.said).toMatchObject({
    scalars: { firstName: 'Ann', role: 'Buyer', company: 'Example Ltd' },
    held: [],
  });
  expect(after.seen?.defaultFields).toMatchObject({ firstName: 'Anna', role: 'Buyer' });
});

test('a held field keeps its old said value, and what file and app agreed on, and is listed', () => {
  const after = settled({
    base: base({
      said: said({ scalars: { role: 'Clerk' }, customFields: [{ key: 'tier', value: 'tin' }] }),
      seen: contact({ scalars: { role: 'Clerk' }, customFields: [['tier', 'tin']] }),
    }),
    theirs: contact({ scalars: { role: 'Chief' }, customFields: [['tier', 'iron']] }),
    ours: desired({ scalars: { role: 'Buyer' }, customFields: [{ key: 'tier', value: 'gold' }] }),
  });
  expect(after.said).toMatchObject({
    scalars: { role: 'Clerk' },
    customFields: [{ key: 'tier', value: 'tin' }],
    held: ['role', 'custom.tier'],
  });
  expect(agreedValue(after.agreed, 'crm', 'role')).toBe('Clerk');
  expect(agreedValue(after.agreed, 'crm', 'custom.tier')).toBe('tin');
});

test('a held field that the file never said before stays absent from said', () => {
  const after = settled({
    base: base({ said: said(), seen: contact({ scalars: { sourceUrl: 'https://crm.example.com/1' } }) }),
    theirs: contact({ scalars: { sourceUrl: 'https://crm.example.com/2' } }),
    ours: desired({ scalars: { sourceUrl: 'https://crm.example.com/3' } }),
  });
  expect(after.said).toMatchObject({ scalars: {}, held: ['sourceUrl'] });
  expect(agreedValue(after.agreed, 'crm', 'sourceUrl')).toBe('https://crm.example.com/1');
});

test('a held field that today’s file is silent about stays held', () => {
  const before = base({
    said: said({ scalars: { role: 'Clerk' }, held: ['role'] }),
    seen: contact({ scalars: { role: 'Clerk' } }),
  });
  const theirs = contact({ scalars: { role: 'Chief' } });
  const after = settled({ base: before, theirs, ours: desired() });
  expect(after.said?.held).toEqual(['role']);
  const next = planContact(input({ base: after, theirs, ours: desired({ scalars: { role: 'Buyer' } }) }));
  expect(next.kind).toBe('hold');
});

test('a hold that was settled leaves the list, and file and app agree again', () => {
  const after = settled({
    base: base({
      said: said({ scalars: { role: 'Clerk' }, held: ['role'] }),
      seen: contact({ scalars: { role: 'Clerk' } }),
    }),
    theirs: contact({ scalars: { role: 'Buyer' } }),
    ours: desired({ scalars: { role: 'Buyer' } }),
  });
  expect(after.said).toMatchObject({ scalars: { role: 'Buyer' }, held: [] });
  expect(agreedValue(after.agreed, 'crm', 'role')).toBe('Buyer');
});

test('what the file does not name keeps what was said of it', () => {
  const phones = [slot('phone', ['mobile', mobile])];
  const before = said({ scalars: { role: 'Clerk' }, phones, customFields: [{ key: 'tier', value: 'tin' }] });
  const after = settled({ base: base({ said: before }), ours: desired({ scalars: { firstName: null } }) });
  expect(after.said).toEqual({ ...before, scalars: { role: 'Clerk', firstName: null } });
});

test('a column that speaks replaces what it said, a silent one keeps it', () => {
  const before = said({ phones: [slot('mobile', ['mobile', mobile]), slot('work', ['work', office])] });
  const after = settled({ base: base({ said: before }), ours: desired({ phones: [slot('work')] }) });
  expect(after.said?.phones).toEqual([slot('mobile', ['mobile', mobile]), slot('work')]);
});

test('an item that people removed stays said, so that it is not put back later', () => {
  const phones = [slot('phone', ['mobile', mobile])];
  const after = settled({
    base: base({ said: said({ phones }), owned: owned('phones', mobile) }),
    theirs: contact(),
    ours: desired({ phones }),
  });
  expect(after.said?.phones).toEqual(phones);
  expect(planContact(input({ base: after, theirs: contact(), ours: desired({ phones }) })).kind).toBe('noop');
});

test('items and custom fields that the plan wrote are our own, those found there are nobody’s', () => {
  const after = settled(
    {
      theirs: contact({ phones: [['mobile', mobile]], customFields: [['tier', 'gold']] }),
      ours: desired({
        phones: [slot('phones', ['mobile', mobile], ['work', office])],
        customFields: [
          { key: 'tier', value: 'gold' },
          { key: 'since', value: '2026' },
        ],
      }),
    },
    contact({
      phones: [
        ['mobile', mobile],
        ['work', '+1 415 555 0101'],
      ],
      customFields: [
        ['tier', 'gold'],
        ['since', '2026'],
      ],
    }),
  );
  expect(after.owned).toEqual({
    emails: [],
    phones: [office],
    customFields: [{ key: 'since', value: '2026' }],
  });
});

test('what was removed or is no longer on the service belongs to nobody', () => {
  const after = settled(
    {
      base: base({
        said: said({ phones: [slot('phone', ['mobile', mobile])] }),
        owned: {
          emails: ['ann@example.com'],
          phones: [mobile],
          customFields: [{ key: 'tier', value: 'gold' }],
        },
      }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('phone')] }),
    },
    contact(),
  );
  expect(after.owned).toEqual({ emails: [], phones: [], customFields: [] });
});

test('an item that another feed wrote is ours for both feeds that name it', () => {
  const phones = [slot('phone', ['mobile', mobile])];
  const after = settled({
    base: base({
      owned: owned('phones', mobile),
      others: [{ feed: 'shop', said: said({ phones }), owns: true, exists: true }],
    }),
    theirs: contact({ phones: [['mobile', mobile]] }),
    ours: desired({ phones }),
  });
  expect(after.owned).toEqual(owned('phones', mobile));
  expect(after.others).toEqual([]);
});

test('main gives up what a named feed names', () => {
  const phones = [slot('phone', ['mobile', mobile])];
  const after = settled({
    base: base({ others: [{ feed: 'main', said: said({ phones }), owns: false, exists: true }] }),
    theirs: contact({ phones: [['mobile', mobile]] }),
    ours: desired({ phones }),
  });
  expect(after.others).toMatchObject([{ feed: 'main', said: { phones: [slot('phone')] } }]);
});

const gone = (phones: Said['phones']): Base['others'] => [
  { feed: 'old', said: said({ phones }), owns: false, exists: false },
];

test('a feed that is gone and may come back keeps what it said while another names it', () => {
  const phones = [slot('phone', ['mobile', mobile])];
  const pictures = { theirs: contact({ phones: [['mobile', mobile]] }), ours: desired({ phones }) };
  expect(settled({ base: base({ others: gone(phones) }), ...pictures }).others).toEqual([]);
  const before = base({ said: said({ phones }), owned: owned('phones', mobile), others: gone(phones) });
  expect(settled({ base: before, ...pictures }).others).toEqual([]);
});

test('a feed that is gone gives up what another has dropped and removed: a file may add it again', () => {
  const before = base({
    said: said({ phones: [slot('phone', ['mobile', mobile])] }),
    owned: owned('phones', mobile),
    others: gone([slot('telefon', ['work', mobile], ['work', office])]),
  });
  const there = contact({ phones: [['mobile', mobile]] });
  const after = settled({ base: before, theirs: there, ours: desired({ phones: [slot('phone')] }) }, contact());
  expect(after.others).toMatchObject([{ feed: 'old', said: { phones: [slot('telefon', ['work', office])] } }]);
});

test('a feed that is gone gives up nothing that people have removed, although another has dropped it: it must not be added again', () => {
  const before = base({
    said: said({ phones: [slot('phone', ['mobile', mobile])] }),
    owned: owned('phones', mobile),
    others: gone([slot('telefon', ['work', mobile])]),
  });
  const after = settled({ base: before, theirs: contact(), ours: desired({ phones: [slot('phone')] }) });
  expect(after.others).toEqual([]);
});

test('a feed that is gone gives up the entry of a custom field that another has cleared, and no other entry', () => {
  const gold = [{ key: 'tier', value: 'gold' }];
  const seats = { key: 'seats', value: 3 };
  const before = base({
    said: said({ customFields: gold }),
    agreed: [{ feed: null, values: [{ field: 'custom.tier', value: 'gold' }] }],
    owned: { emails: [], phones: [], customFields: gold },
    others: [
      { feed: 'old', said: said({ customFields: [...gold, seats] }), owns: false, exists: false },
      { feed: 'older', said: said({ customFields: [{ key: 'tier', value: 'tin' }] }), owns: false, exists: false },
    ],
  });
  const there = contact({ customFields: [['tier', 'gold']] });
  const pictures = { base: before, theirs: there, ours: desired({ customFields: [{ key: 'tier', value: null }] }) };
  expect(settled(pictures, contact()).others).toMatchObject([{ feed: 'old', said: { customFields: [seats] } }]);
  // What is still there was not removed.
  expect(settled(pictures, there).others).toEqual([]);
});

test('main does not take what a named feed names', () => {
  const phones = [slot('phone', ['mobile', mobile], ['work', office])];
  const after = settled({
    feed: 'main',
    yieldsItems: true,
    base: base({
      others: [{ feed: 'crm', said: said({ phones: [slot('phone', ['m', mobile])] }), owns: true, exists: true }],
    }),
    theirs: contact({ phones: [['mobile', mobile]] }),
    ours: desired({ phones }),
  });
  expect(after.said.phones).toEqual([slot('phone', ['work', office])]);
});

test('the ids of custom fields that the reply to a patch lacks are those of the read', () => {
  const reply = contact({ scalars: { role: 'Buyer' }, customFields: [['tier', 'gold']] });
  const after = settled(
    { theirs: contact({ customFields: [['tier', 'gold']] }), ours: desired({ scalars: { role: 'Buyer' } }) },
    { ...reply, customFields: reply.customFields.map((field) => ({ ...field, id: null })) },
  );
  expect(after.seen?.customFields).toMatchObject([{ id: 'f-tier', key: 'tier', value: 'gold' }]);
});

test('a contact that is made anew starts with what its create said', () => {
  const after = settled(
    {
      base: base({ said: said({ scalars: { role: 'Clerk' }, phones: [slot('phone', ['mobile', mobile])] }) }),
      theirs: null,
      ours: desired({ scalars: { firstName: 'Ann' } }),
    },
    contact({ scalars: { firstName: 'Ann' } }),
  );
  expect(after.said).toEqual(said({ scalars: { firstName: 'Ann' } }));
});

test('a field is stamped with the feed and the run whose change settled it last, and an older change stamps nothing', () => {
  const ours = desired({ scalars: { role: 'Buyer', company: 'Example Ltd' } });
  const after = settled({ theirs: null, ours }, contact({ scalars: { role: 'Buyer', company: 'Example Ltd' } }));
  expect(after.stamps).toEqual([{ feed: 'crm', sequence: 10, fields: ['company', 'role'] }]);
  expect(stamp(after.stamps, { feed: 'shop', sequence: 9 }, ['role'])).toEqual(after.stamps);
  expect(stamp(after.stamps, { feed: 'shop', sequence: 11 }, ['role'])).toEqual([
    { feed: 'crm', sequence: 10, fields: ['company'] },
    { feed: 'shop', sequence: 11, fields: ['role'] },
  ]);
});
