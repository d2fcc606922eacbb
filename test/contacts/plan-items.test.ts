import { expect, test } from 'vitest';
import type { Base } from '#src/contacts/base.ts';
import type { Slot } from '#src/contacts/desired.ts';
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

const dropped = (others: Base['others']) =>
  planContact(
    input({
      base: base({
        said: said({ phones: [slot('phone', ['mobile', mobile])] }),
        owned: owned('phones', mobile),
        others,
      }),
      theirs: contact({ phones: [['mobile', mobile]] }),
      ours: desired({ phones: [slot('phone')] }),
    }),
  );

test('an item belongs to every feed whose file names it, and leaves with the last', () => {
  const phones = [slot('telefon', ['work', mobile])];
  expect(dropped([{ feed: 'shop', said: said({ phones }), owns: true, exists: true }]).kind).toBe('noop');
  expect(dropped([{ feed: 'shop', said: said(), owns: true, exists: true }])).toMatchObject({
    kind: 'patch',
    removals: 1,
  });
});

test('a feed that is gone owns nothing, nor does main beside a named feed', () => {
  const phones = [slot('phone', ['work', mobile])];
  expect(dropped([{ feed: 'main', said: said({ phones }), owns: false, exists: true }])).toMatchObject({ removals: 1 });
});

test('an item that some feed said before and people removed is not put back by another feed', () => {
  const phones = [slot('phone', ['work', mobile])];
  const others = [{ feed: 'shop', said: said({ phones }), owns: true, exists: true }];
  const put = (before: Base['others']) =>
    planContact(input({ base: base({ others: before }), ours: desired({ phones }) }));
  expect(put(others).kind).toBe('noop');
  expect(put([]).kind).toBe('patch');
});

test('the same number in two columns stays while one of them says it, be it silent today', () => {
  const both = [slot('phone', ['work', mobile]), slot('mobile', ['mobile', mobile])];
  const plan = planContact(
    input({
      base: base({ said: said({ phones: both }), owned: owned('phones', mobile) }),
      theirs: contact({ phones: [['work', mobile]] }),
      ours: desired({ phones: [slot('phone', ['work', '+14155550199'])] }),
    }),
  );
  expect(plan.reasons).toMatchObject([{ why: 'added', to: '+14155550199' }]);
});

test('a JSON array speaks for every column that spoke before', () => {
  const before = said({ phones: [slot('phone', ['work', mobile])] });
  const plan = planContact(
    input({
      base: base({ said: before, owned: owned('phones', mobile) }),
      theirs: contact({ phones: [['work', mobile]] }),
      ours: desired({ phones: [{ slot: 'phones', items: [], whole: true }] }),
    }),
  );
  expect(plan).toMatchObject({ kind: 'patch', removals: 1 });
});

test('the items of a column that the mapping names no more pass to the column that does, else to nobody', () => {
  const before = said({ phones: [slot('old', ['work', mobile])] });
  const plan = (slots: Slot[]) =>
    planContact(
      input({
        base: base({ said: before, owned: owned('phones', mobile) }),
        slotNames: { emails: new Set(), phones: new Set(['new']) },
        theirs: contact({ phones: [['work', mobile]] }),
        ours: desired({ phones: slots }),
      }),
    );
  expect(plan([slot('new', ['work', mobile])]).written.disowned.phones).toEqual([]);
  expect(plan([slot('new')])).toMatchObject({ kind: 'noop', written: { disowned: { phones: [mobile] } } });
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
