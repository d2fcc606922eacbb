/** What a person's decision about held fields moves (`docs/rules.md`, "Three pictures, one plan"). */
import { describe, expect, it } from 'vitest';
import type { HeldField } from '#src/contacts/outcome.ts';
import { planContact } from '#src/contacts/plan.ts';
import { contactOfTaken, isAsShown, takeApp, takeFile } from '#src/contacts/take-held.ts';
import { base, contact, desired, input, said } from './support/build.ts';

const role: HeldField = { field: 'role', said: 'X', ours: 'Z', theirs: 'Y' };
const tier: HeldField = { field: 'custom.tier', said: 'gold', ours: null, theirs: 'silver' };
const by = { feed: 'crm', sequence: 20 };

const before = base({
  said: said({
    scalars: { role: 'X', company: 'Pier' },
    customFields: [
      { key: 'tier', value: 'gold' },
      { key: 'zone', value: 'n' },
    ],
    held: ['role', 'custom.tier', 'company'],
  }),
  agreed: [{ feed: null, values: [{ field: 'role', value: 'X' }] }],
});
const decided = { ...before, said: before.said ?? said() };

describe('take app', () => {
  it('moves said to the file’s value, and the field waits no more; nothing else moves', () => {
    expect(takeApp(decided.said, [role, tier])).toEqual({
      ...decided.said,
      scalars: { role: 'Z', company: 'Pier' },
      customFields: [
        { key: 'zone', value: 'n' },
        { key: 'tier', value: null },
      ],
      held: ['company'],
    });
  });

  it('keeps the app’s value protected: the same file keeps it, another value is held', () => {
    const after = { ...before, said: takeApp(decided.said, [role]) };
    const theirs = contact({ scalars: { role: 'Y' } });
    const decision = (value: string) =>
      planContact(input({ base: after, theirs, ours: desired({ scalars: { role: value } }) })).verdicts[0]?.decision;
    expect(decision('Z')).toBe('keep');
    expect(decision('W')).toBe('hold');
  });
});

describe('take file', () => {
  const after = takeFile(decided, by, [role]);
  const planned = (theirs: string) =>
    planContact(
      input({
        base: { ...before, ...after },
        theirs: contact({ scalars: { role: theirs } }),
        ours: contactOfTaken('K-1', [role]),
      }),
    );

  it('moves agreed to the app’s value that was shown, for its feed alone; said stays what was settled', () => {
    expect(after.agreed).toEqual([
      { feed: null, values: [{ field: 'role', value: 'X' }] },
      { feed: 'crm', values: [{ field: 'role', value: 'Y' }] },
    ]);
    expect(after.said).toEqual({ ...decided.said, held: ['custom.tier', 'company'] });
    expect(after.owned).toBe(decided.owned);
  });

  it('lets the file’s value be written over the value that was shown, and over no other', () => {
    expect(planned('Y')).toMatchObject({ kind: 'patch', reasons: [{ field: 'role', from: 'Y', to: 'Z' }] });
    expect(planned('Y2')).toMatchObject({ kind: 'hold', held: [{ field: 'role', theirs: 'Y2', ours: 'Z' }] });
  });

  it('is newer than what another feed had said of the field, and older than what it says from then on', () => {
    const stamps = [{ feed: 'shop', sequence: 15, fields: ['role', 'company'] as const }];
    const stamped = takeFile({ ...decided, stamps }, by, [role]).stamps;
    expect(stamped).toEqual([
      { feed: 'shop', sequence: 15, fields: ['company'] },
      { feed: 'crm', sequence: 20, fields: ['role'] },
    ]);
  });

  it('of a custom field that the file clears lets the app’s value go', () => {
    const cleared = takeFile(decided, by, [tier]);
    const theirs = contact({ customFields: [['tier', 'silver']] });
    const plan = planContact(input({ base: { ...before, ...cleared }, theirs, ours: contactOfTaken('K-1', [tier]) }));
    expect(plan).toMatchObject({ kind: 'patch', clears: 1 });
  });
});

describe('a held field', () => {
  it('is as it was shown while both values are: case and spaces count', () => {
    expect(isAsShown({ ...role }, role)).toBe(true);
    expect(isAsShown({ ...role, theirs: 'y' }, role)).toBe(false);
    expect(isAsShown({ ...role, ours: 'Z ' }, role)).toBe(false);
    expect(isAsShown(null, role)).toBe(false);
  });

  it('becomes a contact that names it and nothing else', () => {
    expect(contactOfTaken('K-1', [role, tier])).toEqual(
      desired({ scalars: { role: 'Z' }, customFields: [{ key: 'tier', value: null }] }),
    );
  });
});
