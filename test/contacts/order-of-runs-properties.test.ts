/**
 * Algebra of runs (`docs/rules.md`, "Three pictures, one plan" and the order between feeds): what lies between two runs, and which of
 * two is worked on first, changes no verdict on a field.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Base, emptyBase, type PlanInput, type Said } from '#src/contacts/base.ts';
import type { DesiredContact, ScalarName } from '#src/contacts/desired.ts';
import { planContact } from '#src/contacts/plan.ts';
import { type FieldPolicy, type ItemPolicy, itemPolicies, type Policies } from '#src/contacts/policies.ts';
import { settle } from '#src/contacts/settle.ts';
import type { Contact } from '#src/wire/contact.ts';
import { fieldTypes } from './support/arbitraries.ts';
import { desired, slot } from './support/build.ts';
import { modelCreate, modelPatchReply, modelUpdate } from './support/service-model.ts';

const feeds = ['crm', 'shop'] as const;
type Feed = (typeof feeds)[number];
type Cells = Readonly<Partial<Record<ScalarName | 'phone' | 'label', string>>>;

/** One contact, what Patchbay remembers of it, and what each feed's file says. */
interface Night {
  readonly stored: Contact | null;
  readonly shared: Omit<Base, 'said' | 'others'>;
  readonly said: ReadonlyMap<Feed, Said>;
  readonly cells: ReadonlyMap<Feed, Cells>;
  readonly sequence: number;
  readonly policies: Policies;
  /** Of each row in turn: the fields that were held. */
  readonly held: readonly (readonly string[])[];
}

const firstNight = (policies: Policies): Night => ({
  policies,
  stored: null,
  shared: emptyBase,
  said: new Map(),
  cells: new Map(),
  sequence: 0,
  held: [],
});

/** Of the field and the list that the stories are about. */
const policiesFor = (role: FieldPolicy, items: ItemPolicy = 'owned'): Policies => ({
  fields: new Map([['role', role]]),
  emails: 'owned',
  phones: items,
});
const itemPolicy = fc.constantFrom(...itemPolicies);

const desiredOf = ({ phone, label = 'work', ...scalars }: Cells): DesiredContact =>
  desired({ scalars, phones: phone === undefined ? [] : [slot('phone', [label, phone])] });

/**
 * The feed's file: the cells given, and the others as they were. `sequence`: of an earlier arrival, worked on late. `isAlone`: the
 * other feed is gone at that time.
 */
function file(
  night: Night,
  feed: Feed,
  changed: Cells,
  { sequence = night.sequence + 1, isAlone = false }: { readonly sequence?: number; readonly isAlone?: boolean } = {},
): Night {
  const cells = { firstName: 'Ann', ...night.cells.get(feed), ...changed };
  const others = [...night.said].flatMap(([other, said]) =>
    other === feed ? [] : [{ feed: other, said, owns: !isAlone, exists: !isAlone }],
  );
  const base: Base = { ...night.shared, others, said: night.said.get(feed) ?? null };
  const choices = {
    itemRemoval: 'owned',
    policies: night.policies,
    isLinked: false,
    restores: false,
    adopt: false,
    yieldsItems: false,
    slotNames: null,
  } as const;
  const ours = desiredOf(cells);
  const pictures: PlanInput = { feed, sequence, sourceLabel: feed, base, theirs: night.stored, ours, ...choices };
  const plan = planContact(pictures);
  const stored =
    plan.kind === 'create'
      ? modelCreate(plan.body, 'c1', fieldTypes)
      : plan.kind === 'patch' && night.stored !== null
        ? modelUpdate(night.stored, plan.body, 'replace', fieldTypes)
        : night.stored;
  if (stored === null) throw new Error('a row makes its contact');
  const reply = plan.kind === 'patch' ? modelPatchReply(stored) : stored;
  const { said, others: moved, ...shared } = settle({ ...pictures, plan, reply });
  const saids = new Map(night.said).set(feed, said);
  for (const other of moved) saids.set(other.feed === 'crm' ? 'crm' : 'shop', other.said);
  return {
    stored,
    policies: night.policies,
    shared,
    said: saids,
    cells: new Map(night.cells).set(feed, cells),
    sequence: Math.max(night.sequence, sequence),
    held: [...night.held, plan.held.map(({ field }) => field)],
  };
}

function edit(night: Night, fields: Partial<Contact['defaultFields']>): Night {
  if (night.stored === null) return night;
  return { ...night, stored: { ...night.stored, defaultFields: { ...night.stored.defaultFields, ...fields } } };
}

/** All numbers get the label. */
function relabelled(night: Night, name: string): Night {
  const phones = night.stored?.defaultFields.phoneNumbers ?? [];
  return edit(night, { phoneNumbers: phones.map((item) => ({ ...item, name })) });
}

type Step =
  | { readonly feed: Feed; readonly cells: Cells }
  /** People's values are their own: what a file says too is agreed on by any run that happens to look. */
  | { readonly byHand: string }
  | { readonly labelByHand: string }
  | { readonly unrelated: Feed; readonly company: string | null; readonly isAlone: boolean };

const feed = fc.constantFrom(...feeds);
const role = fc.constantFrom('Buyer', 'BUYER', 'Clerk');
const phone = fc.constantFrom('+14155550100', '+14155550101');
const label = fc.constantFrom('work', 'mobile', 'cell');
const cells: fc.Arbitrary<Cells> = fc.record({ role, phone, label }, { requiredKeys: [] });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ feed, cells }),
  fc.record({ byHand: fc.constantFrom('by hand', 'BY HAND') }),
  fc.record({ labelByHand: fc.constantFrom('Handy', 'HANDY') }),
);
const otherCompany: fc.Arbitrary<string | null> = fc.constantFrom('Fir', 'Elm', null);
const unrelated: fc.Arbitrary<Step> = fc.record({
  unrelated: feed,
  company: otherCompany,
  isAlone: fc.constant(false),
});

