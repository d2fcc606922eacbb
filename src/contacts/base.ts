/**
 * *base*: what we remember of one contact (`rules.md`, "Three pictures, one plan").
 *
 * *said* is per feed, key and field: what the file said last and had settled. *agreed* is per key and field: the value
 * that file and app last had in common. *seen* and *owned* are per key. What people changed is what differs from
 * agreed; an edit of theirs that was kept never becomes agreed, so that no night in between can turn it into ours.
 *
 * Invariant: base moves only through `settle`, after a verified reply or a verified no-op, and through `claim.ts`,
 * where a write in doubt turns out to have landed.
 */

import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import {
  type DesiredContact,
  type DesiredCustomField,
  type DesiredScalars,
  type Slot,
  scalarNames,
} from './desired.ts';
import { customFieldName, customValueOrNull, type FieldName, sameCustomValue, sameText, scalarOf } from './field.ts';

/** What the feed's file last said for this key and had settled. A member that never settled is absent. */
export interface Said {
  readonly scalars: DesiredScalars;
  readonly emails: readonly Slot[];
  readonly phones: readonly Slot[];
  readonly customFields: readonly DesiredCustomField[];
  /** Fields that wait for a person. Their values above are those from before the hold. */
  readonly held: readonly FieldName[];
}

export const emptySaid: Said = { scalars: {}, emails: [], phones: [], customFields: [], held: [] };

/** What another feed said of the same key. */
export interface OtherSaid {
  readonly feed: string;
  readonly said: Said;
  /** Whether its items are its own: not those of a feed that is gone, nor those of `main` beside a named feed. */
  readonly owns: boolean;
}

/** The contact as the service last returned it to us, with its item ids: how we know our own replies and labels again. */
export type Seen = Contact;

export interface OwnedCustomField {
  readonly key: string;
  readonly value: CustomFieldValue;
}

/**
 * What Patchbay put on the contact: identities of items (`item-identity.ts`), entries of custom fields. Which feeds an
 * item belongs to follows from what they say; what is not listed was put there by people.
 */
export interface Ownership {
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly customFields: readonly OwnedCustomField[];
}

export interface Base {
  readonly said: Said | null;
  readonly others: readonly OtherSaid[];
  readonly agreed: readonly Agreement[];
  readonly stamps: readonly FieldStamp[];
  readonly seen: Seen | null;
  readonly owned: Ownership;
}

export const nobodyOwns: Ownership = { emails: [], phones: [], customFields: [] };

/** The base of a contact that we have never met. */
export const emptyBase: Base = { said: null, others: [], agreed: [], stamps: [], seen: null, owned: nobodyOwns };

/** The three pictures of one contact, and what the plan must know of the feed besides. */
export interface PlanInput {
  readonly feed: string;
  /** Of the run whose file said it: orders the changes of several feeds. */
  readonly sequence: number;
  /** The feed's source label, written on create; null leaves it to the service. */
  readonly sourceLabel: string | null;
  readonly base: Base;
  readonly theirs: Contact | null;
  readonly ours: DesiredContact;
  /** `owned`: items that Patchbay wrote leave with the file. `none`: no item is ever removed. */
  readonly itemRemoval: 'owned' | 'none';
  /** Whether the file wins over values that it never agreed on. */
  readonly adopt: boolean;
  /** Whether the feed gives an item up once another names it: `main` does. */
  readonly yieldsItems: boolean;
  /** The slots that the mapping names; null where any column may be one. */
  readonly slotNames: { readonly emails: readonly string[]; readonly phones: readonly string[] } | null;
}

/**
 * *agreed*: per field, the value that file and app last had in common, in the service's spelling; and *stamps*: which
 * feed's change of a field was settled last (`rules.md`, "Three pictures, one plan" and "Workspace, feed, key").
 *
 * A value that was written and answered is agreed for every feed; one that was found equal is agreed for that feed
 * alone. A field without an entry never agreed. Values are grouped, since a contact is mostly written as a whole.
 */
interface SaidFields {
  readonly scalars: DesiredScalars;
  readonly customFields: readonly DesiredCustomField[];
}

export interface FieldValue {
  readonly field: FieldName;
  readonly value: CustomFieldValue;
}

export interface Agreement {
  /** Null: for every feed. */
  readonly feed: string | null;
  readonly values: readonly FieldValue[];
}

/** The change of that run, by that feed, was the last to settle these fields. */
export interface FieldStamp {
  readonly feed: string;
  readonly sequence: number;
  readonly fields: readonly FieldName[];
}

/** @returns undefined where file and app never agreed on the field. */
export function agreedValue(
  agreed: readonly Agreement[],
  feed: string,
  field: FieldName,
): CustomFieldValue | undefined {
  const of = (whose: string | null): FieldValue | undefined =>
    agreed.find((one) => one.feed === whose)?.values.find((one) => one.field === field);
  return (of(feed) ?? of(null))?.value;
}

