/** The table of cases in `src/contacts/policies.ts`, line by line; and the lists of items. */
import { describe, expect, test } from 'vitest';
import type { DesiredContact, FieldName } from '#src/contacts/desired.ts';
import { type Plan, planContact } from '#src/contacts/plan.ts';
import {
  type FieldPolicy,
  type ItemPolicy,
  itemRules,
  mayClear,
  mayWrite,
  usualPolicies,
} from '#src/contacts/policies.ts';
import type { Contact } from '#src/wire/contact.ts';
import { base, contact, desired, input, owned, said, slot } from './support/build.ts';

interface Case {
  readonly said?: string | null;
  readonly agreed?: string | null;
  readonly theirs: string | null;
  readonly ours: string | null;
  /** The run of the other feed that changed the field last; the run at hand is 10. */
  readonly otherFeed?: number;
  readonly held?: true;
  readonly adopt?: true;
  readonly linked?: true;
}

const kinds = [
  {
    kind: 'a scalar',
    field: 'role' as FieldName,
    there: (value: string | null) => contact({ scalars: { role: value } }),
    wanted: (value: string | null): Partial<DesiredContact> => ({ scalars: { role: value } }),
  },
  {
    kind: 'a custom field',
    field: 'custom.role' as FieldName,
    there: (value: string | null) => contact({ customFields: [['role', value]] }),
    wanted: (value: string | null): Partial<DesiredContact> => ({ customFields: [{ key: 'role', value }] }),
  },
] as const;

function planOf({ field, there, wanted }: (typeof kinds)[number], policy: FieldPolicy, one: Case): Plan {
  const { otherFeed, held } = one;
  const before = one.said === undefined ? {} : wanted(one.said);
  const theirs: Contact = there(one.theirs);
  return planContact(
    input({
      policies: { ...usualPolicies, fields: new Map([[field, policy]]) },
      base: base({
        said: said({ ...before, held: held ? [field] : [] }),
        agreed: one.agreed === undefined ? [] : [{ feed: null, values: [{ field, value: one.agreed }] }],
        stamps: otherFeed === undefined ? [] : [{ feed: 'shop', sequence: otherFeed, fields: [field] }],
        owned: { emails: [], phones: [], customFields: [{ key: 'role', value: one.theirs }] },
      }),
      theirs,
      ours: desired(wanted(one.ours)),
      adopt: one.adopt ?? false,
      isLinked: one.linked ?? false,
    }),
  );
}

const peopleChanged = { said: 'Clerk', agreed: 'Clerk', theirs: 'Chief' };
const untouched = { said: 'Clerk', agreed: 'Clerk', theirs: 'Clerk' };
const emptied = { said: 'Clerk', agreed: 'Clerk', theirs: null };

