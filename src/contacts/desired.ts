/**
 * The desired contact: what one row of a file says about one contact (`docs/design.md`, "Words"); and the fields of a contact:
 * their names in plans, holds and reports, the identity of an e-mail or phone, and when two values are equal.
 *
 * A member with a value is wanted, one that is null is to be removed, an absent one is not touched. The same holds for
 * slots: a slot lists all items of its column (or JSON array); with no items, its former items are to be removed; an absent
 * slot is not touched, and protects what it wrote before.
 *
 * Names from the user's file are kept in lists rather than as members of objects: a column called `__proto__` is then a name
 * like any other.
 *
 * An empty text and an empty choice are no value, like null, whichever of them the service returns. Texts differ if their
 * case or spaces differ; their Unicode form does not matter.
 */
import { hash } from 'node:crypto';
import type { Contact, CustomFieldValue } from '#src/wire/contact.ts';

export const scalarNames = ['firstName', 'lastName', 'company', 'role', 'sourceUrl'] as const;
/** The single-valued fields of a contact that a file may set. */
export type ScalarName = (typeof scalarNames)[number];

export type DesiredScalars = { readonly [Name in ScalarName]?: string | null };

/** One e-mail address or phone number. `value` is normalised: E.164, or an address with its domain in lower case. */
export interface DesiredItem {
  readonly label: string;
  readonly value: string;
}

/** What one column, or one JSON array, says about a list of items. */
export interface Slot {
  /** The column's name in lower case, or `emails` and `phones` for a JSON array. Stable from file to file. */
  readonly slot: string;
  readonly items: readonly DesiredItem[];
  /** A JSON array that says the whole list: every other slot of the feed speaks through it. */
  readonly whole?: true;
}

/** A slot of a row. */
export interface WantedSlot extends Slot {
  /**
   * A value of its cell could not be read and was left out, and may be any that the contact holds: the items are wanted, and nothing
   * that the slot said before is gone. What it says from then on is both.
   */
  readonly partial?: true;
}

export interface DesiredCustomField {
  readonly key: string;
  /** Of the field's type; null wants it gone. */
  readonly value: CustomFieldValue;
}

export interface DesiredContact {
  /** The `externalId`: trimmed, NFC, 1 to 75 code points. */
  readonly key: string;
  readonly scalars: DesiredScalars;
  /** Written on create only. Null leaves it to the feed's label. */
  readonly source: string | null;
  readonly emails: readonly WantedSlot[];
  readonly phones: readonly WantedSlot[];
  readonly customFields: readonly DesiredCustomField[];
  /**
   * Instead of what a file says: what a run wrote is to be taken back (`undo.ts`). The members above are empty then, but for a contact that
   * is to be made again.
   */
  readonly undo?: UndoOrder;
  /** Of held fields that a person decided for the file's value of: what said each. */
  readonly taken?: readonly TakenField[];
  /** It is what the file says of fields that drifted, and is to be written back (`drift.ts`). */
  readonly repairs?: true;
  /**
   * The person is back: the tag goes, where it is still on the contact (`missing.ts`). Until it is planned, its field is null above where the
   * feed says the tag, and absent where a write in doubt may have put it on.
   */
  readonly untag?: FieldTag;
}

/** What a contact is marked with while its feed's file lacks the person. */
export interface FieldTag {
  readonly field: FieldName;
  readonly value: CustomFieldValue;
}

/** A field, and the run and line of the file that said its value. */
export interface TakenField {
  readonly field: FieldName;
  readonly runId: string;
  readonly line: number;
}

/** What one run wrote to one contact. */
export interface UndoOrder {
  /** The run; absent in orders of older versions. */
  readonly runId?: string;
  /** The contact that it wrote to: no other is touched. */
  readonly contactId: string;
  readonly changes: readonly UndoChange[];
  /** The run made the contact, and it is deleted if it is still as the run left it. */
  readonly deletes: boolean;
  /** The run deleted the contact: it is made again with what it held, unless one has the key by then. */
  readonly makes?: true;
  /** Of a contact that the run made or deleted: its `source`. Absent where the journal is of an older version. */
  readonly source?: string | null;
  /** Whose the run left values that it did not write. Absent where it left none so. */
  readonly unwritten?: readonly OwnedValue[];
}

/** A value of a custom field, an e-mail or a phone that the contact holds, and that is Patchbay's own or people's from then on. */
export interface OwnedValue {
  readonly field: FieldName;
  readonly value: CustomFieldValue;
  readonly isOurs: boolean;
}

