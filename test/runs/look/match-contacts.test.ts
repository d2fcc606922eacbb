/** Which contacts to be made are in the workspace already (`docs/rules.md`, "Contacts without an externalId"). */
import { describe, expect, test } from 'vitest';
import { createContactMatcher } from '#src/runs/look/match-contacts.ts';
import { type Contact, contactReply } from '#src/wire/contact.ts';
import { phone, type WantedContact, wanted } from '#test/upsert/support/build.ts';

interface There {
  readonly externalId?: string | null;
  readonly firstName?: string;
  readonly phones?: readonly string[];
  readonly emails?: readonly string[];
}

function contact(id: string, { externalId = null, firstName = 'Ann', phones = [], emails = [] }: There): Contact {
  const items = (values: readonly string[]) =>
    values.map((value, index) => ({ id: `${id}-${index}`, name: 'x', value }));
  const names = { firstName, lastName: null, company: null, role: null };
  const defaultFields = { ...names, emails: items(emails), phoneNumbers: items(phones) };
  return contactReply.parse({ id, externalId, source: null, sourceUrl: null, defaultFields, customFields: [] });
}

function match(rows: Readonly<Record<string, WantedContact>>, contacts: readonly Contact[]) {
  const matcher = createContactMatcher();
  const indexed = Object.entries(rows).map(([key, given], index) => {
    return { position: index + 1, key, desired: wanted(key, given) };
  });
  indexed.forEach(matcher.addRow);
  contacts.forEach(matcher.addContact);
  for (const row of indexed) matcher.readAgain(row);
  const { matches, existing } = matcher.result();
  const links = Object.fromEntries(
    matches.map(({ position, link }) => [
      indexed[position - 1]?.key,
      link.kind === 'contact' ? link.contactId : link.kind,
    ]),
  );
  return { links, existing };
}

const linksOf = (...given: Parameters<typeof match>) => match(...given).links;
const one = { phones: { work: [phone(1)] } };
const other = { phones: { work: [phone(2)] } };

describe('a row is one contact', () => {
  test('with the same phone number, in whichever form the app holds it', () => {
    for (const number of [phone(1), '(+1) 415-555-0101', '+1 (415) 555-0101'])
      expect(linksOf({ a: one }, [contact('h', { phones: [number] })])).toEqual({ a: 'h' });
  });

  test('with the same e-mail address, without regard to case', () => {
    const rows = { a: { emails: { work: ['ann@example.com'] } } };
    expect(linksOf(rows, [contact('h', { emails: ['Ann@Example.com'] })])).toEqual({ a: 'h' });
  });

  test('by a value of its own, although it shares another one', () => {
    const rows = { a: { phones: { work: [phone(9)], mobile: [phone(1)] } }, b: { phones: { work: [phone(9)] } } };
    const there = [contact('h', { phones: [phone(1), phone(9)] }), contact('i', { phones: [phone(9)] })];
    expect(linksOf(rows, there)).toEqual({ a: 'h', b: 'unclear' });
  });

  test('where a page shows the contact twice', () => {
    const shown = contact('h', { phones: [phone(1)] });
    expect(linksOf({ a: one }, [shown, shown])).toEqual({ a: 'h' });
  });

  test('where it names the number in two columns', () => {
    const rows = { a: { phones: { work: [phone(1)], mobile: [phone(1)] } } };
    expect(linksOf(rows, [contact('h', { phones: [phone(1)] })])).toEqual({ a: 'h' });
  });
});

describe('a row is unclear', () => {
  test('where two rows have the value', () => {
    expect(linksOf({ a: one, b: one }, [contact('h', { phones: [phone(1)] })])).toEqual({ a: 'unclear', b: 'unclear' });
  });

  test('where two contacts have the value', () => {
    const there = [contact('h', { phones: [phone(1)] }), contact('i', { phones: [phone(1)] })];
    expect(linksOf({ a: one }, there)).toEqual({ a: 'unclear' });
  });

  test('where one of the two contacts has an externalId, whichever comes first', () => {
    const there = [contact('h', { phones: [phone(1)] }), contact('i', { externalId: 'x', phones: [phone(1)] })];
    expect(linksOf({ a: one }, there)).toEqual({ a: 'unclear' });
    expect(linksOf({ a: one }, there.toReversed())).toEqual({ a: 'unclear' });
  });

  test('where its values lead to two contacts', () => {
    const rows = { a: { phones: { work: [phone(1)], mobile: [phone(2)] } } };
    const there = [contact('h', { phones: [phone(1)] }), contact('i', { phones: [phone(2)] })];
    expect(linksOf(rows, there)).toEqual({ a: 'unclear' });
  });

  test('where two rows lead to one contact', () => {
    const there = [contact('h', { phones: [phone(1), phone(2)] })];
    expect(linksOf({ a: one, b: other }, there)).toEqual({ a: 'unclear', b: 'unclear' });
  });
});

describe('a row is new', () => {
  test('where only contacts with an externalId have its values', () => {
    expect(linksOf({ a: one }, [contact('h', { externalId: 'x', phones: [phone(1)] })])).toEqual({});
  });

  test('where nothing is the same, names included', () => {
    expect(linksOf({ a: one }, [contact('h', { firstName: 'Ann', phones: [phone(2)] })])).toEqual({});
  });

  test('where the list leaves out the externalId of the contact', () => {
    const shown = { ...contact('h', { phones: [phone(1)] }), missing: ['externalId'] };
    expect(linksOf({ a: one }, [shown])).toEqual({});
  });
});

test('a row whose key the workspace has already is not to be made, and is no match', () => {
  const there = [contact('h', { externalId: 'a' }), contact('i', { phones: [phone(1)] })];
  expect(match({ a: one }, there)).toEqual({ links: {}, existing: 1 });
});
