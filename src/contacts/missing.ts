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
  type ItemKind,
  type Slot,
  sameCustomValue,
  scalarNames,
} from './desired.ts';
import { listOf, wantedItems } from './items.ts';

/** `clear`: names of fields, or `emails` and `phones`. `tag`: the value that a field gets. */
export type MissingRule =
  | { readonly kind: 'report' }
  | { readonly kind: 'clear'; readonly fields: readonly string[] }
  | ({ readonly kind: 'tag' } & FieldTag);

/** What is remembered of a contact whose person the feed's file lacks. */
export interface Remembered {
  /** What the feed's file said last. */
  readonly said: Said;
  /** What it will have said if a write of the feed that is in doubt has landed; null where there is none. */
  readonly doubted: Said | null;
  /** What others say: a field or an item that a feed names which exists is not cleared, nor such a field tagged. */
  readonly others: readonly OtherSaid[];
}

/** @returns null where nothing is left to be done, doubt or not; what waits for a person is not tried again. */
export function contactOfMissing(key: string, rule: MissingRule, remembered: Remembered): DesiredContact | null {
  if (rule.kind === 'report') return null;
  return rule.kind === 'clear' ? cleared(key, new Set(rule.fields), remembered) : tagged(key, rule, remembered);
}

const nothing = { scalars: {}, source: null, emails: [], phones: [], customFields: [] } as const;

/**
 * What another feed's file names is left out, so that this feed goes on saying it, and a later file of it clears it once the other names it
 * no longer or is gone. Of custom fields and items only a feed that owns its items counts, as where they are merged (`merge.ts`).
 */
function cleared(
  key: string,
  fields: ReadonlySet<string>,
  { said, doubted, others }: Remembered,
): DesiredContact | null {
  const saids = doubted === null ? [said] : [said, doubted];
  const isSaid = (field: FieldName) =>
    fields.has(field) && !said.held.includes(field) && saids.some((one) => (saidValue(one, field) ?? null) !== null);
  const names = scalarNames.filter((name) => isSaid(name) && namedBy(others, name).length === 0);
  const owning = others.filter(({ owns }) => owns);
  const owningSaids = owning.map((other) => other.said);
  const isCleared = (field: FieldName) => isSaid(field) && namedBy(owning, field).length === 0;
  const entries = new Set(saids.flatMap(({ customFields }) => customFields.map(({ key: field }) => field)));
  const customFields = [...entries].filter((field) => isCleared(customFieldName(field)));
  const emptied = (kind: ItemKind): readonly Slot[] =>
    fields.has(listOf[kind]) ? leftSlots(kind, slotsOf(kind, saids), slotsOf(kind, owningSaids)) : [];
  const [emails, phones] = [emptied('email'), emptied('phone')];
  if (names.length + customFields.length + emails.length + phones.length === 0) return null;
  const scalars: DesiredScalars = Object.fromEntries(names.map((name) => [name, null]));
  return {
    ...nothing,
    key,
    scalars,
    customFields: customFields.map((one) => ({ key: one, value: null })),
    emails,
    phones,
  };
}

function slotsOf(kind: ItemKind, saids: readonly Said[]): readonly Slot[] {
  return saids.flatMap((one) => one[listOf[kind]]);
}

/** The slots that say more than the others name, with what these name. */
function leftSlots(kind: ItemKind, slots: readonly Slot[], others: readonly Slot[]): readonly Slot[] {
  const named = wantedItems(kind, others);
  return [...Map.groupBy(slots, ({ slot }) => slot)].flatMap(([slot, before]) => {
    const items = [...wantedItems(kind, before)];
    const kept = items.filter(([identity]) => named.has(identity));
    return kept.length === items.length ? [] : [{ slot, items: kept.map(([, item]) => item) }];
  });
}

function tagged(key: string, tag: FieldTag, { said, doubted, others }: Remembered): DesiredContact | null {
  const isOn = isTagged(said, tag) && (doubted === null || isTagged(doubted, tag));
  return isOn || namedBy(others, tag.field).length > 0 ? null : { ...nothing, key, ...member(tag.field, tag.value) };
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

/**
 * A row of a person who is back: the tag is to go, unless the row says something about its field.
 * @param isInDoubt whether a write that may have landed may have put the tag on.
 */
export function withoutTag(desired: DesiredContact, rule: MissingRule, said: Said, isInDoubt: boolean): DesiredContact {
  if (rule.kind !== 'tag' || saidValue(desired, rule.field) !== undefined) return desired;
  const { field, value } = rule;
  const untag = { field, value };
  // As a value that goes it counts only where it is known to be there.
  if (isTagged(said, rule)) return { ...withMember(desired, field, null), untag };
  return isInDoubt ? { ...desired, untag } : desired;
}

/**
 * What is wanted of the contact of a person who is back, as a read shows it. The tag makes way for what another feed's file says of the field;
 * where it is not there any more, or never was, the row says nothing of the field.
 */
export function whenBack(desired: DesiredContact, base: Base, theirs: Contact | null): DesiredContact {
  const { untag, ...row } = desired;
  if (untag === undefined) return desired;
  const { field, value } = untag;
  if (base.said === null || !isTagged(base.said, untag)) return withMember(row, field);
  const named = namedBy(base.others, field).at(-1) ?? null;
  const isSame = (other: CustomFieldValue) =>
    theirs !== null && alikeValue(fieldTypeOf(theirs, field), fieldValueOf(theirs, field), other);
  return isSame(value) && !sameCustomValue(null, named, value)
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
