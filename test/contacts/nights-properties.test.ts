import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DesiredContact, itemIdentity } from '#src/contacts/desired.ts';
import type { Contact, ContactItem, CustomFieldValue } from '#src/wire/contact.ts';
import {
  customValue,
  desiredContact,
  feeds,
  fieldTypes,
  itemLabel,
  phonePool,
  scalarValue,
  serviceContact,
} from './support/arbitraries.ts';
import { contact, desired, slot } from './support/build.ts';
import type { PatchMode } from './support/service-model.ts';
import { type Feed, World } from './support/world.ts';

type Scalar = 'firstName' | 'role';

type Event =
  | { readonly kind: 'people set a scalar'; readonly name: Scalar; readonly value: string | null }
  | { readonly kind: 'people set a custom field'; readonly key: string; readonly value: CustomFieldValue }
  | { readonly kind: 'people add a phone'; readonly label: string; readonly value: string }
  | { readonly kind: 'people remove a phone'; readonly index: number }
  | { readonly kind: 'people relabel a phone'; readonly index: number; readonly label: string }
  | { readonly kind: 'new file'; readonly feed: Feed; readonly mode: PatchMode; readonly file: DesiredContact }
  | { readonly kind: 'same file'; readonly feed: Feed; readonly mode: PatchMode };

const is = <Kind extends string>(kind: Kind) => fc.constant(kind);
const mode = fc.constantFrom<PatchMode>('merge', 'replace');
const feed = fc.constantFrom(...feeds);
const phone = fc.constantFrom(...phonePool, '+14155550199');
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: is('new file'), feed, mode, file: desiredContact }) },
  { weight: 2, arbitrary: fc.record({ kind: is('same file'), feed, mode }) },
  fc.record({
    kind: is('people set a scalar'),
    name: fc.constantFrom<Scalar>('firstName', 'role'),
    value: scalarValue,
  }),
  fc
    .constantFrom(...fieldTypes.keys())
    .chain((key) =>
      fc.record({ kind: is('people set a custom field'), key: fc.constant(key), value: customValue(key) }),
    ),
  fc.record({ kind: is('people add a phone'), label: itemLabel, value: phone }),
  fc.record({ kind: is('people remove a phone'), index: fc.nat(3) }),
  fc.record({ kind: is('people relabel a phone'), index: fc.nat(3), label: itemLabel }),
);

function withScalar(stored: Contact, name: Scalar, value: string | null): Contact {
  return { ...stored, defaultFields: { ...stored.defaultFields, [name]: value } };
}

function withPhones(stored: Contact, change: (items: readonly ContactItem[]) => ContactItem[]): Contact {
  const { defaultFields } = stored;
  return { ...stored, defaultFields: { ...defaultFields, phoneNumbers: change(defaultFields.phoneNumbers) } };
}

function withCustomField(stored: Contact, key: string, value: CustomFieldValue): Contact {
  const field = { id: `f-${key}`, key, name: key, type: fieldTypes.get(key) ?? 'string', value };
  const others = stored.customFields.filter((one) => one.key !== key);
  return { ...stored, customFields: [...others, field] };
}

/** Who removes a number removes it however often it stands there. */
function withoutPhone(stored: Contact, index: number): Contact {
  const removed = itemIdentity('phone', stored.defaultFields.phoneNumbers[index]?.value ?? '');
  return withPhones(stored, (items) => items.filter((item) => itemIdentity('phone', item.value ?? '') !== removed));
}

