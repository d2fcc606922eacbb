/**
 * People who left: what becomes of a contact whose key a full file of its feed no longer has (`docs/rules.md`, "People who left").
 *
 * It is an ordinary desired contact of the feed: what it clears, the file says to be gone from now on, so that the three pictures
 * decide as ever, and a value that people or another feed put there stays.
 */
import type { CustomFieldValue } from '#src/wire/contact.ts';
import type { Said } from './base.ts';
import { customFieldName, type DesiredContact, type DesiredScalars, type Slot, scalarNames } from './desired.ts';

/** `clear`: names of fields, or `emails` and `phones`. `tag`: the value that a field gets. */
export type MissingRule =
  | { readonly kind: 'report' }
  | { readonly kind: 'clear'; readonly fields: readonly string[] }
  | { readonly kind: 'tag'; readonly field: string; readonly value: CustomFieldValue };

/**
 * @param said what the feed's file said last of the contact.
 * @param others what other feeds say of it: a value that one of them names is not cleared.
 * @returns null where nothing is left to be done; what waits for a person is not tried again.
 */
export function contactOfMissing(
  key: string,
  rule: MissingRule,
  said: Said,
  others: readonly Said[],
): DesiredContact | null {
  if (rule.kind === 'report') return null;
  return rule.kind === 'clear' ? cleared(key, new Set(rule.fields), said, others) : tagged(key, rule, said);
}

const nothing = { scalars: {}, source: null, emails: [], phones: [], customFields: [] } as const;

function cleared(key: string, fields: ReadonlySet<string>, said: Said, others: readonly Said[]): DesiredContact | null {
  const scalars: { -readonly [Name in keyof DesiredScalars]: DesiredScalars[Name] } = {};
  for (const name of scalarNames) {
    const isNamed = others.some((other) => (other.scalars[name] ?? null) !== null);
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

function tagged(key: string, rule: Extract<MissingRule, { kind: 'tag' }>, said: Said): DesiredContact | null {
  return isTagged(said, rule) ? null : { ...nothing, key, ...member(rule.field, rule.value) };
}

function isTagged({ scalars, customFields }: Said, { field, value }: Extract<MissingRule, { kind: 'tag' }>): boolean {
  const name = scalarNames.find((one) => one === field);
  const before =
    name === undefined ? customFields.find((one) => customFieldName(one.key) === field)?.value : scalars[name];
  return before !== undefined && JSON.stringify(before) === JSON.stringify(value);
}

function member(field: string, value: CustomFieldValue): Pick<DesiredContact, 'scalars' | 'customFields'> {
  const name = scalarNames.find((one) => one === field);
  if (name !== undefined) return { scalars: { [name]: value === null ? null : String(value) }, customFields: [] };
  return { scalars: {}, customFields: [{ key: field.slice('custom.'.length), value }] };
}

/** A person who is back: the tag goes, unless the row says something about its field. */
export function withoutTag(desired: DesiredContact, rule: MissingRule, said: Said): DesiredContact {
  if (rule.kind !== 'tag' || !isTagged(said, rule)) return desired;
  const { scalars, customFields } = member(rule.field, null);
  const isNamed =
    Object.keys(scalars).some((name) => name in desired.scalars) ||
    customFields.some(({ key }) => desired.customFields.some((one) => one.key === key));
  if (isNamed) return desired;
  return {
    ...desired,
    scalars: { ...desired.scalars, ...scalars },
    customFields: [...desired.customFields, ...customFields],
  };
}
