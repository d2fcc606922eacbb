import { expect, test } from 'vitest';
import { type Plan, planContact } from '#src/contacts/plan.ts';
import { base, contact, desired, input, owned, said, slot } from './support/build.ts';

const mobile = '+14155550100';
const office = '+14155550101';

function phones(plan: Plan) {
  return plan.kind === 'patch' ? plan.body.defaultFields.phoneNumbers : plan.kind;
}

/** One field that differs, so that a body exists to look at. */
const touch = { scalars: { role: 'Buyer' } };

test('an item that the file wants and the service holds is kept under its id', () => {
  const plan = planContact(
    input({
      theirs: contact({ phones: [['mobile', mobile, 'p7']] }),
      ours: desired({ ...touch, phones: [slot('phone', ['mobile', mobile])] }),
    }),
  );
  expect(phones(plan)).toEqual([{ id: 'p7', name: 'mobile', value: mobile }]);
});

test('an item that the file newly wants and the service does not hold is added without an id', () => {
  const plan = planContact(
    input({
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('phone', ['work', office])] }),
    }),
  );
  expect(phones(plan)).toEqual([
    { id: 'p1', name: 'mobile', value: mobile },
    { name: 'work', value: office },
  ]);
  expect(plan.reasons).toEqual([{ field: `phone.${office}`, from: null, to: office, why: 'added' }]);
  expect(plan.written.phones).toEqual([office]);
});

test('an item that was said before and that people removed is not put back', () => {
  const before = [slot('phone', ['mobile', mobile])];
  const pictures = {
    base: base({ said: said({ phones: before }), owned: owned('phones', mobile) }),
    theirs: contact(),
  };
  expect(planContact(input({ ...pictures, ours: desired({ phones: before }) })).kind).toBe('noop');
  // Nor when it moves to another column.
  const moved = [slot('phone'), slot('second phone', ['work', mobile])];
  expect(planContact(input({ ...pictures, ours: desired({ phones: moved }) })).kind).toBe('noop');
});

test('an item of this feed that its column no longer says is removed by null under its id', () => {
  const pictures = {
    base: base({ said: said({ phones: [slot('phone', ['mobile', mobile])] }), owned: owned('phones', mobile) }),
    theirs: contact({ phones: [['mobile', mobile, 'p7']] }),
  };
  const replaced = planContact(input({ ...pictures, ours: desired({ phones: [slot('phone', ['mobile', office])] }) }));
  expect(phones(replaced)).toEqual([
    { id: 'p7', name: 'mobile', value: null },
    { name: 'mobile', value: office },
  ]);
  const cleared = planContact(input({ ...pictures, ours: desired({ phones: [slot('phone')] }) }));
  expect(phones(cleared)).toEqual([{ id: 'p7', name: 'mobile', value: null }]);
  expect(cleared).toMatchObject({
    removals: 1,
    clears: 0,
    reasons: [{ field: `phone.${mobile}`, from: mobile, to: null, why: 'removed' }],
  });
});

test('a column that is silent today protects the item that it wrote', () => {
  const plan = planContact(
    input({
      base: base({ said: said({ phones: [slot('phone', ['mobile', mobile])] }), owned: owned('phones', mobile) }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired(),
    }),
  );
  expect(plan.kind).toBe('noop');
});

test('a silent column also protects a value that another column drops', () => {
  const plan = planContact(
    input({
      base: base({
        said: said({ phones: [slot('mobile', ['mobile', mobile]), slot('work', ['work', mobile])] }),
        owned: owned('phones', mobile),
      }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('work')] }),
    }),
  );
  expect(plan.kind).toBe('noop');
});

test('a value that moves from one column to another is kept', () => {
  const plan = planContact(
    input({
      base: base({ said: said({ phones: [slot('a', ['mobile', mobile])] }), owned: owned('phones', mobile) }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('a'), slot('b', ['mobile', mobile])] }),
    }),
  );
  expect(plan.kind).toBe('noop');
});

test('an item that was there by hand is kept when the file drops it', () => {
  const plan = planContact(
    input({
      base: base({ said: said({ phones: [slot('phone', ['mobile', mobile])] }) }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('phone')] }),
    }),
  );
  expect(plan.kind).toBe('noop');
});

test('an item that another feed wrote is kept when this file drops it', () => {
  const other = { ...owned('phones'), phones: [{ value: mobile, feed: 'shop' }] };
  const plan = planContact(
    input({
      base: base({ said: said({ phones: [slot('phone', ['mobile', mobile])] }), owned: other }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('phone')] }),
    }),
  );
  expect(plan.kind).toBe('noop');
});