/** Written and answered: for every feed, whatever single feeds had agreed on. */
export function agreeForAll(agreed: readonly Agreement[], values: readonly FieldValue[]): readonly Agreement[] {
  return values.length === 0 ? agreed : put(without(agreed, values), null, values);
}

/** Found equal, or decided by a person: for that feed alone. */
export function agreeFor(
  agreed: readonly Agreement[],
  feed: string,
  values: readonly FieldValue[],
): readonly Agreement[] {
  const moved = values.filter(({ field, value }) => {
    const now = agreedValue(agreed, feed, field);
    return now === undefined || !isExactly(now, value);
  });
  return moved.length === 0 ? agreed : put(agreed, feed, moved);
}

/** Whether another feed's change of the field, of a run that arrived later, has been settled. */
export function isOvertaken(
  stamps: readonly FieldStamp[],
  { feed, sequence }: { readonly feed: string; readonly sequence: number },
  field: FieldName,
): boolean {
  return stamps.some((one) => one.feed !== feed && one.sequence > sequence && one.fields.includes(field));
}

/** An older change stamps nothing that a newer one has settled. */
export function stamp(
  stamps: readonly FieldStamp[],
  { feed, sequence }: { readonly feed: string; readonly sequence: number },
  fields: readonly FieldName[],
): readonly FieldStamp[] {
  const isNewest = (field: FieldName) => !stamps.some((one) => one.sequence > sequence && one.fields.includes(field));
  const mine = fields.filter(isNewest);
  if (mine.length === 0) return stamps;
  const others = stamps
    .map((one) => ({ ...one, fields: one.fields.filter((field) => !mine.includes(field)) }))
    .filter((one) => one.fields.length > 0);
  const same = others.find((one) => one.feed === feed && one.sequence === sequence);
  const rest = others.filter((one) => one !== same);
  return [...rest, { feed, sequence, fields: [...(same?.fields ?? []), ...mine] }];
}

/** The value of a scalar or custom field as a contact holds it. */
export function fieldValueOf(contact: Contact, field: FieldName): CustomFieldValue {
  const scalar = scalarNames.find((name) => name === field);
  if (scalar !== undefined) return scalarOf(contact, scalar);
  return contact.customFields.find(({ key }) => customFieldName(key) === field)?.value ?? null;
}

/** The same value in the same spelling: case and spaces count. */
export function isExactly(left: CustomFieldValue, right: CustomFieldValue): boolean {
  const [one, other] = [customValueOrNull(left), customValueOrNull(right)];
  // Texts are compared as they are written: a date in another form is another spelling.
  if (typeof one === 'string' && typeof other === 'string') return sameText(one, other);
  return sameCustomValue(null, one, other);
}

/** What a ledger from before agreements can vouch for: what a file said and the service then held. */
export function agreementsOf(
  seen: Contact,
  saids: readonly { readonly feed: string; readonly said: SaidFields }[],
): readonly Agreement[] {
  return saids.flatMap(({ feed, said: { scalars, customFields } }) => {
    const said: FieldValue[] = [
      ...scalarNames.flatMap((name) => (scalars[name] === undefined ? [] : [{ field: name, value: scalars[name] }])),
      ...customFields.map(({ key, value }) => ({ field: customFieldName(key), value })),
    ];
    const values = said
      .filter(({ field, value }) => sameCustomValue(fieldTypeOf(seen, field), value, fieldValueOf(seen, field)))
      .map(({ field }) => ({ field, value: fieldValueOf(seen, field) }));
    return values.length === 0 ? [] : [{ feed, values }];
  });
}

/** The service's word for the type of a field; null where it has named none. */
export function fieldTypeOf(contact: Contact, field: FieldName): string | null {
  if (scalarNames.some((name) => name === field)) return 'string';
  return contact.customFields.find(({ key }) => customFieldName(key) === field)?.type ?? null;
}

function without(agreed: readonly Agreement[], values: readonly FieldValue[]): readonly Agreement[] {
  const fields = new Set(values.map(({ field }) => field));
  return agreed
    .map((one) => ({ ...one, values: one.values.filter(({ field }) => !fields.has(field)) }))
    .filter((one) => one.values.length > 0);
}

function put(agreed: readonly Agreement[], feed: string | null, values: readonly FieldValue[]): readonly Agreement[] {
  const fields = new Set(values.map(({ field }) => field));
  const before = agreed.find((one) => one.feed === feed)?.values.filter(({ field }) => !fields.has(field)) ?? [];
  return [...agreed.filter((one) => one.feed !== feed), { feed, values: [...before, ...values] }];
}
