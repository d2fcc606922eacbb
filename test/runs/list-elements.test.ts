/** A list of phone numbers or e-mail addresses in JSON takes nothing away by elements that cannot be read (`docs/mapping.md`, "Paths in JSON"). */
import { expect, it } from 'vitest';
import { expectCounts, mapping, openRunsBench } from './support/runs-bench.ts';

const number = '+14155550101';

const person = (firstName: string, phones: readonly object[]): string =>
  JSON.stringify([{ externalId: 'c-1', firstName, phones }]);

it('an element whose value has a name that is not known rejects its row, and the contact keeps its number', async () => {
  const bench = await openRunsBench();
  await bench.import('a.json', person('Ann', [{ name: 'work', value: number }]));
  for (const element of [{ name: 'work', nr: number }, { name: 'work' }]) {
    expectCounts(await bench.import('b.json', person('Anna', [element])), { rows: 1, dead: 1 });
  }
  const { firstName, phoneNumbers } = (await bench.world.contactOf('c-1')).defaultFields;
  expect([firstName, phoneNumbers.map(({ value }) => value)]).toEqual(['Ann', [number]]);
});

it('an element whose value is known in another case is read', async () => {
  const bench = await openRunsBench();
  await bench.import('a.json', person('Ann', [{ name: 'work', value: number }]));
  expectCounts(await bench.import('b.json', person('Anna', [{ Name: 'work', Value: number }])), {
    rows: 1,
    updated: 1,
  });
  const { phoneNumbers } = (await bench.world.contactOf('c-1')).defaultFields;
  expect(phoneNumbers.map(({ name, value }) => [name, value])).toEqual([['work', number]]);
});

const ofPeople = mapping({ key: 'id', fields: { firstName: 'name' }, phones: [{ column: 'people[].phones[].nr' }] });
const record = (people: readonly object[], name = 'Ann') => JSON.stringify([{ id: 'c-1', name, people }]);

it.each([{ phones: null }, { phones: [] }])(
  'a list of numbers in a list that holds none takes them away: %j',
  async (one) => {
    const bench = await openRunsBench();
    await bench.import('a.json', record([{ phones: [{ nr: number }] }]), { mapping: ofPeople });
    expectCounts(await bench.import('b.json', record([one]), { mapping: ofPeople }), { rows: 1, updated: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.phoneNumbers).toEqual([]);
  },
);

it.each([{ phones: [{ type: 'x' }] }, { name: 'x' }, {}])(
  'a file goes in whose only record has the list without what the mapping reads, and takes nothing away: %j',
  async (one) => {
    const bench = await openRunsBench();
    await bench.import('a.json', record([{ phones: [{ nr: number }] }]), { mapping: ofPeople });
    const run = await bench.import('b.json', record([one], 'Anna'), { mapping: ofPeople });
    expectCounts(run, { rows: 1, updated: 1 });
    const { firstName, phoneNumbers } = (await bench.world.contactOf('c-1')).defaultFields;
    expect([firstName, phoneNumbers.map(({ value }) => value)]).toEqual(['Anna', [number]]);
  },
);

const ofPhones = mapping({ key: 'id', fields: { firstName: 'name' }, phones: [{ column: 'phones[].nr' }] });
const other = '+14155550109';

it.each([{ nr: other }, other])('what stands in place of a list rejects its row: %j', async (phones) => {
  const bench = await openRunsBench();
  const people = (value: unknown) =>
    JSON.stringify([
      { id: 'c-1', name: 'Ann', phones: value },
      { id: 'c-2', name: 'Bea', phones: [{ nr: '+14155550102' }] },
    ]);
  await bench.import('a.json', people([{ nr: number }]), { mapping: ofPhones });
  expectCounts(await bench.import('b.json', people(phones), { mapping: ofPhones }), { rows: 2, unchanged: 1, dead: 1 });
  for (const [index, none] of ['', ' ', '-', false, 0, {}].entries())
    expectCounts(await bench.import(`c${index}.json`, people(none), { mapping: ofPhones }), { rows: 2, unchanged: 2 });
});
