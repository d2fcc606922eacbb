import { describe, expect, test } from 'vitest';
import { emptyBase, type FieldStamp } from '#src/contacts/base.ts';
import type { FieldName } from '#src/contacts/desired.ts';
import { type Plan, planContact } from '#src/contacts/plan.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import { base, contact, desired, input, said } from './support/build.ts';

interface Pictures {
  said?: string | null;
  seen?: string | null;
  theirs: string | null;
  ours?: string | null;
  held?: boolean;
  adopt?: boolean;
  overtaken?: boolean;
}

const stampsOf = ({ overtaken }: Pictures, field: FieldName): readonly FieldStamp[] =>
  overtaken ? [{ feed: 'shop', sequence: 11, fields: [field] }] : [];

const optional = (value: string | null | undefined) => (value === undefined ? [] : [value]);

/** The same rules hold for a scalar and for a custom field: each test runs for both. */
const kinds = [
  {
    name: 'a scalar',
    field: 'role' as const,
    plan: (pictures: Pictures): Plan => {
      const role = (value: string | null) => contact({ scalars: { role: value } });
      const ours = optional(pictures.ours).map((value) => ({ role: value }))[0] ?? {};
      const scalars = optional(pictures.said).map((value) => ({ role: value }))[0] ?? {};
      return planContact(
        input({
          base: base({
            said: said({ scalars, held: pictures.held ? ['role'] : [] }),
            seen: pictures.seen === undefined ? null : role(pictures.seen),
            stamps: stampsOf(pictures, 'role'),
          }),
          adopt: pictures.adopt ?? false,
          theirs: role(pictures.theirs),
          ours: desired({ scalars: ours }),
        }),
      );
    },
    written: (plan: Plan): CustomFieldValue | undefined =>
      plan.kind === 'patch' ? plan.body.defaultFields.role : undefined,
  },
  {
    name: 'a custom field',
    field: 'custom.role' as const,
    plan: (pictures: Pictures): Plan => {
      const role = (value: string | null) => contact({ customFields: [['role', value]] });
      const fields = (value: string | null | undefined) => optional(value).map((one) => ({ key: 'role', value: one }));
      return planContact(
        input({
          base: base({
            said: said({ customFields: fields(pictures.said), held: pictures.held ? ['custom.role'] : [] }),
            seen: pictures.seen === undefined ? null : role(pictures.seen),
            owned: { ...emptyBase.owned, customFields: [{ key: 'role', value: pictures.theirs }] },
            stamps: stampsOf(pictures, 'custom.role'),
          }),
          adopt: pictures.adopt ?? false,
          theirs: role(pictures.theirs),
          ours: desired({ customFields: fields(pictures.ours) }),
        }),
      );
    },
    written: (plan: Plan): CustomFieldValue | undefined =>
      plan.kind === 'patch' ? plan.body.customFields[0]?.value : undefined,
  },
];

