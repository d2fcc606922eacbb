/** What a label says of a number in JSON or in a cell is never a reason to take a number away that can be called (`docs/mapping.md`). */
import { expect, it } from 'vitest';
import { expectCounts, openRunsBench } from './support/runs-bench.ts';

it.each(['Fairfax office', 'Phone/Fax', 'Home/Fax'])(
  'a number that gets the label %s stays with its contact',
  async (label) => {
    const bench = await openRunsBench();
    const person = (firstName: string, type: string) =>
      JSON.stringify([{ externalId: 'c-1', firstName, phones: [{ type, number: '+14155550101' }] }]);
    await bench.import('a.json', person('Ann', 'mobile'));
    expectCounts(await bench.import('b.json', person('Anna', label)), { rows: 1, updated: 1 });
    const { firstName, phoneNumbers } = (await bench.world.contactOf('c-1')).defaultFields;
    expect([firstName, phoneNumbers.map(({ value }) => value)]).toEqual(['Anna', ['+14155550101']]);
  },
);

it('a number beside another in a cell stays with its contact when the cell calls it that of an office and a fax', async () => {
  const bench = await openRunsBench();
  const numbersIn = async (firstName: string, cell: string) => {
    await bench.import(`${firstName}.csv`, `externalId,firstName,phone\nc-1,${firstName},${cell}\n`);
    return (await bench.world.contactOf('c-1')).defaultFields.phoneNumbers.map(({ value }) => value);
  };
  const both = ['+491701234567', '+49301234567'];
  expect(await numbersIn('Ann', '+49 170 1234567; +49 30 1234567')).toEqual(both);
  expect(await numbersIn('Anna', '+49 170 1234567; Büro/Fax +49 30 1234567')).toEqual(both);
  expect(await numbersIn('Anne', '+49 170 1234567 | +49 30 1234567 (kein Fax)')).toEqual(both);
});
