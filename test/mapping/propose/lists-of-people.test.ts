/** Proposals for JSON whose records hold lists of people: the contact is the first of them, and no other's numbers are proposed for it. */
import { expect, test } from 'vitest';
import { desiredOf, mapJson } from '../support.ts';
import { first, jsonFacts, last, lines, propose } from './support/proposals.ts';

const nr = (n: number, of: number) => `+1415555${of}10${n}`;
const records = (make: (n: number) => object) => [0, 1, 2, 3].map((n) => ({ id: `a${n}`, ...make(n) }));
const person = (n: number, more: object = {}) => ({ firstName: first(n), lastName: last(n), ...more });
const valuesOf = (record: object, facts: Parameters<typeof propose>[0]) => {
  const { phones, emails } = desiredOf(mapJson(record, {}, propose(facts).mapping));
  return [...phones, ...emails].flatMap(({ items }) => items.map(({ label, value }) => [label, value]));
};

test('numbers and addresses are those of the person whose name is taken', () => {
  const each = (n: number, of: number) =>
    person(n + of, { phone: nr(n, of), mobile: nr(n, of + 3), email: `${n}-${of}@example.com` });
  const people = records((n) => ({ people: [each(n, 0), each(n, 1)] }));
  const facts = jsonFacts(people);
  expect(lines(facts)).toEqual([
    'id → key (certain)',
    'people[0].firstName → firstName (certain)',
    'people[0].lastName → lastName (certain)',
    'people[0].phone → phone (certain)',
    'people[0].mobile → phone (mobile) (certain)',
    'people[0].email → email (certain)',
  ]);
  expect(valuesOf(people[1] ?? {}, facts)).toEqual([
    ['phone', nr(1, 0)],
    ['mobile', nr(1, 3)],
    ['email', '1-0@example.com'],
  ]);
  const { text } = propose(facts);
  expect(text).toContain('{ column: "people[0].phone", label: phone }  # certain');
  expect(text).toContain('of the first alone, since the others are other people');
});

test('a whole name does the same, with the label beside the number', () => {
  const each = (n: number, of: number) => ({ name: `${first(n + of)} ${last(n + of)}`, type: 'direct', nr: nr(n, of) });
  const people = records((n) => ({ people: [each(n, 0), each(n, 1)] }));
  const facts = jsonFacts(people);
  expect(propose(facts).mapping.phones).toMatchObject([
    { column: 'people[0].nr', label: { column: 'people[0].type', default: 'phone' } },
  ]);
  expect(lines(facts)).toContain('people[0].type → label (likely)');
  expect(valuesOf(people[0] ?? {}, facts)).toEqual([['direct', nr(0, 0)]]);
});

test('of the first person all numbers of a list are read', () => {
  const each = (n: number, of: number) =>
    person(n + of, {
      phones: [
        { kind: 'x', type: 'work', nr: nr(n, of) },
        { kind: 'x', type: 'home', nr: nr(n, of + 3) },
      ],
      mails: [{ value: `${n}-${of}@example.com` }, { value: `${n}-${of}b@example.com` }],
    });
  const people = records((n) => ({ people: [each(n, 0), each(n, 1)] }));
  const facts = jsonFacts(people);
  expect(valuesOf(people[2] ?? {}, facts)).toEqual([
    ['work', nr(2, 0)],
    ['home', nr(2, 3)],
    ['email', '2-0@example.com'],
    ['email', '2-0b@example.com'],
  ]);
  const { mapping } = propose(facts);
  expect([...mapping.phones, ...mapping.emails].map(({ column }) => column)).toEqual([
    'people[0].phones[].nr',
    'people[0].mails',
  ]);
});

test('an id of the first person that is the key does the same', () => {
  const people = [0, 1, 2, 3].map((n) => ({ people: [0, 1].map((of) => ({ id: `p${n}${of}`, tel: nr(n, of) })) }));
  expect(lines(jsonFacts(people))).toEqual(['people[0].id → key (certain)', 'people[0].tel → phone (certain)']);
});

test('an address that is the key is one of several, unless numbers beside it may be those of other people', () => {
  const mails = [0, 1, 2, 3].map((n) => ({ mails: [0, 1].map((of) => ({ mail: `${n}-${of}@example.com` })) }));
  expect(propose(jsonFacts(mails)).mapping).toMatchObject({
    key: { column: 'mails[0].mail' },
    emails: [{ column: 'mails[].mail' }],
  });
  const both = [0, 1, 2, 3].map((n) => ({
    list: [0, 1].map((of) => ({ mail: `${n}-${of}@example.com`, tel: nr(n, of) })),
  }));
  expect(propose(jsonFacts(both)).mapping).toMatchObject({
    ...{ key: { column: 'list[0].mail' }, emails: [{ column: 'list[0].mail' }], phones: [{ column: 'list[0].tel' }] },
  });
});

test.each<[string, (n: number) => object]>([
  ['first and last names', (n) => person(n + 1)],
  ['a whole name', (n) => ({ name: `${first(n + 1)} ${last(n + 1)}` })],
  ['a name of another member', (n) => ({ displayName: `${first(n + 1)} ${last(n + 1)}` })],
])('the numbers of people with %s beside that of the contact are a guess', (_, other) => {
  const facts = jsonFacts(
    records((n) => ({
      ...person(n),
      people: [0, 1].map((of) => ({ ...other(n), phone: nr(n, of) })),
    })),
  );
  expect(lines(facts)).toContain('people[0].phone → phone (guess)');
  expect(propose(facts).text).toContain("beside another name, they may be another person's");
});

test('a name that is the label of a number makes no person of it, and an address with a company none', () => {
  const facts = jsonFacts(
    records((n) => ({
      ...person(n),
      desks: [0, 1].map((of) => ({ name: of === 0 ? 'Work' : 'Home', nr: nr(n, of) })),
      addresses: [0, 1].map((of) => ({ company: 'Holm AB', cityName: 'New York', phone: nr(n, of + 3) })),
    })),
  );
  expect(propose(facts).mapping.phones.map(({ column }) => column)).toEqual(['desks[].nr', 'addresses[].phone']);
});

test.each([
  ['a first name', 'staff', (id: number) => ({ first_name: first(id) })],
  ['a whole name', 'staff', (id: number) => ({ full_name: `${first(id)} ${last(id)}` })],
  ['a name, in a list of people', 'contacts', (id: number) => ({ name: `${first(id)} ${last(id)}` })],
  ['an id alone, in a list of people', 'Contacts', () => ({})],
])('an element with one address and %s is a person', (_, list, names) => {
  const each = (id: number) => ({ id, ...names(id), email: `p${id}@example.com` });
  const accounts = [0, 1, 2, 3].map((n) => ({ company: `Firm ${n}`, [list]: [each(2 * n), each(2 * n + 1)] }));
  const facts = jsonFacts(accounts);
  expect(lines(facts)).toContain(`${list}[0].id → key (certain)`);
  expect(valuesOf(accounts[1] ?? {}, facts)).toEqual([['email', 'p2@example.com']]);
});

test('an element with one address is none elsewhere, nor with a value in a list of people', () => {
  const each = (n: number, list: string, member: string) => ({
    id: `a${n}`,
    [list]: [{ id: n, [member]: `${n}@example.com` }],
  });
  const columnOf = (list: string, member: string) =>
    propose(jsonFacts([0, 1, 2, 3].map((n) => each(n, list, member)))).mapping.emails.map(({ column }) => column);
  expect([columnOf('mails', 'email'), columnOf('contacts', 'value')]).toEqual([['mails'], ['contacts']]);
});
