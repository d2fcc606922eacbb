/** Builders: short words for contacts, desired contacts and bases. Ids are `i1`, `i2`… unless given. */
import { type Base, emptyBase, type FieldValue, fieldValueOf, type PlanInput, type Said } from '#src/contacts/base.ts';
import {
  customFieldName,
  type DesiredContact,
  type DesiredScalars,
  type Slot,
  scalarNames,
} from '#src/contacts/desired.ts';
import { usualPolicies } from '#src/contacts/policies.ts';
import { type Contact, type CustomFieldValue, contactReply } from '#src/wire/contact.ts';

/** `[label, value]`, or `[label, value, id]`; an id of null is an item without one. */
export type ItemText = readonly [string | null, string | null, (string | null)?];

export interface ContactText {
  readonly scalars?: DesiredScalars;
  readonly emails?: readonly ItemText[];
  readonly phones?: readonly ItemText[];
  /** `[key, value]` or `[key, value, type]`; the id is `f-KEY`. */
  readonly customFields?: readonly (readonly [string, CustomFieldValue, string?])[];
  readonly externalId?: string | null;
  readonly id?: string;
}

export function contact(text: ContactText = {}): Contact {
  const { sourceUrl, ...scalars } = text.scalars ?? {};
  const items = (kind: string, list: readonly ItemText[] = []) =>
    list.map(([name, value, id], index) => ({ id: id === undefined ? `${kind}${index + 1}` : id, name, value }));
  return contactReply.parse({
    id: text.id ?? 'c1',
    externalId: text.externalId === undefined ? 'K-1' : text.externalId,
    source: 'crm',
    sourceUrl: sourceUrl ?? null,
    defaultFields: {
      firstName: null,
      lastName: null,
      company: null,
      role: null,
      ...scalars,
      emails: items('e', text.emails),
      phoneNumbers: items('p', text.phones),
    },
    customFields: (text.customFields ?? []).map(([key, value, type]) => ({
      id: `f-${key}`,
      key,
      name: key,
      type: type ?? 'string',
      value,
    })),
  });
}

/** `['work', 'ann@example.com']`: an item of a slot. */
export function slot(name: string, ...items: readonly (readonly [string, string])[]): Slot {
  return { slot: name, items: items.map(([label, value]) => ({ label, value })) };
}

export function desired(parts: Partial<DesiredContact> = {}): DesiredContact {
  return { key: 'K-1', scalars: {}, source: null, emails: [], phones: [], customFields: [], ...parts };
}

export function said(parts: Partial<Said> = {}): Said {
  return { scalars: {}, emails: [], phones: [], customFields: [], held: [], ...parts };
}

/** Where `agreed` is not given, file and app agree on all that was seen. */
export function base(parts: Partial<Base> = {}): Base {
  const { seen = null } = parts;
  return { ...emptyBase, agreed: seen === null ? [] : [{ feed: null, values: fieldsOf(seen) }], ...parts };
}

function fieldsOf(seen: Contact): readonly FieldValue[] {
  const names = [...scalarNames, ...seen.customFields.map(({ key }) => customFieldName(key))];
  return names.map((field) => ({ field, value: fieldValueOf(seen, field) }));
}

/** Identities of items that Patchbay wrote. */
export function owned(kind: 'emails' | 'phones', ...values: readonly string[]): Base['owned'] {
  return { ...emptyBase.owned, [kind]: values };
}

export function input(parts: Partial<PlanInput> = {}): PlanInput {
  return {
    feed: 'crm',
    sourceLabel: 'CRM export',
    base: emptyBase,
    theirs: contact(),
    ours: desired(),
    itemRemoval: 'owned',
    policies: usualPolicies,
    isLinked: false,
    restores: false,
    sequence: 10,
    adopt: false,
    yieldsItems: false,
    slotNames: null,
    ...parts,
  };
}