function play(world: World, events: readonly Event[]): void {
  const lastFile = new Map<Feed, DesiredContact>();
  for (const [index, one] of events.entries()) {
    switch (one.kind) {
      case 'people set a scalar':
        world.peopleEdit((stored) => withScalar(stored, one.name, one.value));
        break;
      case 'people set a custom field':
        world.peopleEdit((stored) => withCustomField(stored, one.key, one.value));
        break;
      case 'people add a phone':
        world.peopleEdit((stored) =>
          withPhones(stored, (items) => [...items, { id: `hand${index}`, name: one.label, value: one.value }]),
        );
        break;
      case 'people remove a phone':
        world.peopleEdit((stored) => withoutPhone(stored, one.index));
        break;
      case 'people relabel a phone':
        world.peopleEdit((stored) =>
          withPhones(stored, (items) =>
            items.map((item, at) => (at === one.index ? { ...item, name: one.label } : item)),
          ),
        );
        break;
      case 'new file':
        lastFile.set(one.feed, one.file);
        world.round(one.feed, one.mode, one.file);
        break;
      case 'same file':
        world.round(one.feed, one.mode, lastFile.get(one.feed) ?? desired());
        break;
    }
  }
}

test('over many nights no edit of people is lost, nothing of theirs is removed, and nothing removed comes back', () => {
  fc.assert(
    fc.property(
      fc.option(serviceContact, { nil: null }),
      fc.array(event, { minLength: 4, maxLength: 24 }),
      (start, events) => play(new World(start), events),
    ),
    { numRuns: 350 },
  );
});

test('an edit to a field that the file leaves alone survives every later file', () => {
  const fixed = { firstName: 'Ann' };
  const quiet = fc.array(fc.record({ mode, file: desiredContact }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(quiet, scalarValue, mode, (nights, edited, firstMode) => {
      const world = new World(null);
      world.round('crm', firstMode, desired({ scalars: fixed }));
      world.peopleEdit((stored) => withScalar(stored, 'firstName', edited));
      for (const night of nights) {
        world.round('crm', night.mode, { ...night.file, scalars: { ...night.file.scalars, ...fixed } });
        expect(world.stored?.defaultFields.firstName).toBe(edited);
      }
    }),
    { numRuns: 150 },
  );
});

test('a held field stays as people have it through every later night on which the file insists', () => {
  const world = new World(contact());
  world.round('crm', 'merge', desired({ scalars: { role: 'Clerk' } }));
  world.peopleEdit((stored) => ({ ...stored, defaultFields: { ...stored.defaultFields, role: 'Chief' } }));
  for (const role of ['Buyer', 'Buyer', 'Owner', 'Buyer']) {
    world.round('crm', 'replace', desired({ scalars: { role } }));
    world.round('shop', 'replace', desired({ scalars: { company: role } }));
    expect(world.stored?.defaultFields.role).toBe('Chief');
  }
});

test('a removed phone comes back only when the file drops it and newly says it', () => {
  const mobile = '+14155550100';
  const says = desired({ phones: [slot('phone', ['mobile', mobile])] });
  const numbers = (world: World) => world.stored?.defaultFields.phoneNumbers.map((item) => item.value);
  const world = new World(null);
  world.round('crm', 'merge', says);
  world.peopleEdit((stored) => withoutPhone(stored, 0));
  for (const file of [says, desired(), says]) {
    world.round('crm', 'merge', file);
    expect(numbers(world)).toEqual([]);
  }
  world.round('crm', 'merge', desired({ phones: [slot('phone')] }));
  world.round('crm', 'merge', says);
  expect(numbers(world)).toEqual([mobile]);
});

test('a custom field that people set stays when the file names their value one night and clears it the next', () => {
  const says = (value: string | null) => desired({ customFields: [{ key: 'tier', value }] });
  const tier = (world: World) => world.stored?.customFields.find(({ key }) => key === 'tier')?.value ?? null;
  const world = new World(null);
  world.round('crm', 'merge', says('silver'));
  world.peopleEdit((stored) => withCustomField(stored, 'tier', 'gold'));
  for (const file of [says('gold'), says(null), says(null)]) {
    world.round('crm', 'merge', file);
    expect(tier(world)).toBe('gold');
  }
  // What the feed wrote itself leaves with it.
  world.round('crm', 'merge', says('bronze'));
  expect(tier(world)).toBe('bronze');
  world.round('crm', 'merge', says(null));
  expect(tier(world)).toBe(null);
});
