/** Random pictures from small pools, so that values meet often. */
import fc from 'fast-check';
import {
  type Agreement,
  type Base,
  type FieldStamp,
  fieldValueOf,
  type Ownership,
  type PlanInput,
  type Said,
} from '#src/contacts/base.ts';
import {
  type DesiredContact,
  type DesiredScalars,
  type FieldName,
  itemIdentity,
  type Slot,
  scalarNames,
  type WantedSlot,
} from '#src/contacts/desired.ts';
import { fieldPolicies, itemPolicies, type Policies, usualPolicies } from '#src/contacts/policies.ts';
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import { contact, type ItemText } from './build.ts';

export const feeds = ['crm', 'shop'] as const;
export const fieldTypes: ReadonlyMap<string, string> = new Map([
  ['tier', 'string'],
  ['since', 'date'],
  ['score', 'number'],
  ['tags', 'multi-select'],
  ['vip', 'boolean'],
  ['__proto__', 'string'],
]);

const valuesByKey = new Map<string, readonly CustomFieldValue[]>([
  ['tier', ['gold', 'Gold', 'tin']],
  ['since', ['2026-03-01T00:00:00Z', '2026-03-01', '2026-03-02']],
  ['score', [0, 1, 2.5]],
  ['tags', [['a', 'b'], ['b', 'a'], ['a']]],
  ['vip', [true, false]],
  ['__proto__', ['x', 'y']],
]);

const texts = ['Ann', 'ann', 'Bea', 'Cleo'];
const labels = ['mobile', 'work', 'home'];
/** As a file says them. */
export const emailPool = ['ann@example.com', 'bea@example.com', 'Cleo@example.org', 'dee@example.org'];
export const phonePool = ['+14155550100', '+14155550101', '+14155550102', '+14155550103'];
/** As a service may hold them besides. */
const otherEmails = ['ANN@example.com', 'Bea@Example.com'];
const otherPhones = ['+1 415 555 0100', '+1 (415) 555-0101', '+14155550199'];
export const slotNames = ['first', 'second', 'third'];

const nullable = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: null, freq: 4 });

export const scalarValue = nullable(texts);
export const customValue = (key: string): fc.Arbitrary<CustomFieldValue> => nullable(valuesByKey.get(key) ?? []);

export const scalars: fc.Arbitrary<DesiredScalars> = fc.record(
  {
    firstName: scalarValue,
    lastName: scalarValue,
    company: scalarValue,
    role: scalarValue,
    sourceUrl: nullable(['https://crm.example.com/1', 'https://crm.example.com/2']),
  },
  { requiredKeys: [] },
);

export const slots = (pool: readonly string[]): fc.Arbitrary<Slot[]> =>
  fc.uniqueArray(
    fc.record({
      slot: fc.constantFrom(...slotNames),
      items: fc.array(fc.record({ label: fc.constantFrom(...labels), value: fc.constantFrom(...pool) }), {
        maxLength: 2,
      }),
    }),
    { selector: (slot) => slot.slot, maxLength: slotNames.length },
  );

/** Some with a value that could not be read. */
const wantedSlots = (pool: readonly string[]): fc.Arbitrary<WantedSlot[]> =>
  fc
    .tuple(slots(pool), fc.subarray([...slotNames]))
    .map(([all, unread]) => all.map((one) => (unread.includes(one.slot) ? { ...one, partial: true } : one)));

export const customFields = fc
  .subarray([...fieldTypes.keys()])
  .chain((keys) => fc.tuple(...keys.map((key) => fc.record({ key: fc.constant(key), value: customValue(key) }))));

export const desiredContact: fc.Arbitrary<DesiredContact> = fc.record({
  key: fc.constant('K-1'),
  scalars,
  source: fc.constant(null),
  emails: wantedSlots(emailPool),
  phones: wantedSlots(phonePool),
  customFields,
});

const fieldNames: readonly FieldName[] = [
  ...scalarNames,
  ...[...fieldTypes.keys()].map((key): FieldName => `custom.${key}`),
];

