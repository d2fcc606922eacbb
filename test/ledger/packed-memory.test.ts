/** The memory of a contact at rest: exact whatever it holds, and small for what files usually hold. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FieldName } from '#src/contacts/desired.ts';
import {
  type ContactMemory,
  type PackedWrite,
  packMemory,
  packWrite,
  unpackMemory,
  unpackSaids,
  unpackWrite,
} from '#src/ledger/packed-memory.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import { usualMemory } from '#test/ledger/support/usual-memory.ts';

/** Texts that meet often, and any other: with separators, NUL, lone surrogates, ids, instants. */
const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('Ann', 'ann', '', 'email', 'phone mobile', 'crm', 'main', '+14155550100') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('a\u001fb', '\u0000', '\ud800', 'ünï', '😀', '__proto__', 'constructor') },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: fc.stringMatching(/^[0-9a-f]{0,70}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['2026-11-23T04:05:06.789Z', '2026-11-23T04:05:06Z', '2026-02-31T00:00:00.000Z', '1969-12-31T23:59:59.999Z'],
    ),
  },
);
const textOrNull = fc.option(anyText, { nil: null });
const anyValue: fc.Arbitrary<CustomFieldValue> = fc.oneof(
  textOrNull,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(anyText, { maxLength: 3 }),
);
const anyField = fc.oneof(
  fc.constantFrom<FieldName>('firstName', 'lastName', 'company', 'role', 'sourceUrl'),
  fc.tuple(fc.constantFrom('custom', 'email', 'phone'), anyText).map(([kind, name]) => `${kind}.${name}` as FieldName),
  // A field that only a later version knows.
  anyText.map((name) => name as FieldName),
);
const list = <Item>(item: fc.Arbitrary<Item>) => fc.array(item, { maxLength: 4 });
const item = fc.record({ id: textOrNull, name: textOrNull, value: textOrNull });
const entries = list(fc.record({ key: anyText, value: anyValue }));
const slots = list(
  fc.record(
    {
      slot: anyText,
      items: list(fc.record({ label: anyText, value: anyText })),
      whole: fc.constant(true as const),
    },
    { requiredKeys: ['slot', 'items'] },
  ),
);
const contact = fc
  .record(
    {
      id: anyText,
      externalId: textOrNull,
      source: textOrNull,
      sourceUrl: textOrNull,
      defaultFields: fc.record({
        firstName: textOrNull,
        lastName: textOrNull,
        company: textOrNull,
        role: textOrNull,
        emails: list(item),
        phoneNumbers: list(item),
      }),
      customFields: list(
        fc.record({ id: textOrNull, key: anyText, name: textOrNull, type: textOrNull, value: anyValue }),
      ),
      createdAt: textOrNull,
      updatedAt: textOrNull,
      createdByUserId: textOrNull,
      missing: fc.constant(['source']),
      // A newer service has members that this version does not know.
      tags: fc.constant([{ name: 'vip' }]),
    },
    {
      requiredKeys: [
        ...(['id', 'externalId', 'source', 'sourceUrl', 'defaultFields', 'customFields'] as const),
        ...(['createdAt', 'updatedAt', 'createdByUserId'] as const),
      ],
    },
  )
  .map(({ missing, ...rest }) => (missing === undefined ? rest : { ...rest, missing }));
const said = fc.record({
  scalars: fc.record(
    { firstName: textOrNull, lastName: textOrNull, company: textOrNull, role: textOrNull, sourceUrl: textOrNull },
    { requiredKeys: [] },
  ),
  emails: slots,
  phones: slots,
  customFields: entries,
  held: list(anyField),
});
const memory: fc.Arbitrary<ContactMemory> = fc.record({
  seen: fc.option(contact, { nil: null }),
  owned: fc.record({ emails: list(anyText), phones: list(anyText), customFields: entries }),
  agreed: fc.option(
    list(fc.record({ feed: textOrNull, values: list(fc.record({ field: anyField, value: anyValue })) })),
    { nil: null },
  ),
  stamps: list(
    fc.record({
      feed: anyText,
      sequence: fc.oneof(fc.nat(200), fc.maxSafeNat(), fc.constant(-1)),
      fields: list(anyField),
    }),
  ),
  saids: fc.array(fc.record({ feed: anyText, said }), { maxLength: 3 }),
});