/** One value as the run left it, and as it was before. */
export interface UndoChange {
  readonly field: FieldName;
  readonly left: CustomFieldValue;
  readonly before: CustomFieldValue;
  /** Of an item: the values are its labels. */
  readonly isLabel?: true;
  /** Of an item: what it is put back with, or what the run left it with. Absent where the journal is of an older version. */
  readonly label?: string | null;
  /** Whose value `before` was, as the journal has it (`JournalChange` in `outcome.ts`). */
  readonly agreedWith?: readonly string[];
}

/**
 * What a desired contact is about where no row of a file says it: a decision about held fields, the undo of a run, a repair. What becomes
 * of that says nothing of the contact's row, nor of another part. The row of a file stands for all that its feed says of a contact, and so
 * does a contact that is cleared or tagged since its person left.
 *
 * Equal for the same part: `held HASH` of the names of its fields, which may be many and long, `undo RUN`, `repair`. Holds no values, and
 * is short: databases find letters by it.
 */
export type ContactPart = string;

/** Null where it stands for a whole row. */
export function partOf({ undo, taken, repairs }: DesiredContact): ContactPart | null {
  if (undo !== undefined) return `undo ${undo.runId ?? ''}`;
  if (taken !== undefined) {
    const fields = taken.map(({ field }) => field);
    return `held ${hash('sha256', JSON.stringify(fields.toSorted())).slice(0, 24)}`;
  }
  return repairs === true ? 'repair' : null;
}

/** Whether no row of a file says it: its values cannot be corrected in a file. @param line 0 where it is in none. */
export function isOfNoRow(line: number, desired: DesiredContact | null): desired is DesiredContact {
  return desired !== null && (line === 0 || partOf(desired) !== null);
}

/** Whether a contact made from it would hold anything but its key and its source label. */
export function hasContent({ scalars, emails, phones, customFields }: DesiredContact): boolean {
  return (
    Object.values(scalars).some((value) => value !== null && value !== undefined) ||
    [...emails, ...phones].some(({ items }) => items.length > 0) ||
    customFields.some(({ value }) => value !== null)
  );
}

/** Part of the fingerprint, so that a later canonical form never equals an earlier one by chance. */
const canonicalForm = 1;

/**
 * The first 128 bits of a SHA-256: 22 characters of base64url. A record whose fingerprint equals the last settled one is
 * `unchanged` and costs no request (`docs/rules.md`, "Three pictures, one plan"). The order of columns, members, items and
 * choices does not change it; absent and null differ.
 */
export function fingerprint(desired: DesiredContact): string {
  const { key, source, emails, phones, customFields } = desired;
  let scalars = '';
  for (const name of scalarNames) {
    const value = desired.scalars[name];
    if (value === undefined) continue;
    scalars += `${scalars === '' ? '' : ','}["${name}",${JSON.stringify(value)}]`;
  }
  const fields = customFields.map((field) => JSON.stringify([field.key, canonicalValue(field.value)]));
  const identity = `${canonicalForm},${JSON.stringify(key)},${JSON.stringify(source)}`;
  const lists = `${slotsText(emails)},${slotsText(phones)},${listText(fields)}`;
  return hash('sha256', `[${identity},[${scalars}],${lists}]`.normalize('NFC'), 'buffer')
    .subarray(0, fingerprintBytes)
    .toString('base64url');
}

const fingerprintBytes = 16;

function slotsText(slots: readonly WantedSlot[]): string {
  return listText(
    slots.map(({ slot, items, partial }) => {
      const text = `${JSON.stringify(slot)},${listText(items.map(itemText))}`;
      return partial === true ? `[${text},"partial"]` : `[${text}]`;
    }),
  );
}

function itemText({ label, value }: DesiredItem): string {
  return `[${JSON.stringify(value)},${JSON.stringify(label)}]`;
}

function canonicalValue(value: CustomFieldValue): CustomFieldValue {
  return Array.isArray(value) ? [...value].sort() : value;
}

/** A JSON list of entries that are JSON, in the order of their code units: the same on every machine, in every locale. */
function listText(entries: readonly string[]): string {
  if (entries.length < 2) return `[${entries[0] ?? ''}]`;
  const ordered = entries
    .map((entry) => ({ entry, by: entry.normalize('NFC') }))
    .sort((left, right) => (left.by < right.by ? -1 : left.by > right.by ? 1 : 0));
  return `[${ordered.map(({ entry }) => entry).join(',')}]`;
}

