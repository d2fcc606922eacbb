/** What is drift (`docs/rules.md`, "Drift"), of one contact; runs with `--verify` and `--repair` have tests of their own. */
import { describe, expect, it } from 'vitest';
import { type Agreement, type Base, isTakenBack, withoutValues, withTakenBack } from '#src/contacts/base.ts';
import { driftOf } from '#src/contacts/drift.ts';
import { planContact } from '#src/contacts/plan.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import { base, contact, desired, input, owned, said, slot } from './support/build.ts';

describe('a number that the service spells as text', () => {
  const seats = { key: 'seats', value: 42 };
  const field = 'custom.seats' as const;
  const stored = contact({ customFields: [['seats', '42', 'number']] });
  /** A service lists no field without a value, so that its type is not known. */
  const cleared = contact();
  const known = (agreed: readonly Agreement[] = []): Base =>
    base({
      said: said({ customFields: [seats] }),
      seen: stored,
      agreed: [{ feed: null, values: [{ field, value: '42' }] }, ...agreed],
      owned: { emails: [], phones: [], customFields: [seats] },
    });
  const takenBack = (value: CustomFieldValue): Agreement => ({
    feed: null,
    values: [{ field, value }],
    isTakenBack: true,
  });

  it('is drift where people cleared it, and a repair writes it back', () => {
    const { ours: _, theirs: __, ...rest } = input({ base: known() });
    expect(driftOf(rest, cleared)).toEqual([{ field, from: 42, to: null }]);
    expect(driftOf(rest, stored)).toEqual([]);
    const repaired = planContact({
      ...rest,
      theirs: cleared,
      ours: desired({ customFields: [seats] }),
      restores: true,
    });
    expect(repaired.body).toMatchObject({ customFields: [seats] });
  });

  it('is no drift where an undo took it back', () => {
    const { ours: _, theirs: __, ...rest } = input({ base: known([takenBack('42')]) });
    expect(driftOf(rest, cleared)).toEqual([]);
  });

  it("is the feed's own, so that its file clears it", () => {
    const ours = desired({ customFields: [{ key: 'seats', value: null }] });
    const { body } = planContact(input({ base: known(), theirs: stored, ours }));
    expect(body).toMatchObject({ customFields: [{ key: 'seats', value: null }] });
  });
});

it('of two numbers that the contact has lost, a repair puts back the one that people removed, and not the one that an undo took', () => {
  const [removed, taken] = ['+14155550101', '+14155550102'] as const;
  const phones = [slot('phone', ['work', removed], ['work', taken])];
  const known = base({
    said: said({ phones }),
    agreed: [{ feed: null, values: [{ field: `phone.${taken}`, value: taken }], isTakenBack: true }],
    owned: owned('phones', removed),
  });
  const { ours: _, theirs: __, ...rest } = input({ base: known });
  expect(driftOf(rest, contact())).toEqual([{ field: `phone.${removed}`, from: removed, to: null }]);
  const { reasons } = planContact({ ...rest, theirs: contact(), ours: desired({ phones }), restores: true });
  expect(reasons).toMatchObject([{ why: 'added', to: removed }]);
});

it('of a field whose value an undo took back twice, the value of the second time alone is no drift', () => {
  const once = withTakenBack(
    [],
    [
      { field: 'role', value: 'Clerk' },
      { field: 'company', value: 'Elm' },
    ],
  );
  const twice = withTakenBack(once, [{ field: 'role', value: 'Buyer' }]);
  const values = [
    ['role', 'Clerk'],
    ['role', 'Buyer'],
    ['company', 'Elm'],
  ] as const;
  expect(values.map(([field, value]) => isTakenBack(twice, field, value))).toEqual([false, true, true]);
  // That the field is agreed on no longer changes nothing of it.
  expect(withoutValues(twice, () => true)).toEqual(twice);
});
