import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agreedValue, emptyBase, fieldTypeOf, fieldValueOf, type PlanInput } from '#src/contacts/base.ts';
import { customValueOrNull, itemIdentity, sameCustomValue, scalarNames, scalarOf } from '#src/contacts/desired.ts';
import { type Plan, planContact } from '#src/contacts/plan.ts';
import { policyOf } from '#src/contacts/policies.ts';
import { verifyReply } from '#src/contacts/reply.ts';
import { settle } from '#src/contacts/settle.ts';
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import { desiredContact, fieldTypes, updateInput } from './support/arbitraries.ts';
import { input } from './support/build.ts';
import { modelCreate, modelPatchReply, modelUpdate, type PatchMode } from './support/service-model.ts';
import { customValuesOf, valuesOf } from './support/values-of.ts';

const runs = { numRuns: 300 };
const modes: readonly PatchMode[] = ['merge', 'replace'];

function carryOut(plan: Plan, theirs: Contact, mode: PatchMode): Contact {
  return plan.kind === 'patch' ? modelUpdate(theirs, plan.body, mode, fieldTypes) : theirs;
}

test('a patch gives the same contact under merge and under replace, and the reply holds what was expected', () => {
  fc.assert(
    fc.property(updateInput, (pictures) => {
      const plan = planContact(pictures);
      fc.pre(plan.kind === 'patch');
      const [merged, replaced] = modes.map((mode) => carryOut(plan, pictures.theirs, mode));
      if (merged === undefined || replaced === undefined) throw new Error('two modes');
      expect(valuesOf(merged)).toEqual(valuesOf(replaced));
      expect(merged.defaultFields).toEqual(replaced.defaultFields);
      expect(verifyReply(plan.expected, modelPatchReply(merged))).toEqual({
        matches: true,
        differences: [],
        warnings: [],
      });
    }),
    runs,
  );
});

test('a plan gives reasons if and only if the contact changes, and is a patch if and only if it gives reasons', () => {
  fc.assert(
    fc.property(updateInput, (pictures) => {
      const plan = planContact(pictures);
      const after = carryOut(plan, pictures.theirs, 'replace');
      const isChanged = JSON.stringify(valuesOf(after)) !== JSON.stringify(valuesOf(pictures.theirs));
      expect(isChanged).toBe(plan.reasons.length > 0);
      expect(plan.kind === 'patch').toBe(plan.reasons.length > 0);
    }),
    runs,
  );
});

test('a create holds what was expected, and planning again finds nothing to do', () => {
  fc.assert(
    fc.property(desiredContact, (ours) => {
      const whole = input({ theirs: null, ours });
      const plan = planContact(whole);
      if (plan.kind !== 'create') throw new Error('a create');
      const stored = modelCreate(plan.body, 'c1', fieldTypes);
      expect(verifyReply(plan.expected, stored)).toEqual({ matches: true, differences: [], warnings: [] });
      const next = planContact({ ...whole, base: settle({ ...whole, plan, reply: stored }), theirs: stored });
      expect(next).toMatchObject({ kind: 'noop', held: [], notes: [] });
      // Nor does a contact found without any memory of its create need a write.
      expect(planContact({ ...whole, base: emptyBase, theirs: stored }).kind).toBe('noop');
    }),
    runs,
  );
});

test('planning again after settling finds nothing to do, and holds the same fields', () => {
  fc.assert(
    fc.property(updateInput, fc.constantFrom(...modes), (pictures, mode) => {
      const plan = planContact(pictures);
      const stored = carryOut(plan, pictures.theirs, mode);
      const reply = plan.kind === 'patch' ? modelPatchReply(stored) : stored;
      const { others: moved, ...after } = settle({ ...pictures, plan, reply });
      const others = pictures.base.others.map((one) => moved.find(({ feed }) => feed === one.feed) ?? one);
      const again: PlanInput = { ...pictures, base: { ...after, others }, theirs: stored };
      const next = planContact(again);
      expect(next.kind).toBe(plan.held.length === 0 ? 'noop' : 'hold');
      expect(next.held).toEqual(plan.held);
      expect(next.reasons).toEqual([]);
      const settledAgain = settle({ ...again, plan: next, reply: stored });
      expect(settledAgain.said).toEqual(again.base.said);
      expect(settledAgain.owned).toEqual(again.base.owned);
      expect(settledAgain.agreed).toEqual(again.base.agreed);
      expect(settledAgain.stamps).toEqual(again.base.stamps);
      expect(settledAgain.others).toEqual([]);
      // The id of a new custom field is in no reply to a patch: only the next read brings it.
      expect(valuesOf(settledAgain.seen)).toEqual(again.base.seen === null ? null : valuesOf(again.base.seen));
    }),
    runs,
  );
});