/**
 * `firstName`, `custom.tier`, `email.ann@example.com`, `phone.+14155550100`. Stable: the ledger keeps those of held fields
 * from run to run. `source`: of an undo alone, since no file changes it. Names of items contain an address or a number: they are personal data, like values, and never logged.
 */
export type FieldName = ScalarName | 'source' | `custom.${string}` | `email.${string}` | `phone.${string}`;

export function customFieldName(key: string): FieldName {
  return `custom.${key}`;
}

/** @param identity of the item (`itemIdentity`). */
export function itemFieldName(kind: ItemKind, identity: string): FieldName {
  return `${kind}.${identity}`;
}

export type ItemKind = 'email' | 'phone';

/**
 * Two items with one identity are the same item. The service may return a value in another form than it was written in
 * (`(+1) 415-555-0100`, `Ann@Example.com`). Identities are for comparison only; requests carry the value itself.
 *
 * E-mail: trimmed and in lower case as a whole, since mailboxes that differ in case alone are one in practice. Phone: the
 * plus and the digits; a text without digits as it is.
 */
export function itemIdentity(kind: ItemKind, value: string): string {
  const folded = value.normalize('NFC').trim().toLowerCase();
  if (kind === 'email') return folded;
  const dialled = folded.replace(/[^+\d]/g, '');
  return /\d/.test(dialled) ? dialled : folded;
}

/** Text as it is compared and kept: an empty text is null. */
export function textOrNull(text: string | null): string | null {
  return text === '' ? null : text;
}

export function sameText(left: string | null, right: string | null): boolean {
  return (textOrNull(left)?.normalize('NFC') ?? null) === (textOrNull(right)?.normalize('NFC') ?? null);
}

/** Equal but for case, spaces and Unicode form: as a service may store what it was sent. */
export function alikeValue(type: string | null, left: CustomFieldValue, right: CustomFieldValue): boolean {
  return sameCustomValue(type, foldedValue(left), foldedValue(right));
}

function foldedValue(value: CustomFieldValue): CustomFieldValue {
  if (Array.isArray(value)) return value.map(foldedText);
  return typeof value === 'string' ? foldedText(value) : value;
}

function foldedText(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** A custom field's value: an empty text or an empty choice is null. */
export function customValueOrNull(value: CustomFieldValue): CustomFieldValue {
  return value === '' || (Array.isArray(value) && value.length === 0) ? null : value;
}

/**
 * Equality by type (`docs/facts.md`, "Custom fields"): choices as a multiset, dates by instant, numbers by figure.
 * `type` is the service's word for the field; null where it is unknown, as of a field that was cleared, and then the values' own shape
 * decides: a number and a text are compared by figure.
 */
export function sameCustomValue(type: string | null, left: CustomFieldValue, right: CustomFieldValue): boolean {
  const one = customValueOrNull(left);
  const other = customValueOrNull(right);
  if (one === null || other === null) return one === other;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && sameChoices(one, other);
  }
  const isNumber = type === 'number' || (type === null && typeof one !== typeof other);
  if (isNumber && numberOf(one) !== null) return numberOf(one) === numberOf(other);
  if (typeof one !== 'string' || typeof other !== 'string') return one === other;
  if (type === 'date' || type === null) {
    const instantMs = instantMsOf(one);
    if (instantMs !== null && instantMs === instantMsOf(other)) return true;
  }
  return sameText(one, other);
}

function sameChoices(left: readonly string[], right: readonly string[]): boolean {
  const sorted = (choices: readonly string[]) => choices.map((choice) => choice.normalize('NFC')).sort();
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
}

/** A number, also where a service spells it as text. */
function numberOf(value: string | number | boolean): number | null {
  if (typeof value === 'boolean' || (typeof value === 'string' && value.trim() === '')) return null;
  const figure = Number(value);
  return Number.isNaN(figure) ? null : figure;
}

const isoInstant = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** The instant of an ISO 8601 date or date-time. Without a zone it is UTC: the machine's own zone must not matter. */
function instantMsOf(text: string): number | null {
  const [whole, date, time = '00:00', zone = 'Z'] = isoInstant.exec(text) ?? [];
  if (whole === undefined) return null;
  const instantMs = Date.parse(`${date}T${time}${zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`);
  return Number.isNaN(instantMs) ? null : instantMs;
}

/** Reads one scalar of a contact by its name: `sourceUrl` lives beside `defaultFields`, the others within. */
export function scalarOf(contact: Contact, name: ScalarName): string | null {
  return textOrNull(name === 'sourceUrl' ? contact.sourceUrl : contact.defaultFields[name]);
}
