/** People of a list in JSON whom a mapping leaves out (`docs/mapping.md`, "JSON"). */
import { expect, test } from 'vitest';
import { watchFirstElements } from '#src/mapping/first-elements.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import type { JsonValue } from '#src/sources/row.ts';

const messages = (mapping: string, ...objects: readonly { readonly [name: string]: JsonValue }[]) => {
  const watch = watchFirstElements(parseMapping(`name: a\n${mapping}`, 'a.yaml'));
  for (const [index, object] of objects.entries()) watch.see({ kind: 'object', line: index + 1, record: 1, object });
  return watch.list().map(({ line, message }) => `${line}: ${message}`);
};
const people = (...ids: readonly number[]) => ids.map((id) => ({ id, email: `p${id}@example.com` }));
const firstOnly = 'key: contacts[0].id\nemails: [{ column: "contacts[0].email", label: email }]';

test('those behind the first are counted, with the first line that has them', () => {
  expect(
    messages(firstOnly, { contacts: people(1) }, { contacts: people(2, 3, 4) }, { contacts: people(5, 6) }),
  ).toEqual([
    '2: 3 more elements of "contacts" in 2 records are not read: the mapping takes the first of each list alone',
  ]);
  expect(messages(firstOnly, { contacts: people(1, 2) })).toEqual([
    '1: 1 more element of "contacts" in 1 record is not read: the mapping takes the first of each list alone',
  ]);
});

test.each([
  ['all elements are read', 'key: contacts[0].id\nemails: [{ column: "contacts[].email", label: email }]'],
  ['the second is read', 'key: contacts[0].id\nemails: [{ column: "contacts[1].email", label: email }]'],
  [
    'the list is of one person',
    'key: id\nfields: { firstName: "names[0].givenName" }\nemails: [{ column: mail, label: email }]',
  ],
  [
    'the list holds ids alone',
    'key: identities[0].id\nfields: { firstName: first }\nemails: [{ column: mail, label: email }]',
  ],
  ['the mapping ignores it', `${firstOnly}\nignore: [contacts]`],
  ['neither key nor name is in it', 'key: id\nemails: [{ column: "places[0].email", label: email }]'],
])('nothing is said where %s', (_, mapping) => {
  expect(
    messages(mapping, { id: 1, names: [{}, {}], identities: people(1, 2), places: [{}, {}], contacts: people(1, 2) }),
  ).toEqual([]);
});

test('a list of people is known by its name, too', () => {
  const mapping = 'key: id\nemails: [{ column: "contacts[0].email", label: email }]';
  expect(messages(mapping, { id: 1, contacts: people(1, 2) })).toHaveLength(1);
});

test.each([
  ['the key and an address', 'key: rows[0].id\nemails: [{ column: "rows[0].email", label: email }]'],
  ['a name', 'key: id\nfields: { lastName: "rows[0].last" }'],
])('so is one that holds %s', (_, mapping) => {
  expect(messages(mapping, { id: 1, rows: people(1, 2) })).toHaveLength(1);
});

test('nothing is said of a list in an object that the mapping ignores', () => {
  const mapping = 'key: id\nfields: { lastName: "crm.people[0].last" }';
  const record = { id: 1, crm: { people: people(1, 2) } };
  const count = (ignored: string) => messages(`${mapping}\nignore: ["${ignored}"]`, record).length;
  expect(['crm', 'crm.people', 'other'].map(count)).toEqual([0, 0, 1]);
});

test('the hint has a command for either form of JSON', () => {
  const watch = watchFirstElements(parseMapping(`name: a\n${firstOnly}`, 'a.yaml'));
  watch.see({ kind: 'object', line: 1, record: 1, object: { contacts: people(1, 2) } });
  const [{ hint } = { hint: '' }] = watch.list();
  expect(hint).toContain("jq -c '.contacts[]' does for one record per line, and jq -c '.[].contacts[]'");
});

test('nothing is said of texts, and of records without the list', () => {
  expect(messages(firstOnly, { contacts: ['a', 'b'] }, { contacts: null }, {})).toEqual([]);
});