test('what the file does not name never changes', () => {
  fc.assert(
    fc.property(updateInput, fc.constantFrom(...modes), (pictures, mode) => {
      const { ours, theirs } = pictures;
      const after = carryOut(planContact(pictures), theirs, mode);
      for (const name of scalarNames) {
        if (ours.scalars[name] === undefined) expect(scalarOf(after, name)).toBe(scalarOf(theirs, name));
      }
      const named = new Set(ours.customFields.map((field) => field.key));
      for (const [key, value] of customValuesOf(theirs)) {
        if (!named.has(key)) expect(customValuesOf(after).get(key)).toEqual(value);
      }
    }),
    runs,
  );
});

test('an item that this feed never said, that Patchbay never wrote or that another feed names is never removed, unless the file says the whole list', () => {
  fc.assert(
    fc.property(updateInput, fc.constantFrom(...modes), (pictures, mode) => {
      const { base, itemRemoval, theirs } = pictures;
      const after = carryOut(planContact(pictures), theirs, mode);
      const lists = [
        ['email', 'emails', 'emails'],
        ['phone', 'phones', 'phoneNumbers'],
      ] as const;
      for (const [kind, list, wire] of lists) {
        const identities = (slots: readonly { items: readonly { value: string }[] }[]) =>
          new Set(slots.flatMap((slot) => slot.items.map((item) => itemIdentity(kind, item.value))));
        const said = identities(base.said?.[list] ?? []);
        const wanted = identities(pictures.ours[list]);
        const mine = new Set(base.owned[list]);
        const others = identities(base.others.filter(({ owns }) => owns).flatMap((other) => other.said[list]));
        for (const { id, value } of theirs.defaultFields[wire]) {
          if (after.defaultFields[wire].some((item) => item.id === id && item.value === value)) continue;
          const identity = itemIdentity(kind, value ?? '');
          const isNamed = wanted.has(identity) || others.has(identity);
          expect([itemRemoval, isNamed]).toEqual(['owned', false]);
          const isUnread = (slot: string) => pictures.ours[list].some((one) => one.partial && one.slot === slot);
          const kept = identities((base.said?.[list] ?? []).filter(({ slot }) => isUnread(slot)));
          expect(kept.has(identity)).toBe(false);
          const saysAll = pictures.policies[list] === 'all' && !pictures.ours[list].some(({ partial }) => partial);
          if (!saysAll) expect([said.has(identity), mine.has(identity)]).toEqual([true, true]);
          expect(pictures.policies[list]).not.toBe('none');
        }
      }
    }),
    runs,
  );
});

test('only what the policy of a field allows is written over, and nothing that Patchbay did not put there', () => {
  fc.assert(
    fc.property(updateInput, (pictures) => {
      const { base, feed, adopt, isLinked, policies, theirs } = pictures;
      for (const { field, decision } of planContact(pictures).verdicts) {
        const there = fieldValueOf(theirs, field);
        const type = fieldTypeOf(theirs, field);
        const same = (value: CustomFieldValue | undefined) =>
          value !== undefined && sameCustomValue(type, value, there);
        const agreed = agreedValue(base.agreed, feed, field);
        const isEmpty = customValueOrNull(there) === null;
        const isUntouched = same(agreed) || (agreed === undefined && isEmpty);
        const policy = policyOf(policies, field);
        if (decision === 'hold') expect(policy === 'shared' || (policy === 'source' && isLinked)).toBe(true);
        if (decision !== 'write') continue;
        const mayBe = {
          // What drifted is written back where that was asked for.
          shared: isUntouched || (adopt && agreed === undefined) || (pictures.restores && agreed !== undefined),
          source: !isLinked || agreed !== undefined || isEmpty || adopt,
          fill: isEmpty,
          seed: false,
          app: isUntouched,
        };
        expect(mayBe[policy], `${field} (${policy})`).toBe(true);
      }
    }),
    runs,
  );
});

test('the same pictures give the same plan, and are left as they were', () => {
  fc.assert(
    fc.property(updateInput, (pictures) => {
      const before = structuredClone(pictures);
      const plan = planContact(pictures);
      settle({ ...pictures, plan, reply: pictures.theirs });
      expect(pictures).toEqual(before);
      expect(planContact(before)).toEqual(plan);
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
    }),
    runs,
  );
});
