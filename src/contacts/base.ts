/**
 * *base*: what Patchbay remembers of one contact (`docs/rules.md`, "Three pictures, one plan" and "Workspace, feed, key").
 *
 * - *said*, per feed, key and field: the value that the file named last and that was settled.
 * - *agreed*, per key and field: the value that file and app last had in common, in the service's spelling. A value that
 *   was written and answered is agreed for every feed, one that was found equal for that feed alone; a field without an
 *   entry never agreed. People changed what differs from agreed. Their edit, once kept, never becomes agreed, so that no
 *   later run can overwrite it. Beside it: what an undo took back, or a person decided against, which is no drift.
 *   Of an e-mail or phone, its label, where what was seen last does not tell it (`labels.ts`).
 * - *stamps*: the feed and run whose change of a field was settled last.
 * - *seen* and *owned*, per key: the contact as last returned, and what Patchbay put on it.
 *
 * Invariant: base changes only through `settle.ts`, after a verified reply or a verified no-op, and through `claim.ts`, if a
 * write in doubt turns out to have landed.
 */
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';
import {
  alikeValue,
  customFieldName,
  customValueOrNull,
  type DesiredContact,
  type DesiredCustomField,
  type DesiredScalars,
  type FieldName,
  type Slot,
  sameCustomValue,
  sameText,
  scalarNames,
  scalarOf,
} from './desired.ts';
import type { Policies } from './policies.ts';

/** What the feed's file last said about this key and was settled. A member that was never settled is absent. */
export interface Said {
  readonly scalars: DesiredScalars;
  readonly emails: readonly Slot[];
  readonly phones: readonly Slot[];
  readonly customFields: readonly DesiredCustomField[];
  /** Fields that wait for a person's decision. Their values above are those from before the hold. */
  readonly held: readonly FieldName[];
}

export const emptySaid: Said = { scalars: {}, emails: [], phones: [], customFields: [], held: [] };

/** What another feed said of the same key. */
export interface OtherSaid {
  readonly feed: string;
  readonly said: Said;
  /** Whether it is configured or has a folder, as `main` is there always: the file of any other feed comes no more. */
  readonly exists: boolean;
  /** Whether it owns its items: a feed that no longer exists does not, nor does `main` next to a named feed. */
  readonly owns: boolean;
}

/** The contact as the service last returned it, with its item ids: to recognise our own replies and labels. */
export type Seen = Contact;

export interface OwnedCustomField {
  readonly key: string;
  readonly value: CustomFieldValue;
}

/**
 * What Patchbay put on the contact: identities of items (`itemIdentity`), entries of custom fields. The feeds of an item follow
 * from what they said; anything that is not listed was put there by people.
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

/** The base of an unknown contact. */
export const emptyBase: Base = { said: null, others: [], agreed: [], stamps: [], seen: null, owned: nobodyOwns };

/** Base of another contact that has the key by now: what feeds said, what was agreed and what was Patchbay's own was of the one before. */
export function baseOfAnother({ said, others }: Base): Base {
  return {
    ...emptyBase,
    said: said === null ? null : emptySaid,
    others: others.map((other) => ({ ...other, said: emptySaid })),
  };
}

/** A set of slots that may be endless: those of a pattern. */
export interface SlotNames {
  has(slot: string): boolean;
}

/** The three pictures of one contact, and what else the plan needs to know about the feed. */
export interface PlanInput {
  readonly feed: string;
  /** Of the run whose file is applied: orders the changes of several feeds. */
  readonly sequence: number;
  /** The feed's source label, written on create; null leaves it to the service. */
  readonly sourceLabel: string | null;
  readonly base: Base;
  readonly theirs: Contact | null;
  readonly ours: DesiredContact;
  /** Who decides about each field and list. */
  readonly policies: Policies;
  /** Of the configuration. `none`: no item is ever removed, whatever the policy of its list. */
  readonly itemRemoval: 'owned' | 'none';
  /** Whether the file wins over values that it never agreed on. */
  readonly adopt: boolean;
  /** Whether the contact was found by its phone number or e-mail address: then nothing is overwritten that was never agreed on. */
  readonly isLinked: boolean;
  /** Whether what people changed is written back, where the file says what it said before. */
  readonly restores: boolean;
  /** Whether the feed gives up an item that another feed names: `main` does. */
  readonly yieldsItems: boolean;
  /** The slots that the mapping names; null if any column may be one. */
  readonly slotNames: { readonly emails: SlotNames; readonly phones: SlotNames } | null;
}

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
  /** No agreement: an undo took these values back, items too, or a person kept the app's; the contact has not held them since. */
  readonly isTakenBack?: true;
}

/** The feed and run whose change settled these fields last. */
export interface FieldStamp {
  readonly feed: string;
  readonly sequence: number;
  readonly fields: readonly FieldName[];
}

/** @returns undefined if file and app never agreed on the field. */
export function agreedValue(
  agreed: readonly Agreement[],
  feed: string,
  field: FieldName,
): CustomFieldValue | undefined {
  const of = (whose: string | null): FieldValue | undefined =>
    agreed.find((one) => one.feed === whose && !one.isTakenBack)?.values.find((one) => one.field === field);
  return (of(feed) ?? of(null))?.value;
}

/**
 * Whose value a write takes the place of: undefined if every feed agreed on it, or there was none; otherwise the feeds that did, which
 * are none where people put it there. What was not written is agreed with a feed whose file said it, not with one for which a person
 * let the file win.
 * @param from the value of a scalar or custom field before the write.
 */