describe.each(kinds)('$kind', (kind) => {
  const decided = (policy: FieldPolicy, one: Case) => planOf(kind, policy, one).verdicts[0]?.decision;

  test.each<[FieldPolicy, string, Case, string]>([
    ['source', 'is written when only people changed it', { ...peopleChanged, ours: 'Clerk' }, 'write'],
    ['source', 'is written when both changed it', { ...peopleChanged, ours: 'Buyer' }, 'write'],
    ['source', 'is written when it was held', { ...peopleChanged, ours: 'Buyer', held: true }, 'write'],
    ['source', 'is put back when people emptied it', { ...emptied, ours: 'Clerk' }, 'write'],
    ['source', 'is written over what it never agreed on', { theirs: 'Chief', ours: 'Buyer' }, 'write'],
    ['source', 'is held over that for a linked contact', { theirs: 'Chief', ours: 'Buyer', linked: true }, 'hold'],
    ['source', 'is filled for a linked contact', { theirs: null, ours: 'Buyer', linked: true }, 'write'],
    ['source', 'leaves a later change to another feed', { ...untouched, ours: 'Buyer', otherFeed: 11 }, 'pass'],
    ['source', 'repeated, leaves another feed its change', { ...peopleChanged, ours: 'Clerk', otherFeed: 9 }, 'keep'],
    [
      'source',
      'leaves what the service stores so',
      { said: 'Clerk', agreed: 'clerk', theirs: 'clerk', ours: 'Clerk' },
      'keep',
    ],
    [
      'source',
      'corrects case that people changed',
      { said: 'Clerk', agreed: 'Clerk', theirs: 'CLERK', ours: 'Clerk' },
      'write',
    ],
    ['fill', 'is written where there is nothing', { theirs: null, ours: 'Buyer' }, 'write'],
    ['fill', 'is not written over what it filled itself', { ...untouched, ours: 'Buyer' }, 'keep'],
    ['fill', 'is not written over what people wrote', { ...peopleChanged, ours: 'Buyer' }, 'keep'],
    ['fill', 'is not written over that with --adopt', { theirs: 'Chief', ours: 'Buyer', adopt: true }, 'keep'],
    ['fill', 'clears nothing', { ...untouched, ours: null }, 'keep'],
    ['fill', 'stays empty where people emptied it', { ...emptied, ours: 'Clerk' }, 'keep'],
    [
      'fill',
      'stays empty where people emptied what the file never wrote',
      { said: 'Clerk', theirs: null, ours: 'Clerk' },
      'keep',
    ],
    [
      'fill',
      'stays empty where an undo took it back',
      { said: 'Clerk', agreed: null, theirs: null, ours: 'Clerk' },
      'keep',
    ],
    ['fill', 'is filled with another value after people emptied it', { ...emptied, ours: 'Buyer' }, 'write'],
    [
      'fill',
      'stays empty where another feed emptied it',
      { said: 'Clerk', theirs: null, ours: 'Clerk', otherFeed: 9 },
      'keep',
    ],
    ['fill', 'leaves a later change to another feed', { theirs: null, ours: 'Buyer', otherFeed: 11 }, 'pass'],
    ['seed', 'is not written over what it made', { ...untouched, ours: 'Buyer' }, 'keep'],
    ['seed', 'is not filled', { theirs: null, ours: 'Buyer' }, 'keep'],
    ['seed', 'clears nothing', { ...untouched, ours: null }, 'keep'],
    ['seed', 'is not written with --adopt', { theirs: 'Chief', ours: 'Buyer', adopt: true }, 'keep'],
    ['app', 'is written while nobody changed it', { ...untouched, ours: 'Buyer' }, 'write'],
    ['app', 'is written where there is nothing', { theirs: null, ours: 'Buyer' }, 'write'],
    ['app', 'is cleared while nobody changed it', { ...untouched, ours: null }, 'write'],
    ['app', 'is the app’s once people changed it', { ...peopleChanged, ours: 'Buyer' }, 'keep'],
    ['app', 'is the app’s once people emptied it', { ...emptied, ours: 'Buyer' }, 'keep'],
    ['app', 'is the app’s where it never agreed', { theirs: 'Chief', ours: 'Buyer' }, 'keep'],
    ['app', 'is the app’s with --adopt', { theirs: 'Chief', ours: 'Buyer', adopt: true }, 'keep'],
    ['app', 'leaves a later change to another feed', { ...untouched, ours: 'Buyer', otherFeed: 11 }, 'pass'],
  ])('with policy %s %s', (policy, _, one, decision) => {
    expect(decided(policy, one)).toBe(decision);
  });

  test.each<FieldPolicy>(['source', 'fill', 'seed', 'app'])('with policy %s is not held any more', (policy) => {
    const plan = planOf(kind, policy, { ...peopleChanged, ours: 'Buyer', held: true });
    expect(plan.held).toEqual([]);
  });

  test.each<FieldPolicy>(['shared', 'source', 'fill', 'seed', 'app'])(
    'with policy %s is written by a create',
    (policy) => {
      const policies = { ...usualPolicies, fields: new Map([[kind.field, policy]]) };
      const plan = planContact(input({ theirs: null, policies, ours: desired(kind.wanted('Buyer')) }));
      expect(plan).toMatchObject({ kind: 'create', reasons: [{ field: kind.field, to: 'Buyer' }] });
    },
  );
});

test('guards count what a policy may write and clear', () => {
  const all: readonly FieldPolicy[] = ['shared', 'source', 'fill', 'seed', 'app'];
  expect(all.filter(mayWrite)).toEqual(['shared', 'source', 'fill', 'app']);
  expect(all.filter(mayClear)).toEqual(['shared', 'source', 'app']);
});

const [ours, dropped, theirs] = ['+14155550100', '+14155550101', '+14155550102'];

