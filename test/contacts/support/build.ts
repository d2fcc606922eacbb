/** Builders: short words for contacts, desired contacts and bases. Ids are `i1`, `i2`… unless given. */
import { type Base, emptyBase, type Said } from '#src/contacts/base.ts';
import type { DesiredContact, DesiredScalars, Slot } from '#src/contacts/desired.ts';
import type { PlanInput } from '#src/contacts/plan.ts';
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
    sourceUrl,
    defaultFields: { ...scalars, emails: items('e', text.emails), phoneNumbers: items('p', text.phones) },
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

export function base(parts: Partial<Base> = {}): Base {
  return { ...emptyBase, ...parts };
}

/** Items of feed `crm`. */
export function owned(kind: 'emails' | 'phones', ...values: readonly string[]): Base['owned'] {
  return { ...emptyBase.owned, [kind]: values.map((value) => ({ value, feed: 'crm' })) };
}

export function input(parts: Partial<PlanInput> = {}): PlanInput {
  return {
    feed: 'crm',
    sourceLabel: 'CRM export',
    base: emptyBase,
    theirs: contact(),
    ours: desired(),
    itemRemoval: 'owned',
    ...parts,
  };
}
