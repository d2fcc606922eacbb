/** Whose the label of an item is, and whose an item that stands twice (`docs/rules.md`, "Three pictures, one plan"): night by night. */
import { expect, test } from 'vitest';
import { type Base, emptyBase } from '#src/contacts/base.ts';
import { claimOf, resolveClaim } from '#src/contacts/claim.ts';
import type { DesiredContact, Slot } from '#src/contacts/desired.ts';
import { planContact } from '#src/contacts/plan.ts';
import { ownedIfLanded, settle } from '#src/contacts/settle.ts';
import { planUndo, settleUndo } from '#src/contacts/undo.ts';
import type { Contact, ContactItem } from '#src/wire/contact.ts';
import { contact, desired, input, slot } from './support/build.ts';
import { modelUpdate } from './support/service-model.ts';

const [p71, p72] = ['+4915112345671', '+4915112345672'];

/** The contact as it is, and what Patchbay remembers of it. */
interface Night {
  readonly stored: Contact;
  readonly base: Base;
  readonly notes: readonly string[];
}

const phones = ({ stored }: Night) => stored.defaultFields.phoneNumbers.map(({ name, value }) => `${name} ${value}`);

function withPhones(night: Night, change: (items: readonly ContactItem[]) => readonly ContactItem[]): Night {
  const { defaultFields } = night.stored;
  const phoneNumbers = [...change(defaultFields.phoneNumbers)];
  return { ...night, stored: { ...night.stored, defaultFields: { ...defaultFields, phoneNumbers } } };
}

const relabelled = (night: Night, name: string) => withPhones(night, (items) => items.map((one) => ({ ...one, name })));
const withPhone = (night: Night, id: string, name: string, value: string) =>
  withPhones(night, (items) => [...items, { id, name, value }]);

/** @param parts of the row: a role, too, which has nothing to do with the numbers. */
function night(
  { stored, base }: Night,
  ...[ours, feed = 'crm', adopt = false]: readonly [DesiredContact, string?, boolean?]
): Night {
  const pictures = input({ feed, base, theirs: stored, ours, adopt });
  const plan = ours.undo === undefined ? planContact(pictures) : planUndo(pictures, ours.undo, stored);
  const reply = plan.kind === 'patch' ? modelUpdate(stored, plan.body, 'replace', new Map()) : stored;
  const settler = ours.undo === undefined ? settle : settleUndo;
  const { others, ...next } = settler({ ...pictures, plan, reply });
  return { stored: reply, base: { ...next, others: base.others }, notes: plan.notes.map(({ code }) => code) };
}

const row = (role: string, ...slots: readonly Slot[]) => desired({ scalars: { role }, phones: slots });
const mobile = (value?: string) => (value === undefined ? slot('mobile') : slot('mobile', ['mobile', value]));
const work = (value: string) => slot('work', ['work', value]);

function start(ours: DesiredContact): Night {
  const pictures = input({ theirs: null, ours });
  const plan = planContact(pictures);
  const stored = contact({
    scalars: { role: 'Boss' },
    phones: plan.kind === 'create' ? plan.expected.phones.map(({ label, value }) => [label, value] as const) : [],
  });
  return { stored, base: { ...settle({ ...pictures, plan, reply: stored }), others: [] }, notes: [] };
}

test('a label that people gave stays theirs, however often the contact was read since', () => {
  let now = relabelled(start(row('Boss', mobile(p71))), 'Handy');
  now = night(now, row('Chief', mobile(p71)));
  now = night(now, row('Owner', mobile(p71)));
  now = night(now, row('Owner', mobile(), work(p71)));
  expect(phones(now)).toEqual([`Handy ${p71}`]);
  expect(now.notes).toEqual(['labelChangedByPeople']);
  now = night(night(now, row('Chief', mobile(), work(p71))), row('Chief', mobile(p71)));
  expect(phones(now)).toEqual([`Handy ${p71}`]);
});

test('a label that people gave back is Patchbay’s to change again', () => {
  let now = night(relabelled(start(row('Boss', mobile(p71))), 'Handy'), row('Chief', mobile(p71)));
  now = night(relabelled(now, 'mobile'), row('Chief', mobile(), work(p71)));
  expect(phones(now)).toEqual([`work ${p71}`]);
});

test('a label that people changed to what the file says from then on is agreed on', () => {
  let now = night(relabelled(start(row('Boss', mobile(p71))), 'work'), row('Chief', mobile(), work(p71)));
  now = night(now, row('Chief', slot('mobile'), slot('work'), slot('home', ['home', p71])));
  expect(phones(now)).toEqual([`home ${p71}`]);
});