test('with itemRemoval none no item is ever removed', () => {
  const plan = planContact(
    input({
      itemRemoval: 'none',
      base: base({ said: said({ phones: [slot('phone', ['mobile', mobile])] }), owned: owned('phones', mobile) }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('phone')] }),
    }),
  );
  expect(plan).toMatchObject({ kind: 'noop', removals: 0 });
});

test('an item of people is kept as it is, with id, name and value', () => {
  const theirs = contact({ phones: [['Reception (2nd floor)', '+1 415 555 0105', 'p9']] });
  expect(phones(planContact(input({ theirs, ours: desired(touch) })))).toEqual([
    { id: 'p9', name: 'Reception (2nd floor)', value: '+1 415 555 0105' },
  ]);
});

test('a phone number is recognised in another spelling, and keeps the spelling of the service', () => {
  const plan = planContact(
    input({
      theirs: contact({ phones: [['mobile', '+1 (415) 555-0100']] }),
      ours: desired({ phones: [slot('phone', ['mobile', mobile])] }),
    }),
  );
  expect(plan.kind).toBe('noop');
});

test('an e-mail is recognised in another case, and keeps the case of the service', () => {
  const plan = planContact(
    input({
      theirs: contact({ emails: [['work', 'Ann.Example@Example.com']] }),
      ours: desired({ ...touch, emails: [slot('mail', ['work', 'ann.example@example.com'])] }),
    }),
  );
  expect(plan).toMatchObject({
    kind: 'patch',
    body: { defaultFields: { emails: [{ id: 'e1', value: 'Ann.Example@Example.com' }] } },
  });
});

const relabel = {
  base: base({ said: said({ phones: [slot('phone', ['mobile', mobile])] }), owned: owned('phones', mobile) }),
  theirs: contact({ phones: [['mobile', mobile]] }),
  ours: desired({ phones: [slot('phone', ['cell', mobile])] }),
};

test('the label of an own item follows the file', () => {
  const plan = planContact(input(relabel));
  expect(phones(plan)).toEqual([{ id: 'p1', name: 'cell', value: mobile }]);
  expect(plan.reasons).toEqual([{ field: `phone.${mobile}`, from: 'mobile', to: 'cell', why: 'relabelled' }]);
});

test('the label of an item that this feed did not write stays', () => {
  expect(planContact(input({ ...relabel, base: base({ said: relabel.base.said }) })).kind).toBe('noop');
});

test('a label that people changed stays while the file says the old one', () => {
  const theirs = contact({ phones: [['Ann private', mobile]] });
  const ours = desired({ phones: [slot('phone', ['mobile', mobile])] });
  expect(planContact(input({ ...relabel, theirs, ours })).kind).toBe('noop');
});

test('a label that people and file changed stays as people have it, with a note', () => {
  const seen = contact({ phones: [['mobile', mobile]] });
  const theirs = contact({ phones: [['Ann private', mobile]] });
  const plan = planContact(input({ ...relabel, base: { ...relabel.base, seen }, theirs }));
  expect(plan).toMatchObject({ kind: 'noop', notes: [{ code: 'labelChangedByPeople', field: `phone.${mobile}` }] });
});

test('an item without an id cannot be removed: it is kept and noted', () => {
  const plan = planContact(
    input({
      base: base({ said: said({ phones: [slot('phone', ['mobile', mobile])] }), owned: owned('phones', mobile) }),
      theirs: contact({ phones: [['mobile', mobile, null]] }),
      ours: desired({ ...touch, phones: [slot('phone')] }),
    }),
  );
  expect(phones(plan)).toEqual([{ name: 'mobile', value: mobile }]);
  expect(plan).toMatchObject({ removals: 0, notes: [{ code: 'itemWithoutId', field: `phone.${mobile}` }] });
});

test('an item without a value is not sent, since null would remove it', () => {
  const theirs = contact({ phones: [['mobile', null]] });
  expect(phones(planContact(input({ theirs, ours: desired(touch) })))).toEqual([]);
});

test('a number that stands twice on the service is relabelled once, and removed as one', () => {
  const theirs = contact({
    phones: [
      ['mobile', mobile],
      ['home', '+1 415 555 0100'],
    ],
  });
  expect(phones(planContact(input({ ...relabel, theirs })))).toEqual([
    { id: 'p1', name: 'cell', value: mobile },
    { id: 'p2', name: 'home', value: '+1 415 555 0100' },
  ]);
  expect(planContact(input({ ...relabel, theirs, ours: desired({ phones: [slot('phone')] }) })).removals).toBe(2);
});

test('the label of an own item that the file had dropped and says again stays', () => {
  const forgotten = base({ said: said({ phones: [slot('phone')] }), owned: owned('phones', mobile) });
  expect(planContact(input({ ...relabel, base: forgotten })).kind).toBe('noop');
});
