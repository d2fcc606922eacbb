/**
 * People who left: what becomes of a contact whose key a full file of its feed no longer has, and of one whose key is back
 * (`docs/rules.md`, "People who left").
 *
 * It is an ordinary desired contact of the feed: what it clears or tags, the file says from now on, so that the three pictures
 * decide as ever, and a value that people or another feed put there stays.
 *
 * Who is back loses the tag: a row that says nothing of its field asks for that when it is staged (`withoutTag`), and when it is planned the
 * contact shows whether the tag is there (`whenBack`). From then on the feed says nothing of the field (`unsaidOf`).
 */
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import { type Base, fieldTypeOf, fieldValueOf, type OtherSaid, type Said, saidValue } from './base.ts';
import {
  alikeValue,
  customFieldName,
  type DesiredContact,
  type DesiredScalars,
  type FieldName,
  type FieldTag,
  type Slot,
  sameCustomValue,
  scalarNames,
} from './desired.ts';

/** `clear`: names of fields, or `emails` and `phones`. `tag`: the value that a field gets. */
export type MissingRule =
  | { readonly kind: 'report' }
  | { readonly kind: 'clear'; readonly fields: readonly string[] }
  | ({ readonly kind: 'tag' } & FieldTag);

/**
 * @param said what the feed's file said last of the contact.
 * @param others what others say of it: a field that a feed names which exists is neither cleared nor tagged.
 * @returns null where nothing is left to be done; what waits for a person is not tried again.
 */
export function contactOfMissing(
  key: string,
  rule: MissingRule,
  said: Said,
  others: readonly OtherSaid[],
): DesiredContact | null {
  if (rule.kind === 'report') return null;
  return rule.kind === 'clear' ? cleared(key, new Set(rule.fields), said, others) : tagged(key, rule, said, others);
}

const nothing = { scalars: {}, source: null, emails: [], phones: [], customFields: [] } as const;

function cleared(
  key: string,
  fields: ReadonlySet<string>,
  said: Said,
  others: readonly OtherSaid[],
): DesiredContact | null {
  const scalars: { -readonly [Name in keyof DesiredScalars]: DesiredScalars[Name] } = {};
  for (const name of scalarNames) {
    const isNamed = namedBy(others, name).length > 0;
    if (fields.has(name) && !said.held.includes(name) && (said.scalars[name] ?? null) !== null && !isNamed)
      scalars[name] = null;
  }
  const customFields = said.customFields.flatMap(({ key: field, value }) =>
    value !== null && fields.has(customFieldName(field)) && !said.held.includes(customFieldName(field))
      ? [{ key: field, value: null }]
      : [],
  );
  // What another feed's file names stays, as for any item (`merge.ts`).
  const emptied = (slots: readonly Slot[], list: string): readonly Slot[] =>
    fields.has(list) ? slots.filter(({ items }) => items.length > 0).map(({ slot }) => ({ slot, items: [] })) : [];
  const emails = emptied(said.emails, 'emails');
  const phones = emptied(said.phones, 'phones');
  const isEmpty = Object.keys(scalars).length + customFields.length + emails.length + phones.length === 0;
  return isEmpty ? null : { ...nothing, key, scalars, customFields, emails, phones };
}

function tagged(key: string, tag: FieldTag, said: Said, others: readonly OtherSaid[]): DesiredContact | null {
  const isNamed = namedBy(others, tag.field).length > 0;
  return isTagged(said, tag) || isNamed ? null : { ...nothing, key, ...member(tag.field, tag.value) };
}

/** What files of others name of the field; the one whose row was settled last comes last. The file of a feed that is gone comes no more. */
function namedBy(others: readonly OtherSaid[], field: FieldName): readonly CustomFieldValue[] {
  return others.flatMap(({ exists, said }) => {
    const value = exists ? (saidValue(said, field) ?? null) : null;
    return value === null ? [] : [value];
  });
}

/** Whether the feed says the tag of the contact, which is then on it unless it was changed since. */
function isTagged(said: Said, { field, value }: FieldTag): boolean {
  const before = saidValue(said, field);
  return before !== undefined && JSON.stringify(before) === JSON.stringify(value);
}

function member(field: FieldName, value: CustomFieldValue): Pick<DesiredContact, 'scalars' | 'customFields'> {
  const name = scalarNames.find((one) => one === field);
  if (name !== undefined) return { scalars: { [name]: value === null ? null : String(value) }, customFields: [] };
  return { scalars: {}, customFields: [{ key: field.slice('custom.'.length), value }] };
}

/** A row of a person who is back: the tag is to go, unless the row says something about its field. */
export function withoutTag(desired: DesiredContact, rule: MissingRule, said: Said): DesiredContact {
  if (rule.kind !== 'tag' || !isTagged(said, rule) || saidValue(desired, rule.field) !== undefined) return desired;
  const { field, value } = rule;
  return { ...withMember(desired, field, null), untag: { field, value } };
}

/**
 * What is wanted of the contact of a person who is back, as a read shows it. The tag makes way for what another feed's file says of the field;
 * where it is not there any more, or never was, the row says nothing of the field.
 */
export function whenBack(desired: DesiredContact, base: Base, theirs: Contact | null): DesiredContact {
  const { untag } = desired;
  if (untag === undefined) return desired;
  const { field, value } = untag;
  const named = namedBy(base.others, field).at(-1) ?? null;
  const isOn = theirs !== null && base.said !== null && isTagged(base.said, untag);
  const isSame = (other: CustomFieldValue) =>
    theirs !== null && alikeValue(fieldTypeOf(theirs, field), fieldValueOf(theirs, field), other);
  return isOn && isSame(value) && !sameCustomValue(null, named, value)
    ? withMember(desired, field, named)
    : withMember(desired, field);
}

/** The feed says nothing of the field of a tag that has gone. */
export function unsaidOf(said: Said, { untag }: DesiredContact): Said {
  return untag === undefined ? said : withMember(said, untag.field);
}

/** @param value absent: nothing is said of the field. */
function withMember<Fields extends Pick<DesiredContact, 'scalars' | 'customFields'>>(
  fields: Fields,
  field: FieldName,
  value?: CustomFieldValue,
): Fields {
  const { scalars, customFields } = value === undefined ? nothing : member(field, value);
  const others = Object.entries(fields.scalars).filter(([name]) => name !== field);
  return {
    ...fields,
    scalars: { ...Object.fromEntries(others), ...scalars },
    customFields: [...fields.customFields.filter(({ key }) => customFieldName(key) !== field), ...customFields],
  };
}