test('a label in another case is people’s, unless the service answered with it', () => {
  const before = start(row('Boss', mobile(p71)));
  const moved = row('Chief', mobile(), work(p71));
  expect(phones(night(night(relabelled(before, 'Mobile'), row('Chief', mobile(p71))), moved))).toEqual([
    `Mobile ${p71}`,
  ]);
  const { stored } = relabelled(before, 'Mobile');
  const storedSo = { ...before, stored, base: { ...before.base, seen: stored } };
  expect(phones(night(night(storedSo, row('Chief', mobile(p71))), moved))).toEqual([`work ${p71}`]);
});

test('a label is Patchbay’s also where the file that gave it says the number no longer', () => {
  const start1 = start(row('Boss', mobile(p71)));
  const shop = { feed: 'shop', said: desired({ phones: [slot('tel', ['cell', p71])] }), exists: true, owns: true };
  const others = [{ ...shop, said: { ...shop.said, held: [] } }];
  const now = night({ ...start1, base: { ...start1.base, others } }, row('Boss', mobile(p72)));
  expect(phones(now)).toEqual([`mobile ${p71}`, `mobile ${p72}`]);
  const { said } = now.base;
  const base = {
    ...now.base,
    said: others[0]?.said ?? null,
    others: said === null ? [] : [{ ...shop, feed: 'crm', said }],
  };
  expect(phones(night({ ...now, base }, row('Boss', slot('tel', ['home', p71])), 'shop'))).toContain(`home ${p71}`);
});

test.each([
  ['the file’s', 'mobile', undefined, [`home ${p71}`]],
  ['people’s', 'Handy', [], [`Handy ${p71}`]],
] as const)('a label of %s that an undo gave back is theirs again', (_, before, agreedWith, after) => {
  const written = night(start(row('Boss', mobile(p71))), row('Boss', mobile(), work(p71)));
  const change = { field: `phone.${p71}`, left: 'work', before, isLabel: true } as const;
  const changes = [{ ...change, ...(agreedWith === undefined ? {} : { agreedWith }) }];
  const undone = night(written, { ...desired(), undo: { contactId: 'c1', changes, deletes: false } });
  expect(phones(undone)).toEqual([`${before} ${p71}`]);
  const read = night(undone, row('Chief', mobile(), work(p71)));
  expect(phones(night(read, row('Chief', mobile(), slot('work'), slot('home', ['home', p71]))))).toEqual(after);
});

test('a label that landed without an answer is Patchbay’s', () => {
  const { stored, base } = start(row('Boss', mobile(p71)));
  const pictures = input({ base, theirs: stored, ours: row('Boss', mobile(), work(p71)) });
  const claim = claimOf(pictures, planContact(pictures));
  if (claim === null) throw new Error('the plan writes nothing');
  const landed = relabelled({ stored, base, notes: [] }, 'work');
  const resolved = resolveClaim(base, claim, 'crm', landed.stored);
  const now = night({ ...landed, base: resolved }, row('Boss', mobile(), slot('home', ['home', p71])));
  expect(phones(now)).toEqual([`home ${p71}`]);
});

test.each([
  ['without an answer', true, undefined, `home ${p71}`],
  ['that was answered', false, undefined, `home ${p71}`],
  ['without an answer, where people gave another label,', true, 'Handy', `Handy ${p71}`],
] as const)(
  'after a write %s a label of a feed that gave its item up is whose it was',
  (_, isLost, byPeople, after) => {
    const first = start(row('Boss', mobile(p71)));
    const { said: mainSaid } = first.base;
    if (mainSaid === null) throw new Error('main has said nothing');
    const others = [{ feed: 'main', said: mainSaid, exists: true, owns: false }];
    const before = { ...first, base: { ...first.base, said: null, others } };
    const pictures = input({ base: before.base, theirs: before.stored, ours: row('Chief', work(p71)) });
    const plan = planContact(pictures);
    const claim = claimOf(pictures, plan);
    if (claim === null || plan.kind !== 'patch') throw new Error('the plan writes nothing');
    const landed = { ...before, stored: modelUpdate(before.stored, plan.body, 'replace', new Map()) };
    const found = byPeople === undefined ? landed : relabelled(landed, byPeople);
    const settled = settle({ ...pictures, plan, reply: found.stored });
    const base = isLost ? resolveClaim(before.base, claim, 'crm', found.stored) : settled;
    expect(base.others.map(({ said }) => said.phones.flatMap(({ items }) => items))).toEqual([[]]);
    const moved = row('Chief', slot('work'), slot('home', ['home', p71]));
    expect(phones(night(night({ ...found, base }, pictures.ours), moved))).toEqual([after]);
  },
);

