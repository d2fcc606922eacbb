/** Who is who in a new workspace: numbers and names of its own, of its contacts and of strangers. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { workspaceSeed } from '#src/service/seed/seed-workspace.ts';
import { openStore, type Store } from '#src/service/store/open-store.ts';
import { manualClock } from './test-service.ts';

function seeded(seedContacts: number, seedPhoneNumbers: number): Store {
  const store = openStore(':memory:', workspaceSeed({ seedContacts, seedPhoneNumbers }, manualClock()));
  onTestFinished(() => store.close());
  return store;
}

const numbersOf = (store: Store) => [...store.phoneNumbers.each()];
const contactNumbers = (store: Store) =>
  [...store.contacts.each()].flatMap((one) => one.defaultFields.phoneNumbers.map((item) => item.value));
const otherParties = (store: Store) => [
  ...[...store.calls.each()].map((call) => call.participants[0] ?? ''),
  ...[...store.messages.each()].map((one) => (one.direction === 'incoming' ? one.from : (one.to[0] ?? ''))),
];

describe.each([
  [0, 0],
  [0, 1],
  [0, 4],
  [1, 1],
  [3, 4],
  [7, 12],
  [25, 4],
  [25, 0],
  [1234, 150],
  [70_000, 2],
  [100, 10_000],
])('with %i contacts and %i phone numbers', (contactCount, numberCount) => {
  const store = openStore(
    ':memory:',
    workspaceSeed({ seedContacts: contactCount, seedPhoneNumbers: numberCount }, manualClock()),
  );
  const own = new Set(numbersOf(store).map((one) => one.number));
  const known = new Set(contactNumbers(store));
  const others = new Set(otherParties(store));
  const users = [...store.users.each()];
  const contacts = [...store.contacts.each()].map((one) => one.defaultFields);
  store.close();

  test('no contact has a number of the workspace', () => {
    expect([own.size, contacts.length]).toEqual([numberCount, contactCount]);
    expect([...known].filter((number) => own.has(number))).toEqual([]);
  });

  test('no contact has the name or the address of a user', () => {
    const names = new Set(users.map((user) => `${user.firstName} ${user.lastName}`));
    const addresses = new Set(users.map((user) => user.email));
    expect(addresses.size).toBe(users.length);
    expect(contacts.filter((one) => names.has(`${one.firstName} ${one.lastName}`))).toEqual([]);
    expect(contacts.filter((one) => one.emails.some(({ value }) => addresses.has(value)))).toEqual([]);
  });

  test('calls and messages are with contacts, where there are any, and with strangers', () => {
    const activeCount = Math.min(4, numberCount);
    const strangers = [...others].filter((number) => !known.has(number));
    expect(strangers).toHaveLength(contactCount === 0 ? 3 * activeCount : activeCount);
    expect(others.size - strangers.length).toBe(Math.min(2 * activeCount, contactCount));
    expect([...others].filter((number) => own.has(number) || !/^\+1\d{3}55501\d\d$/.test(number))).toEqual([]);
  });
});

test('one number forwards, one must not call abroad, one has no display form, one no symbol, one user no name', () => {
  const store = seeded(0, 6);
  const numbers = numbersOf(store);
  const own = new Set(numbers.map((one) => one.number));
  expect(numbers.map((one) => one.forward !== null)).toEqual([false, false, true, false, false, false]);
  expect(own.has(numbers[2]?.forward ?? '')).toBe(false);
  expect(numbers[2]?.forward).toMatch(/^\+1\d{3}55501\d\d$/);
  expect(otherParties(store)).not.toContain(numbers[2]?.forward);
  expect(numbers.map((one) => one.restrictions.calling.Intl === 'restricted').indexOf(true)).toBe(1);
  expect(numbers.map((one) => one.formattedNumber === null)).toEqual([false, false, false, false, false, true]);
  expect(numbers.map((one) => one.symbol === null).indexOf(true)).toBe(1);
  expect([...store.users.each()].map((user) => user.firstName === null)).toEqual([false, false, true]);
});