/** Values travel as JSON otherwise, too: there is no minus zero within a text of JSON. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

test('what feeds said is read behind the rest of a memory, as it was written', () => {
  fc.assert(
    fc.property(memory, (one) => {
      const text = packMemory(one);
      expect(unpackSaids(text)).toEqual(unpackMemory(text).saids);
    }),
    { numRuns: 500 },
  );
});

test('a memory is read back as it was written, whatever it holds', () => {
  fc.assert(
    fc.property(memory, (one) => {
      const text = packMemory(one);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toContain('\u0000');
      const back = unpackMemory(text);
      expect(plain(back)).toStrictEqual(plain(one));
      expect(JSON.stringify(back)).toHaveLength(JSON.stringify(one).length);
    }),
    { numRuns: 1_000 },
  );
});

test('absent, null, an empty text, minus zero and an empty choice stay what they are', () => {
  const values: CustomFieldValue[] = [null, '', -0, 0, false, [], [''], 1e300, 0.1];
  const one: ContactMemory = {
    ...usualMemory(1),
    agreed: [{ feed: null, values: values.map((value, index) => ({ field: `custom.${index}`, value })) }],
    saids: [
      {
        feed: '',
        said: { scalars: { firstName: null, lastName: '' }, emails: [], phones: [], customFields: [], held: [] },
      },
    ],
  };
  expect(unpackMemory(packMemory(one))).toStrictEqual(one);
});

test('more texts than one character can name are read back', () => {
  const name = (index: number) => `text ${index % 400}`;
  const identities = Array.from({ length: 900 }, (_, index) => name(index));
  const one: ContactMemory = { ...usualMemory(1), owned: { emails: identities, phones: identities, customFields: [] } };
  expect(unpackMemory(packMemory(one))).toStrictEqual(one);
});

test('a contact with members that a newer service sends is kept with them', () => {
  const usual = usualMemory(1);
  const newer = { ...usual.seen, tags: ['a'], defaultFields: { ...usual.seen?.defaultFields, pronouns: 'she' } };
  const one = { ...usual, seen: newer } as ContactMemory;
  expect(unpackMemory(packMemory(one))).toStrictEqual(one);
});

test('a usual contact with eight columns takes at most a fifth of its JSON, and less than 330 bytes', () => {
  const sizes = Array.from({ length: 200 }, (_, index) => Buffer.byteLength(packMemory(usualMemory(index))));
  const json = Array.from({ length: 200 }, (_, index) => Buffer.byteLength(JSON.stringify(usualMemory(index))));
  const mean = (all: readonly number[]) => all.reduce((sum, size) => sum + size, 0) / all.length;
  expect(mean(sizes)).toBeLessThan(330);
  expect(mean(sizes)).toBeLessThan(mean(json) / 5);
});

test('the changes of a write are read back as they were, and take few bytes', () => {
  const why = fc.constantFrom('added', 'changed', 'cleared', 'removed', 'removed', 'landed');
  const label = fc.option(anyText, { nil: undefined });
  const change = fc.record(
    { field: anyField, from: anyValue, to: anyValue, why, label },
    { requiredKeys: ['field', 'from', 'to', 'why'] },
  );
  const write = fc.record({ changes: list(change), source: fc.option(anyText) }, { requiredKeys: ['changes'] });
  fc.assert(
    fc.property(write, (one) => {
      expect(plain(unpackWrite(packWrite(one as PackedWrite)))).toStrictEqual(plain(one));
    }),
  );
  const create = ['firstName', 'lastName', 'email.ann.lee@example.com', 'phone.+14155550100'].map((field) => ({
    ...{ field: field as FieldName, from: null, why: 'added' as const },
    to: field.replace(/^\w+\./, ''),
    ...(field.startsWith('phone.') ? { label: 'mobile' } : {}),
  }));
  expect(packWrite({ changes: create, source: 'crm' }).length).toBeLessThan(100);
});

test('a write is read as older versions have entered it', () => {
  const phone = 'phone.+14155550100';
  expect(unpackWrite('1(#!"#!(#"G!\u001fAnn\u001f+14155550100')).toEqual({
    changes: [
      { field: 'firstName', from: null, to: 'Ann', why: 'added' },
      { field: phone, from: null, to: '+14155550100', why: 'added' },
    ],
  });
  const removed = { field: phone, from: '+14155550100', to: null, why: 'removed', label: 'mobile' };
  expect(unpackWrite(`1)\u001f${JSON.stringify([removed])}`)).toEqual({ changes: [removed] });
  const odd = { field: 'role', from: null, to: 'a\u001fb', why: 'added' };
  expect(unpackWrite(`0${JSON.stringify([odd])}`)).toEqual({ changes: [odd] });
});

test('the form of today is read for ever: these texts stand in ledgers', () => {
  const text = packMemory(usualMemory(7));
  expect(text).toMatchInlineSnapshot(
    `"1($#E"####"$+##$/#$0#!&R#("M#OQ!(""%!H"I#J$K("#-%!"#$"T(HIJK!"+"+M!#9"/O!:"0Q!!!HCy3j2PUN4CaEUx_CRM-100007HannahLeeNorthwind TradersOwnerJPFgrEcQWmHTAbpghannah.lee7@example.com0B__HNL5OlHxq2Ab+14155000014Fy9L1_a3i8VhnWOR+14155000015mwo7pxzxUS7f3a91c2crm"`,
  );
  expect(unpackMemory(text)).toStrictEqual(usualMemory(7));
});

test('a text of an unknown form, or one that was cut, is refused', () => {
  expect(() => unpackMemory('2…')).toThrow('unknown form');
  expect(() => unpackMemory(packMemory(usualMemory(1)).slice(0, 120))).toThrow('cut');
});