test('a number in two columns gets the label of the other one when one of them moves on', () => {
  const now = night(start(row('Boss', mobile(p71), work(p71))), row('Boss', mobile(p72), work(p71)));
  expect(phones(now)).toEqual([`work ${p71}`, `mobile ${p72}`]);
  // A blank cell keeps what its column said.
  expect(phones(night(start(row('Boss', mobile(p71), work(p71))), row('Boss', work(p71))))).toEqual([`mobile ${p71}`]);
});

test.each([0, 1])('a number that people added once more stays when the file moves on, read %s times since', (reads) => {
  let now = withPhone(start(row('Boss', mobile(p71))), 'hand', 'Ferienhaus', p71);
  for (let read = 0; read < reads; read++) now = night(now, row(`Boss ${read}`, mobile(p71)));
  now = night(now, row('Boss', mobile(p72)));
  expect(phones(now)).toEqual([`Ferienhaus ${p71}`, `mobile ${p72}`]);
  // It is people's from then on, also where a file names it.
  now = night(night(now, row('Boss', mobile(p71))), row('Boss', mobile(p72)));
  expect(phones(now)).toEqual([`Ferienhaus ${p71}`, `mobile ${p72}`]);
});

test('a number that stands twice leaves as one where the service gives items other ids', () => {
  const now = withPhone(start(row('Boss', mobile(p71))), 'hand', 'Ferienhaus', p71);
  const renumbered = withPhones(now, (items) => items.map((one) => ({ ...one, id: `other-${one.id}` })));
  expect(phones(night(renumbered, row('Boss', mobile(p72))))).toEqual([`mobile ${p72}`]);
});

/** The write that moves the number on has no answer. @param found what the service holds then. */
function afterDoubt(found: (night: Night) => Night): Night {
  const before = start(row('Boss', mobile(p71)));
  const pictures = input({ base: before.base, theirs: before.stored, ours: row('Boss', mobile(p72)) });
  const plan = planContact(pictures);
  const claim = claimOf(pictures, plan);
  if (claim === null) throw new Error('the plan writes nothing');
  const base = { ...before.base, owned: ownedIfLanded(before.base.owned, plan.written) };
  const there = found(before);
  return night({ ...there, base: resolveClaim(base, claim, 'crm', there.stored) }, pictures.ours);
}

test('a number that a write without an answer has removed, and people have added again, stays', () => {
  const landed = (now: Night) =>
    withPhone(
      withPhones(now, () => []),
      'new',
      'mobile',
      p72,
    );
  const now = afterDoubt((before) => withPhone(landed(before), 'hand', 'privat', p71));
  expect(phones(now)).toEqual([`mobile ${p72}`, `privat ${p71}`]);
  expect(phones(night(now, row('Boss', mobile('+4915112345673'))))).toEqual([`privat ${p71}`, 'mobile +4915112345673']);
});

test.each([
  ['is as it was', (now: Night) => now],
  ['was relabelled by people', (now: Night) => relabelled(now, 'privat')],
  ['has another id by now', (now: Night) => withPhones(now, (items) => items.map((one) => ({ ...one, id: 'other' })))],
])('a write without an answer did not land where its number %s, and is written again', (_, found) => {
  expect(phones(afterDoubt(found))).toEqual([`mobile ${p72}`]);
});

test('nothing is remembered of labels that a file says', () => {
  const fields = (now: Night) => now.base.agreed.flatMap(({ values }) => values.map(({ field }) => field));
  expect(fields(night(start(row('Boss', mobile(p71))), row('Chief', mobile(), work(p71))))).toEqual(['role']);
  const stored = contact({ phones: [['mobile', p71]] });
  const adopted = night({ stored, base: emptyBase, notes: [] }, row('Boss', mobile(p71)), 'crm', true);
  expect(fields(adopted)).toEqual(['role']);
  expect(phones(night(adopted, row('Boss', mobile(), work(p71))))).toEqual([`work ${p71}`]);
});

test('a label that people had given an item before it was adopted stays when the file changes its own, with one warning', () => {
  const there = { stored: contact({ phones: [['Handy', p71]] }), base: emptyBase, notes: [] };
  const adopted = night(there, row('Boss', mobile(p71)), 'crm', true);
  const moved = row('Boss', mobile(), work(p71));
  const now = night(adopted, moved, 'crm', true);
  expect([phones(now), now.notes]).toEqual([[`Handy ${p71}`], ['labelChangedByPeople']]);
  const next = night(now, { ...moved, scalars: { role: 'Chief' } }, 'crm', true);
  expect([adopted.notes, next.notes, phones(next)]).toEqual([[], [], [`Handy ${p71}`]]);
});
