/**
 * Drift: what people changed of what a feed's file says, since file and app last agreed on it (`docs/rules.md`, "Drift"). A field that
 * waits for a person is no drift, nor is one whose policy leaves it to the app, nor what an undo took back or a person decided against.
 */
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import {
  agreedValue,
  type Base,
  type FieldValue,
  fieldTypeOf,
  fieldValueOf,
  isExactly,
  isTakenBack,
  type Said,
  saidValue,
} from './base.ts';
import {
  customFieldName,
  customValueOrNull,
  type DesiredContact,
  type DesiredItem,
  type DesiredScalars,
  type FieldName,
  itemFieldName,
  type Slot,
  sameCustomValue,
  scalarNames,
} from './desired.ts';
import { identitiesOf, listOf, wantedItems } from './merge.ts';
import { type Policies, policyOf } from './policies.ts';

/** `from`: what file and app agreed on; `to`: what the app holds now. */
export interface Drifted {
  readonly field: FieldName;
  readonly from: CustomFieldValue;
  readonly to: CustomFieldValue;
}

/** In the order of the contact's fields. */
export function driftOf(
  base: Pick<Base, 'agreed'> & { readonly said: Said },
  feed: string,
  policies: Policies,
  theirs: Contact,
): readonly Drifted[] {
  const { said, agreed } = base;
  const named: readonly FieldValue[] = [
    ...scalarNames.flatMap((field) => {
      const value = said.scalars[field];
      return value === undefined ? [] : [{ field, value }];
    }),
    ...said.customFields.map(({ key, value }) => ({ field: customFieldName(key), value })),
  ];
  const fields = named.flatMap(({ field, value }): readonly Drifted[] => {
    if (isTakenBack(agreed, field, value)) return [];
    const from = agreedValue(agreed, feed, field);
    const policy = policyOf(policies, field);
    if (from === undefined || said.held.includes(field) || (policy !== 'shared' && policy !== 'source')) return [];
    const to = customValueOrNull(fieldValueOf(theirs, field));
    return sameCustomValue(fieldTypeOf(theirs, field), from, to) ? [] : [{ field, from, to }];
  });
  const items = (['email', 'phone'] as const).flatMap((kind) => {
    const there = identitiesOf(kind, theirs);
    return [...wantedItems(kind, said[listOf[kind]])].flatMap(([identity, { value }]): readonly Drifted[] => {
      const field = itemFieldName(kind, identity);
      return there.has(identity) || isTakenBack(agreed, field, value) ? [] : [{ field, from: value, to: null }];
    });
  });
  return [...fields, ...items];
}

/** What the file says of the fields that drifted, and nothing else. */
export function contactOfDrift(key: string, said: Said, drift: readonly Drifted[]): DesiredContact {
  const fields = new Set(drift.map(({ field }) => field));
  const scalars: { -readonly [Name in keyof DesiredScalars]: DesiredScalars[Name] } = {};
  for (const name of scalarNames) {
    const value = said.scalars[name];
    if (fields.has(name) && value !== undefined) scalars[name] = value;
  }
  const has = (kind: string): boolean => drift.some(({ field }) => field.startsWith(`${kind}.`));
  return {
    key,
    scalars,
    source: null,
    emails: has('email') ? said.emails : [],
    phones: has('phone') ? said.phones : [],
    customFields: said.customFields.filter((one) => fields.has(customFieldName(one.key))),
    repairs: true,
  };
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