/** Plays the steps; what is held of the company, and of unrelated runs, is left out. */
function play(
  steps: readonly Step[],
  policies: Policies,
): { stored: Contact | null; held: readonly (readonly string[])[] } {
  let night = firstNight(policies);
  const held: (readonly string[])[] = [];
  for (const one of steps) {
    if ('byHand' in one) night = edit(night, { role: one.byHand });
    else if ('labelByHand' in one) night = relabelled(night, one.labelByHand);
    else if ('feed' in one) {
      night = file(night, one.feed, one.cells);
      held.push((night.held.at(-1) ?? []).filter((field) => field !== 'company'));
    } else if (night.cells.has(one.unrelated)) {
      night = file(night, one.unrelated, one.company === null ? {} : { company: one.company }, {
        isAlone: one.isAlone,
      });
    }
  }
  return { stored: night.stored, held };
}

const phonesOf = (contact: Contact | null) => contact?.defaultFields.phoneNumbers.map(({ value }) => value).sort();
const labelsOf = (contact: Contact | null) =>
  contact?.defaultFields.phoneNumbers.map(({ name, value }) => `${value} ${name}`).sort();

const storyWithUnrelated = fc.array(fc.tuple(step, fc.array(unrelated, { maxLength: 2 })), { maxLength: 10 });
/** With `source` any row that is planned writes the file's value back: by its meaning an unrelated change of the row does, too. */
const quietPolicies = fc
  .tuple(fc.constantFrom<FieldPolicy>('shared', 'shared', 'fill', 'seed', 'app'), itemPolicy)
  .map(([role, items]) => policiesFor(role, items));

test('unrelated runs between two others change no verdict: neither a value, nor a label, nor a hold', () => {
  fc.assert(
    fc.property(storyWithUnrelated, quietPolicies, (story, policies) => {
      const plain = play(
        story.map(([one]) => one),
        policies,
      );
      const interrupted = play(
        story.flatMap(([one, between]) => [one, ...between]),
        policies,
      );
      expect(interrupted.held).toEqual(plain.held);
      expect(interrupted.stored?.defaultFields.role).toEqual(plain.stored?.defaultFields.role);
      expect(phonesOf(interrupted.stored)).toEqual(phonesOf(plain.stored));
      // Where lists are what files say, any row that is planned writes the file's label back.
      if (policies.phones !== 'all') expect(labelsOf(interrupted.stored)).toEqual(labelsOf(plain.stored));
    }),
    { numRuns: 500 },
  );
});

test('a feed that is gone while unrelated runs of another go by owns what it owned once it is back', () => {
  const alone = fc.record({ unrelated: feed, company: otherCompany, isAlone: fc.boolean() });
  const steps = fc.array(fc.tuple(step, fc.array(alone, { maxLength: 2 })), { maxLength: 10 });
  fc.assert(
    fc.property(steps, fc.constantFrom<ItemPolicy>('owned', 'none'), (story, items) => {
      const policies = policiesFor('shared', items);
      const plain = play(
        story.map(([one]) => one),
        policies,
      );
      const interrupted = play(
        story.flatMap(([one, between]) => [one, ...between]),
        policies,
      );
      expect(phonesOf(interrupted.stored)).toEqual(phonesOf(plain.stored));
    }),
    { numRuns: 500 },
  );
});

/** Some nights that both feeds have behind them. */
const past = fc.array(fc.record({ feed, cells }), { maxLength: 6 });

const writing = fc.constantFrom<FieldPolicy>('shared', 'source', 'app');

test('of two feeds’ changes of one field the later arrival stands, whichever row is worked on first', () => {
  fc.assert(
    fc.property(past, role, role, writing, (nights, first, second, policy) => {
      const start = firstNight(policiesFor(policy));
      const before = nights.reduce((night, one) => file(night, one.feed, one.cells), start);
      const changes = (given: Feed, value: string) => before.cells.get(given)?.role !== value;
      fc.pre(changes('crm', first) && changes('shop', second));
      const { sequence } = before;
      const inOrder = file(
        file(before, 'crm', { role: first }, { sequence: sequence + 1 }),
        'shop',
        { role: second },
        { sequence: sequence + 2 },
      );
      const late = file(
        file(before, 'shop', { role: second }, { sequence: sequence + 2 }),
        'crm',
        { role: first },
        { sequence: sequence + 1 },
      );
      expect(late.stored?.defaultFields.role).toBe(second);
      expect(inOrder.stored?.defaultFields.role).toBe(second);
    }),
    { numRuns: 500 },
  );
});

test('two feeds’ changes of numbers come to the same list, whichever row is worked on first', () => {
  fc.assert(
    fc.property(past, phone, phone, itemPolicy, (nights, first, second, policy) => {
      const start = firstNight(policiesFor('shared', policy));
      const before = nights.reduce((night, one) => file(night, one.feed, one.cells), start);
      const { sequence } = before;
      const inOrder = file(
        file(before, 'crm', { phone: first }, { sequence: sequence + 1 }),
        'shop',
        { phone: second },
        { sequence: sequence + 2 },
      );
      const late = file(
        file(before, 'shop', { phone: second }, { sequence: sequence + 2 }),
        'crm',
        { phone: first },
        { sequence: sequence + 1 },
      );
      expect(phonesOf(late.stored)).toEqual(phonesOf(inOrder.stored));
    }),
    { numRuns: 500 },
  );
});