describe('a list of phones', () => {
  /** On the contact: one that the file names, one that it named before, one of people. */
  const plan = (policy: ItemPolicy, given: Partial<DesiredContact>, removal: 'owned' | 'none' = 'owned') =>
    planContact(
      input({
        policies: { ...usualPolicies, phones: policy },
        itemRemoval: removal,
        base: base({
          said: said({ phones: [slot('phone', ['work', ours], ['work', dropped])] }),
          owned: owned('phones', ours, dropped),
        }),
        theirs: contact({
          phones: [
            ['work', ours],
            ['work', dropped],
            ['by hand', theirs],
          ],
        }),
        ours: desired(given),
      }),
    );
  const removed = (made: Plan) => made.reasons.filter(({ why }) => why === 'removed').map(({ from }) => from);

  test.each<[ItemPolicy, readonly string[]]>([
    ['owned', [dropped]],
    ['all', [dropped, theirs]],
    ['none', []],
  ])('with policy %s loses %s', (policy, gone) => {
    expect(removed(plan(policy, { phones: [slot('phone', ['work', ours])] }))).toEqual(gone);
  });

  test('with policy all loses nothing where the row says nothing about phones', () => {
    expect(plan('all', { scalars: { role: 'Buyer' } }).removals).toBe(0);
  });

  test('with policy all is emptied by a cell that clears', () => {
    expect(removed(plan('all', { phones: [slot('phone')] }))).toEqual([ours, dropped, theirs]);
  });

  test('with policy all keeps what another feed names', () => {
    const other = { feed: 'shop', owns: true, exists: true, said: said({ phones: [slot('desk', ['desk', theirs])] }) };
    const made = planContact(
      input({
        policies: { ...usualPolicies, phones: 'all' },
        base: base({ others: [other] }),
        theirs: contact({ phones: [['desk', theirs]] }),
        ours: desired({ phones: [slot('phone', ['work', theirs])] }),
      }),
    );
    expect(made).toMatchObject({ kind: 'noop', removals: 0 });
  });

  test('loses nothing where the configuration removes nothing', () => {
    expect(plan('all', { phones: [slot('phone', ['work', ours])] }, 'none').removals).toBe(0);
  });

  test('with policy all gets back what people removed, and the label of the file', () => {
    const made = planContact(
      input({
        policies: { ...usualPolicies, phones: 'all' },
        base: base({ said: said({ phones: [slot('phone', ['work', ours], ['work', dropped])] }) }),
        theirs: contact({ phones: [['by hand', ours]] }),
        ours: desired({ phones: [slot('phone', ['work', ours], ['work', dropped])] }),
      }),
    );
    expect(made.reasons.map(({ why, to }) => [why, to])).toEqual([
      ['relabelled', 'work'],
      ['added', dropped],
    ]);
    expect(made.written.phones).toEqual([dropped, ours]);
  });
});

test.each<[FieldPolicy, number, string]>([
  ['shared', 9, 'write'],
  ['shared', 11, 'keep'],
  ['source', 9, 'write'],
  ['source', 11, 'keep'],
])(
  'under the policy %s what another feed says, too, is put back, unless its change came later (%i: %s)',
  (policy, sequence, decision) => {
    const role = { scalars: { role: 'Clerk' } };
    const { verdicts } = planContact(
      input({
        policies: { ...usualPolicies, fields: new Map([['role', policy]]) },
        base: base({
          said: said(role),
          others: [{ feed: 'shop', owns: true, exists: true, said: said(role) }],
          agreed: [{ feed: null, values: [{ field: 'role', value: 'Clerk' }] }],
          stamps: [{ feed: 'shop', sequence, fields: ['role'] }],
        }),
        theirs: contact({ scalars: { role: 'Chief' } }),
        ours: desired(role),
        restores: true,
      }),
    );
    expect(verdicts).toMatchObject([{ field: 'role', decision }]);
  },
);

test('under the policy source a cleared custom field stays where the configuration removes nothing', () => {
  const role = { key: 'role', value: 'Buyer' };
  const verdictsOf = (itemRemoval: 'owned' | 'none') =>
    planContact(
      input({
        itemRemoval,
        policies: { ...usualPolicies, fields: new Map([['custom.role', 'source']]) },
        base: base({
          said: said({ customFields: [role] }),
          agreed: [{ feed: null, values: [{ field: 'custom.role', value: role.value }] }],
        }),
        theirs: contact({ customFields: [['role', role.value]] }),
        ours: desired({ customFields: [{ key: 'role', value: null }] }),
      }),
    ).verdicts;
  expect(verdictsOf('owned')).toMatchObject([{ decision: 'write' }]);
  expect(verdictsOf('none')).toMatchObject([{ decision: 'keep', why: 'notOurs' }]);
});

test('under the policy all no item is removed that a value may be which could not be read', () => {
  const removes = (partial: boolean) =>
    itemRules('all', 'owned', [{ slot: 'phone', items: [], ...(partial ? { partial } : {}) }]).removes;
  expect([removes(false), removes(true)]).toEqual(['all', 'owned']);
});