const said: fc.Arbitrary<Said> = fc.record({
  scalars,
  emails: slots(emailPool),
  phones: slots(phonePool),
  customFields,
  held: fc.subarray([...fieldNames], { maxLength: 3 }),
});

export const itemLabel = fc.constantFrom(...labels, 'by hand');
const serviceItems = (pool: readonly string[]): fc.Arbitrary<ItemText[]> =>
  fc.array(fc.tuple(itemLabel, fc.constantFrom(...pool)), { maxLength: 4 });

export const serviceContact: fc.Arbitrary<Contact> = fc
  .record({
    scalars,
    emails: serviceItems([...emailPool, ...otherEmails]),
    phones: serviceItems([...phonePool, ...otherPhones]),
    customFields,
  })
  .map(({ customFields: fields, ...rest }) =>
    contact({ ...rest, customFields: fields.map(({ key, value }) => [key, value, fieldTypes.get(key) ?? 'string']) }),
  );

const ownership: fc.Arbitrary<Ownership> = fc.record({
  emails: ownedItems(emailPool.map((value) => itemIdentity('email', value))),
  phones: ownedItems(phonePool),
  customFields,
});

function ownedItems(values: readonly string[]) {
  return fc.uniqueArray(fc.constantFrom(...values));
}

const sequence = fc.integer({ min: 1, max: 20 });

const agreement: fc.Arbitrary<Agreement> = fc.record({
  feed: fc.constantFrom(null, ...feeds),
  values: fc
    .tuple(fc.subarray([...fieldNames]), serviceContact)
    .map(([fields, contact]) => fields.map((field) => ({ field, value: fieldValueOf(contact, field) }))),
});

const fieldStamp: fc.Arbitrary<FieldStamp> = fc.record({
  feed: fc.constantFrom(...feeds),
  sequence,
  fields: fc.subarray([...fieldNames], { minLength: 1, maxLength: 3 }),
});

export const base: fc.Arbitrary<Base> = fc.record({
  said: fc.option(said, { nil: null, freq: 5 }),
  others: fc.constant([]),
  agreed: fc.uniqueArray(agreement, { selector: ({ feed }) => feed, maxLength: 3 }),
  stamps: fc.uniqueArray(fieldStamp, { selector: ({ feed }) => feed, maxLength: 2 }),
  seen: fc.option(serviceContact, { nil: null, freq: 5 }),
  owned: ownership,
});

const others = fc.uniqueArray(
  fc.record({ feed: fc.constantFrom(...feeds, 'main'), said, owns: fc.boolean(), exists: fc.boolean() }),
  {
    selector: ({ feed }) => feed,
  },
);

export const policies: fc.Arbitrary<Policies> = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...fieldNames), fc.constantFrom(...fieldPolicies)), { maxLength: 8 }),
    fc.constantFrom(...itemPolicies),
    fc.constantFrom(...itemPolicies),
  )
  .map(([fields, emails, phones]) => ({ fields: new Map(fields), emails, phones }));

/** Any pictures whatever, also ones that no history leads to. */
export const updateInput: fc.Arbitrary<PlanInput & { readonly theirs: Contact }> = fc
  .record({
    feed: fc.constantFrom(...feeds),
    sourceLabel: fc.constant('CRM export'),
    base,
    theirs: serviceContact,
    ours: desiredContact,
    itemRemoval: fc.constantFrom('owned' as const, 'owned' as const, 'none' as const),
    sequence,
    policies: fc.oneof(fc.constant(usualPolicies), policies),
    adopt: fc.boolean(),
    isLinked: fc.boolean(),
    restores: fc.boolean(),
    yieldsItems: fc.boolean(),
    slotNames: fc.constant(null),
    others,
  })
  .map(({ others: all, base: one, ...rest }) => ({
    ...rest,
    base: { ...one, others: all.filter(({ feed }) => feed !== rest.feed) },
  }));
