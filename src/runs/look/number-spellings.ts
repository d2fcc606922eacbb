/**
 * Keys that are made of a phone number as it is spelt, as those of address books without ids: `0171 2345670` and `+49 171 2345670` are one
 * number and two keys. Pure.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { Value } from '#src/mapping/value-schema.ts';
import type { Contact } from '#src/wire/contact.ts';

/** Whether keys of the mapping may be the digits of a number. */
export function mayBeDigits(mapping: Pick<Mapping, 'key'> | null): boolean {
  const isDigits = (value: Value): boolean =>
    typeof value === 'object' &&
    (value.transform?.includes('digits') === true || [...(value.firstOf ?? []), ...(value.join ?? [])].some(isDigits));
  return mapping?.key !== undefined && isDigits(mapping.key);
}

/** Whether a key without its prefix may be a phone number. */
export function looksDialled(bare: string): boolean {
  return /^\d{6,18}$/.test(bare);
}

/** The digits of the other spellings of the number of the contact that the key is made of; none where it is made of none. */
export function otherSpellings(bare: string, { phones }: Pick<DesiredContact, 'phones'>): readonly string[] {
  const numbers = phones.flatMap(({ items }) => items.map(({ value }) => value));
  const spellings = numbers.map(spellingsOf).find((those) => those.includes(bare)) ?? [];
  return spellings.filter((one) => one !== bare);
}

/** The digits of a number as it may be written. @param number E.164. */
export function spellingsOf(number: string): readonly string[] {
  const parsed = parsePhoneNumberFromString(number);
  if (parsed === undefined) return [];
  const { countryCallingCode: code, nationalNumber: own } = parsed;
  const national = parsed.formatNational().replace(/\D/g, '');
  return [...new Set([`${code}${own}`, `00${code}${own}`, national, own, `${code}${national}`])];
}

/** What a contact is called. */
export interface Called {
  readonly defaultFields: Pick<Contact['defaultFields'], 'firstName' | 'lastName' | 'company'>;
}

/** Two people may share a number: besides it the names are equal, or the company where neither has a name. */
export function isCalledAlike({ scalars }: Pick<DesiredContact, 'scalars'>, { defaultFields }: Called): boolean {
  const called = calledAs(scalars);
  return called !== null && called === calledAs(defaultFields);
}

/** The same for names that are equal; null without any. */
export function calledAs({
  firstName,
  lastName,
  company,
}: DesiredContact['scalars'] | Called['defaultFields']): string | null {
  const fold = (text: string | null | undefined) => text?.normalize('NFC').trim().toLowerCase() || null;
  const names = [fold(firstName), fold(lastName)];
  if (names.some((name) => name !== null)) return JSON.stringify(names);
  const own = fold(company);
  return own === null ? null : JSON.stringify([own]);
}