export function agreedWith(
  { agreed, said, others }: Pick<Base, 'agreed' | 'said' | 'others'>,
  feed: string,
  field: FieldName,
  from: CustomFieldValue,
): readonly string[] | undefined {
  const entryOf = (whose: string | null): FieldValue | undefined =>
    agreed.find((one) => one.feed === whose && !one.isTakenBack)?.values.find((one) => one.field === field);
  const saids = new Map([...others, { feed, said: said ?? emptySaid }].map((one) => [one.feed, one.said]));
  const forAll = entryOf(null);
  const isForAll = forAll === undefined ? customValueOrNull(from) === null : isExactly(forAll.value, from);
  const isAgreed = (whose: string): boolean => {
    const own = entryOf(whose);
    if (own === undefined) return isForAll;
    const says = saidValue(saids.get(whose) ?? emptySaid, field);
    return isExactly(own.value, from) && says !== undefined && alikeValue(null, says, from);
  };
  const feeds = new Set([...saids.keys(), ...agreed.flatMap((one) => one.feed ?? [])]);
  const agreeing = [...feeds].filter(isAgreed);
  return isForAll && agreeing.length === feeds.size ? undefined : agreeing;
}

/** Undefined if the file never named the field. */
export function saidValue(
  { scalars, customFields }: Pick<Said, 'scalars' | 'customFields'>,
  field: FieldName,
): CustomFieldValue | undefined {
  const name = scalarNames.find((one) => one === field);
  if (name !== undefined) return scalars[name];
  return customFields.find(({ key }) => customFieldName(key) === field)?.value;
}

/** For values that were written and answered: for every feed, replacing what single feeds had agreed on. */
export function agreeForAll(agreed: readonly Agreement[], values: readonly FieldValue[]): readonly Agreement[] {
  return values.length === 0 ? agreed : put(without(agreed, values), null, values);
}

/** For values that were found equal, or decided by a person: for that feed alone. */
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

/**
 * For a value that an undo has put back: those who had agreed on it agree on it again. For the others agreed stays what the run wrote, so
 * that what people had put there is protected as if they had typed it in after the run.
 * @param whose `agreedWith` of the value when the run wrote over it.
 */
export function agreeAgain(
  agreed: readonly Agreement[],
  whose: readonly string[] | undefined,
  value: FieldValue,
): readonly Agreement[] {
  if (whose === undefined) return agreeForAll(agreed, [value]);
  return whose.reduce((before, feed) => agreeFor(before, feed, [value]), agreed);
}

/** Whether an undo took this value of the file back, or a person decided against it: drift is what people changed, and this is none. */
export function isTakenBack(agreed: readonly Agreement[], field: FieldName, said: CustomFieldValue): boolean {
  const values = agreed.find((one) => one.isTakenBack)?.values ?? [];
  // The name of an e-mail or phone tells which it is, however the service spells it.
  const isItem = field.startsWith('email.') || field.startsWith('phone.');
  return values.some((one) => one.field === field && (isItem || alikeValue(null, one.value, said)));
}

/** @param values items too, under their names. */
export function withTakenBack(agreed: readonly Agreement[], values: readonly FieldValue[]): readonly Agreement[] {
  if (values.length === 0) return agreed;
  const fields = new Set(values.map(({ field }) => field));
  const before = agreed.find((one) => one.isTakenBack)?.values.filter(({ field }) => !fields.has(field)) ?? [];
  const rest = agreed.filter((one) => !one.isTakenBack);
  return [...rest, { feed: null, values: [...before, ...values], isTakenBack: true }];
}

/** @param isThere whether the contact holds the value now: it is taken back no longer. */
export function withoutHeldAgain(
  agreed: readonly Agreement[],
  isThere: (value: FieldValue) => boolean,
): readonly Agreement[] {
  const left = agreed.find((one) => one.isTakenBack)?.values.filter((one) => !isThere(one)) ?? [];
  const rest = agreed.filter((one) => !one.isTakenBack);
  if (rest.length === agreed.length) return agreed;
  return left.length === 0 ? rest : [...rest, { feed: null, values: left, isTakenBack: true }];
}

/** Whether a change of the field by another feed, from a later run, has been settled. */
export function isOvertaken(
  stamps: readonly FieldStamp[],
  { feed, sequence }: { readonly feed: string; readonly sequence: number },
  field: FieldName,
): boolean {
  return stamps.some((one) => one.feed !== feed && one.sequence > sequence && one.fields.includes(field));
}

/** A change does not stamp fields that a newer one has settled. */
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
  // Texts are compared as they are written: a date in another form is another spelling, and so is a number as text.
  if (typeof one !== typeof other) return false;
  if (typeof one === 'string' && typeof other === 'string') return sameText(one, other);
  return sameCustomValue(null, one, other);
}

/** The agreements of a ledger that is older than they are: what a file said and the service then held. */
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

/** The type of a field as the service names it; null if it has not. */
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

/** Without what was agreed on these fields. What was taken back is kept. */
export function withoutValues(
  agreed: readonly Agreement[],
  isLeft: (field: FieldName) => boolean,
): readonly Agreement[] {
  const isAffected = (one: Agreement): boolean => !one.isTakenBack && one.values.some(({ field }) => isLeft(field));
  if (!agreed.some(isAffected)) return agreed;
  return agreed
    .map((one) => (isAffected(one) ? { ...one, values: one.values.filter(({ field }) => !isLeft(field)) } : one))
    .filter((one) => one.values.length > 0);
}

function put(agreed: readonly Agreement[], feed: string | null, values: readonly FieldValue[]): readonly Agreement[] {
  const fields = new Set(values.map(({ field }) => field));
  const isOf = (one: Agreement): boolean => one.feed === feed && !one.isTakenBack;
  const before = agreed.find(isOf)?.values.filter(({ field }) => !fields.has(field)) ?? [];
  return [...agreed.filter((one) => !isOf(one)), { feed, values: [...before, ...values] }];
}
