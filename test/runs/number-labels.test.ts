/** What a label says of a number in JSON is never a reason to take a number away that can be called (`docs/mapping.md`). */
import { expect, it } from 'vitest';
import { expectCounts, openRunsBench } from './support/runs-bench.ts';

it.each(['Fairfax office', 'Phone/Fax'])('a number that gets the label %s stays with its contact', async (label) => {
  const bench = await openRunsBench();
  const person = (firstName: string, type: string) =>
    JSON.stringify([{ externalId: 'c-1', firstName, phones: [{ type, number: '+14155550101' }] }]);
  await bench.import('a.json', person('Ann', 'mobile'));
  expectCounts(await bench.import('b.json', person('Anna', label)), { rows: 1, updated: 1 });
  const { firstName, phoneNumbers } = (await bench.world.contactOf('c-1')).defaultFields;
  expect([firstName, phoneNumbers.map(({ value }) => value)]).toEqual(['Anna', ['+14155550101']]);
});