describe.each(kinds)('$name', ({ field, plan, written }) => {
  test('that is already as the file wants it is settled without a write', () => {
    expect(plan({ theirs: 'Buyer', ours: 'Buyer' })).toMatchObject({ kind: 'noop', body: null, reasons: [], held: [] });
    expect(plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Buyer', ours: 'Buyer' }).kind).toBe('noop');
  });

  test('that only the file changed is written', () => {
    const result = plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Clerk', ours: 'Buyer' });
    expect(written(result)).toBe('Buyer');
    expect(result.reasons).toEqual([{ field, from: 'Clerk', to: 'Buyer', why: 'changed' }]);
  });

  test('that only people changed is kept', () => {
    expect(plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Chief', ours: 'Clerk' }).kind).toBe('noop');
  });

  test('that both changed differently is held, and nothing is written for it', () => {
    const result = plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Chief', ours: 'Buyer' });
    expect(result).toMatchObject({ kind: 'hold', body: null, reasons: [] });
    expect(result.held).toEqual([{ field, said: 'Clerk', theirs: 'Chief', ours: 'Buyer' }]);
  });

  test('that both changed to the same value is settled', () => {
    expect(plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Buyer', ours: 'Buyer' }).kind).toBe('noop');
  });

  test('that the file never said before counts as changed by the file', () => {
    expect(written(plan({ seen: 'Clerk', theirs: 'Clerk', ours: 'Buyer' }))).toBe('Buyer');
    expect(plan({ seen: 'Clerk', theirs: 'Chief', ours: 'Buyer' }).kind).toBe('hold');
  });

  test('that never agreed is filled where it is empty, agrees where it differs in case only, and is held otherwise', () => {
    expect(written(plan({ theirs: null, ours: 'Buyer' }))).toBe('Buyer');
    expect(plan({ theirs: 'BUYER ', ours: 'Buyer' })).toMatchObject({ kind: 'noop', notes: [{ code: 'spelling' }] });
    expect(plan({ theirs: 'Clerk', ours: 'Buyer' }).kind).toBe('hold');
    expect(plan({ said: 'Clerk', theirs: 'Clerk', ours: 'Buyer' }).kind).toBe('hold');
  });

  test('that never agreed is written all the same where the file wins', () => {
    expect(written(plan({ theirs: 'Clerk', ours: 'Buyer', adopt: true }))).toBe('Buyer');
    expect(written(plan({ theirs: 'Clerk', ours: 'Buyer', held: true, adopt: true }))).toBe('Buyer');
    expect(plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Chief', ours: 'Buyer', adopt: true }).kind).toBe('hold');
  });

  test('that another feed has changed by a later file is left to it, and settled', () => {
    const result = plan({ said: 'Clerk', seen: 'Chief', theirs: 'Chief', ours: 'Buyer', overtaken: true });
    expect(result).toMatchObject({ kind: 'noop', passed: [field], notes: [{ code: 'overtaken' }] });
  });

  test('that is held stays held while the file insists, even when file and app agree meanwhile', () => {
    expect(plan({ said: 'Clerk', seen: 'Chief', theirs: 'Chief', ours: 'Buyer', held: true }).kind).toBe('hold');
    expect(plan({ said: 'Clerk', seen: 'Chief', theirs: 'Chief', ours: 'Owner', held: true }).kind).toBe('hold');
  });

  test('that is held is settled when the file takes its change back, or people agree with it', () => {
    expect(plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Chief', ours: 'Clerk', held: true })).toMatchObject({
      kind: 'noop',
      held: [],
    });
    expect(plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Buyer', ours: 'Buyer', held: true })).toMatchObject({
      kind: 'noop',
      held: [],
    });
  });

  test('that the file does not name is not touched', () => {
    expect(plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Chief' })).toMatchObject({ kind: 'noop', held: [] });
  });

  test('is cleared by null, and the clear is counted', () => {
    const result = plan({ said: 'Clerk', seen: 'Clerk', theirs: 'Clerk', ours: null });
    expect(written(result)).toBeNull();
    expect(result).toMatchObject({
      clears: 1,
      removals: 0,
      reasons: [{ field, from: 'Clerk', to: null, why: 'cleared' }],
    });
  });

  test('that is null already needs no clear', () => {
    expect(plan({ theirs: null, ours: null })).toMatchObject({ kind: 'noop', clears: 0 });
    expect(plan({ theirs: '', ours: null }).kind).toBe('noop');
  });

  test('that was empty and gets a value is an addition', () => {
    expect(plan({ theirs: null, ours: 'Buyer' }).reasons).toEqual([{ field, from: null, to: 'Buyer', why: 'added' }]);
  });

  test('differs when its case differs, and not when its Unicode form does', () => {
    expect(written(plan({ said: 'buyer', seen: 'buyer', theirs: 'buyer', ours: 'Buyer' }))).toBe('Buyer');
    expect(plan({ theirs: 'Jose\u0301', ours: 'Jos\u00e9' }).kind).toBe('noop');
  });
});

test('a patch may hold one field and write another', () => {
  const plan = planContact(
    input({
      base: base({
        said: said({ scalars: { role: 'Clerk', company: 'Old Ltd' } }),
        seen: contact({ scalars: { role: 'Clerk', company: 'Old Ltd' } }),
      }),
      theirs: contact({ scalars: { role: 'Chief', company: 'Old Ltd' } }),
      ours: desired({ scalars: { role: 'Buyer', company: 'New Ltd' } }),
    }),
  );
  expect(plan).toMatchObject({
    kind: 'patch',
    body: { defaultFields: { role: 'Chief', company: 'New Ltd' } },
    held: [{ field: 'role', theirs: 'Chief' }],
  });
});

test.each<[string, string, CustomFieldValue, CustomFieldValue, string]>([
  ['choices in another order', 'multi-select', ['b', 'a'], ['a', 'b'], 'noop'],
  ['a choice more', 'multi-select', ['a'], ['a', 'b'], 'patch'],
  ['a choice twice', 'multi-select', ['a', 'b'], ['a', 'a', 'b'], 'patch'],
  ['no choice and null', 'multi-select', [], null, 'noop'],
  ['one instant in two zones', 'date', '2026-03-01T10:00:00.000Z', '2026-03-01T12:00:00+02:00', 'noop'],
  ['a day and its midnight', 'date', '2026-03-01T00:00:00.000Z', '2026-03-01', 'noop'],
  ['two days', 'date', '2026-03-01', '2026-03-02', 'patch'],
  ['a number and its text', 'number', '5.0', 5, 'noop'],
  ['two numbers', 'number', 5, 6, 'patch'],
  ['a number and no number', 'number', 'five', 5, 'patch'],
  ['two truths', 'boolean', true, false, 'patch'],
  ['texts that look like one instant', 'string', '2026-03-01', '2026-03-01T00:00:00Z', 'patch'],
])('custom fields are compared by their type: %s', (_case, type, there, wanted, kind) => {
  const theirs = contact({ customFields: [['field', there, type]] });
  const ours = desired({ customFields: [{ key: 'field', value: wanted }] });
  expect(planContact(input({ base: base({ seen: theirs }), theirs, ours })).kind).toBe(kind);
});

test('a date without a zone is read as UTC, whatever zone the machine is in', () => {
  const theirs = contact({ customFields: [['since', '2026-03-01T10:00:00Z', 'date']] });
  const ours = desired({ customFields: [{ key: 'since', value: '2026-03-01T10:00' }] });
  expect(planContact(input({ theirs, ours })).kind).toBe('noop');
});

test('a custom field called __proto__ is a field like any other', () => {
  const ours = desired({ customFields: [{ key: '__proto__', value: 'x' }] });
  expect(planContact(input({ ours }))).toMatchObject({
    kind: 'patch',
    body: { customFields: [{ key: '__proto__', value: 'x' }] },
    reasons: [{ field: 'custom.__proto__' }],
  });
});

test('a custom field that a feed never named, and clears in its first row, is nothing to decide about, whoever changed it since', () => {
  const theirs = contact({ customFields: [['tier', 'silver']] });
  const agreed = [{ feed: null, values: [{ field: 'custom.tier', value: 'gold' } as const] }];
  const shop = {
    feed: 'shop',
    said: said({ customFields: [{ key: 'tier', value: 'gold' }] }),
    exists: true,
    owns: true,
  };
  const ours = desired({ customFields: [{ key: 'tier', value: null }] });
  const never = input({ theirs, ours, base: base({ agreed, others: [shop] }) });
  expect(planContact(never)).toMatchObject({
    kind: 'noop',
    held: [],
    verdicts: [{ decision: 'keep', why: 'notOurs' }],
  });
  const once = input({ theirs, ours, base: base({ agreed, said: shop.said }) });
  expect(planContact(once)).toMatchObject({ kind: 'hold', held: [{ field: 'custom.tier' }] });
});

test('a custom field that a feed clears is decided about by people where it is held, and where it was agreed to be empty', () => {
  const field = 'custom.tier' as const;
  const theirs = contact({ customFields: [['tier', 'silver']] });
  const ours = desired({ customFields: [{ key: 'tier', value: null }] });
  const held = base({ said: said({ held: [field] }) });
  const empty = base({ agreed: [{ feed: null, values: [{ field, value: null }] }] });
  for (const known of [held, empty])
    expect(planContact(input({ theirs, ours, base: known }))).toMatchObject({ kind: 'hold', held: [{ field }] });
});
