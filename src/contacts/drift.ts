/**
 * Drift: what people changed of what a feed's file says, since file and app last agreed on that (`docs/rules.md`, "Drift"). A field that
 * waits for a person is no drift, nor is one whose policy leaves it to the app, nor what an undo took back or a person decided against,
 * nor one that another feed's later change has settled with another value.
 *
 * Invariant: what drifted is what a repair writes, since one plan tells both.
 */
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import {
  agreedValue,
  emptySaid,
  fieldTypeOf,
  isExactly,
  isTakenBack,
  type PlanInput,
  type Said,
  saidValue,
} from './base.ts';
import {
  customFieldName,
  type DesiredContact,
  type DesiredItem,
  type DesiredScalars,
  type FieldName,
  type Slot,
  sameCustomValue,
  scalarNames,
} from './desired.ts';
import { itemOf } from './items.ts';
import { planUpdate } from './plan.ts';

/** `from`: what the file says, and file and app agreed on; `to`: what the app holds now. */
export interface Drifted {
  readonly field: FieldName;
  readonly from: CustomFieldValue;
  readonly to: CustomFieldValue;
}

/** Scalars and custom fields first, then items. @param input as a repair would have it. */
export function driftOf(input: Omit<PlanInput, 'theirs' | 'ours' | 'restores'>, theirs: Contact): readonly Drifted[] {
  const { feed, base } = input;
  const said = base.said ?? emptySaid;
  const ours = contactSaid(theirs.externalId ?? '', said, (field) => !said.held.includes(field));
  const plan = planUpdate({ ...input, theirs, ours, restores: true }, theirs);
  const written = plan.verdicts.filter(({ decision }) => decision === 'write');
  const fields = written.flatMap(({ field, ours: from, theirs: to }): readonly Drifted[] => {
    const agreed = agreedValue(base.agreed, feed, field);
    const isChanged = agreed !== undefined && !sameCustomValue(fieldTypeOf(theirs, field), agreed, to);
    return isChanged ? [{ field, from, to }] : [];
  });
  const items = plan.reasons.flatMap(({ field, to, why }): readonly Drifted[] =>
    itemOf(field) !== null && why === 'added' ? [{ field, from: to, to: null }] : [],
  );
  return [...fields, ...items].filter(({ field, from }) => !isTakenBack(base.agreed, field, from));
}

/** What the file says of the fields that drifted, and nothing else. */
export function contactOfDrift(key: string, said: Said, drift: readonly Drifted[]): DesiredContact {
  const fields = new Set(drift.map(({ field }) => field));
  const has = (kind: string): boolean => drift.some(({ field }) => field.startsWith(`${kind}.`));
  return {
    ...contactSaid(key, said, (field) => fields.has(field)),
    emails: has('email') ? said.emails : [],
    phones: has('phone') ? said.phones : [],
    repairs: true,
  };
}

/** What the file says of all but the fields that wait for a person, for another contact that has the key by now. */
export function contactOfMoved(key: string, said: Said): DesiredContact {
  return { ...contactSaid(key, said, (field) => !said.held.includes(field)), repairs: true };
}

/** What the file says of e-mails and phones, and of the fields that are chosen. */
function contactSaid(
  key: string,
  { emails, phones, ...said }: Said,
  isChosen: (field: FieldName) => boolean,
): DesiredContact {
  const scalars: { -readonly [Name in keyof DesiredScalars]: DesiredScalars[Name] } = {};
  for (const name of scalarNames) {
    const value = said.scalars[name];
    if (isChosen(name) && value !== undefined) scalars[name] = value;
  }
  const customFields = said.customFields.filter((one) => isChosen(customFieldName(one.key)));
  return { key, scalars, source: null, emails, phones, customFields };
}

/** Whether the feed still says all that such a contact is to be given, and no person is asked about it: a repair of it writes nothing older. */
export function isStillSaid(said: Said, { scalars, customFields, emails, phones }: DesiredContact): boolean {
  const fields: readonly FieldName[] = [
    ...scalarNames.filter((name) => scalars[name] !== undefined),
    ...customFields.map(({ key }) => customFieldName(key)),
  ];
  const isField = (field: FieldName): boolean => {
    const [now, then] = [saidValue(said, field), saidValue({ scalars, customFields }, field)];
    return now !== undefined && then !== undefined && isExactly(now, then) && !said.held.includes(field);
  };
  const isSlot = (slots: readonly Slot[], slot: Slot): boolean => slots.some((one) => isSameSlot(one, slot));
  return (
    fields.every(isField) &&
    emails.every((slot) => isSlot(said.emails, slot)) &&
    phones.every((slot) => isSlot(said.phones, slot))
  );
}

function isSameSlot(one: Slot, other: Slot): boolean {
  const isItem = (of: DesiredItem): boolean =>
    one.items.some(({ label, value }) => label === of.label && value === of.value);
  const isAlike = one.slot === other.slot && one.whole === other.whole && one.items.length === other.items.length;
  return isAlike && other.items.every(isItem);
}
