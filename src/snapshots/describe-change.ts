/**
 * What changed, in words: `+1 415 555 0101: Dee joined; international calls now restricted`. Pure.
 *
 * Without values (`--no-values`) it holds no name, number or e-mail: numbers and users are shown by their ids.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { unreachable } from '#src/errors.ts';
import type { NumberChange } from '#src/ledger/snapshots.ts';
import { type PhoneNumber, type PhoneNumberUser, textOf } from '#src/wire/phone-number.ts';
import { type NumberDifference, numberDifferences, usersOf } from './compare-snapshots.ts';

export interface DescribeOptions {
  /** Whether names, numbers and e-mails may be shown. */
  readonly values: boolean;
}

/** A value in a sentence. */
const shownMax = 60;

/** One line. */
export function describeChange(change: NumberChange, options: DescribeOptions): string {
  switch (change.kind) {
    case 'added':
      return `${numberLabel(change.number, options)}: new${describeNew(change.number, options)}`;
    case 'removed':
      return `${numberLabel(change.number, options)}: gone`;
    case 'changed':
      return `${numberLabel(change.after, options)}: ${describeDifferences(change.before, change.after, options)}`;
    default:
      return unreachable(change);
  }
}

/** Without the number itself; empty if both are equal. */
export function describeDifferences(before: PhoneNumber, after: PhoneNumber, options: DescribeOptions): string {
  const differences = numberDifferences(before, after);
  const newNumber = differences.some((one) => one.kind === 'field' && one.field === 'number');
  return (
    differences
      // The display form follows the number.
      .filter((one) => !(newNumber && one.kind === 'field' && one.field === 'formattedNumber'))
      .map((one) => describeDifference(one, options))
      .join('; ')
  );
}

/** The number in international form; its id if it may not be shown, or if there is none. */
export function numberLabel(number: PhoneNumber, { values }: DescribeOptions): string {
  const text = textOf(number, 'number');
  return values && text !== null ? international(text) : shown(number.id);
}

/** `+14155550101` as `+1 415 555 0101`; anything else stays as it is. */
export function international(text: string): string {
  return parsePhoneNumberFromString(text)?.formatInternational() ?? shown(text);
}

/** The user's name, else the e-mail, else the id. */
export function userLabel(user: PhoneNumberUser, { values }: DescribeOptions): string {
  const name = [user.firstName, user.lastName].filter((part) => (part ?? '') !== '').join(' ');
  return shown((values && (name || user.email)) || user.id);
}

/** A new number: `, Main, with Ann and Dee`; empty if nothing is known of it. */
export function describeNew(number: PhoneNumber, options: DescribeOptions): string {
  const name = textOf(number, 'name');
  const users = [...(usersOf(number.users)?.values() ?? [])].map((user) => userLabel(user, options));
  const called = options.values && name !== null ? `, ${shown(name)}` : '';
  return users.length === 0 ? called : `${called}, with ${listOf(users)}`;
}

function describeDifference(difference: NumberDifference, options: DescribeOptions): string {
  switch (difference.kind) {
    case 'joined':
      return `${userLabel(difference.user, options)} joined`;
    case 'left':
      return `${userLabel(difference.user, options)} left`;
    case 'user':
      return describeUser(difference, options);
    case 'restriction':
      return `${restrictionName(difference.path)} ${difference.to === null ? 'no longer listed' : nowOrGone(difference.to)}`;
    case 'porting':
      return `porting status ${nowOrGone(difference.to)}${was(difference.from)}`;
    case 'field':
      return describeField(difference, options);
    default:
      return unreachable(difference);
  }
}

function describeUser(
  { user, field, from, to }: Extract<NumberDifference, { kind: 'user' }>,
  options: DescribeOptions,
): string {
  const label = userLabel(user, options);
  if (field === 'role') return `${label} is now ${shown(to)}${was(from)}`;
  const what = userFieldNames[field] ?? shown(field);
  return options.values ? `${what} of ${label} ${nowOrGone(to)}${was(from)}` : `${what} of ${label} changed`;
}

const userFieldNames: Readonly<Record<string, string>> = {
  firstName: 'first name',
  lastName: 'last name',
  email: 'e-mail',
  groupId: 'group',
};

const regionNames: Readonly<Record<string, readonly [before: string, after: string]>> = {
  US: ['', ' to the US'],
  CA: ['', ' to Canada'],
  Intl: ['international ', ''],
};
const kindNames: Readonly<Record<string, string>> = { calling: 'calls', messaging: 'messages' };

/** `calling.Intl` as `international calls`. */
export function restrictionName(path: string): string {
  const [kind = '', region = '', ...deeper] = path.split('.');
  const kindName = kindNames[kind];
  const places = regionNames[region];
  if (kindName === undefined || places === undefined || deeper.length > 0) return `restriction ${shown(path)}`;
  return `${places[0]}${kindName}${places[1]}`;
}

function describeField(
  { field, from, to }: Extract<NumberDifference, { kind: 'field' }>,
  { values }: DescribeOptions,
): string {
  const what = fieldNames[field] ?? shown(field);
  if (!values) return `${what} changed`;
  if (field === 'name' && from !== null && to !== null) return `renamed from ${shown(from)} to ${shown(to)}`;
  if (field === 'forward') return to === null ? 'no longer forwarded' : `now forwarded to ${phone(to)}`;
  if (field === 'number') return `number now ${phone(to)}, was ${phone(from)}`;
  return `${what} ${nowOrGone(to)}${was(from)}`;
}

const fieldNames: Readonly<Record<string, string>> = {
  formattedNumber: 'display form',
  forward: 'forwarding',
  groupId: 'group',
  portRequestId: 'port request',
};

function nowOrGone(to: unknown): string {
  return to === null ? 'removed' : `now ${shown(to)}`;
}

function was(from: unknown): string {
  return from === null ? '' : `, was ${shown(from)}`;
}

function phone(value: unknown): string {
  return typeof value === 'string' ? international(value) : shown(value);
}

/** As part of a sentence: short, and on one line. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`;
}

export function listOf(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
