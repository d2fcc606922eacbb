/** What a contact keeps where one of several values in a cell cannot be read (`docs/mapping.md`, "Values that cannot be read"). */
import { describe, expect, it } from 'vitest';
import { openPlanBench } from '../plans/support/plan-bench.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const header = 'Id,First,Tel,Mail';
const columns = {
  key: 'Id',
  defaultCountry: 'DE',
  onInvalid: 'drop',
  fields: { firstName: 'First' },
  phones: [{ column: 'Tel', label: 'work' }],
  emails: [{ column: 'Mail', label: 'work' }],
} as const;
const dropping = mapping(columns);
const both = '1,Ann,030 1234567; 030 1234568,a@example.de; b@example.de';
const half = '1,Ann,030 1234567; 4.93012E+09,a@example.de; b(at)example.de';

async function itemsOf(bench: RunsBench): Promise<readonly unknown[]> {
  const { defaultFields } = await bench.world.contactOf('1');
  return [...(defaultFields.phoneNumbers ?? []), ...(defaultFields.emails ?? [])].map(({ value }) => value);
}

describe('a cell with several values of which one cannot be read', () => {
  it('takes nothing away: in a plan, and in the import', async () => {
    const { bench, plan } = await openPlanBench({ mapping: dropping });
    await bench.import('a.csv', csv([both], header));
    const before = await itemsOf(bench);
    expect(before).toEqual(['+49301234567', '+49301234568', 'a@example.de', 'b@example.de']);
    const planned = await plan('b.csv', csv([half], header));
    expect([planned.plan.totals.rows, planned.contacts]).toMatchObject([{ updated: 0 }, []]);
    const run = await bench.import('b.csv', csv([half], header));
    expectCounts(run, { rows: 1, unchanged: 1 });
    expect(run.counts.warnings).toBe(2);
    expect(await itemsOf(bench)).toEqual(before);
  });

  it('adds what is new beside it, and the next file that can be read removes what it lacks', async () => {
    const bench = await openRunsBench({ mapping: dropping });
    await bench.import('a.csv', csv([both], header));
    const news = csv(['1,Ann,030 1234569; 4.93012E+09,a@example.de; b@example.de'], header);
    expectCounts(await bench.import('b.csv', news), { rows: 1, updated: 1 });
    expect(await itemsOf(bench)).toEqual([
      ...['+49301234567', '+49301234568', '+49301234569'],
      ...['a@example.de', 'b@example.de'],
    ]);
    expectCounts(await bench.import('c.csv', news), { rows: 1, unchanged: 1 });
    const read = csv(['1,Ann,030 1234569; 030 1234568,a@example.de; b@example.de'], header);
    expectCounts(await bench.import('d.csv', read), { rows: 1, updated: 1 });
    expect(await itemsOf(bench)).toEqual(['+49301234568', '+49301234569', 'a@example.de', 'b@example.de']);
  });

  it('goes in with the others where the contact is new, and the same values later remove none', async () => {
    const bench = await openRunsBench({ mapping: dropping });
    expectCounts(await bench.import('a.csv', csv([half], header)), { rows: 1, created: 1 });
    expect(await itemsOf(bench)).toEqual(['+49301234567', 'a@example.de']);
    expectCounts(await bench.import('b.csv', csv([both], header)), { rows: 1, updated: 1 });
    expect(await itemsOf(bench)).toEqual(['+49301234567', '+49301234568', 'a@example.de', 'b@example.de']);
  });

  it.each([['4.93012E+09'], ['030 1234567; 4.93012E+09']])(
    'takes nothing away where the file has the whole list: %s',
    async (tel) => {
      const phones = [...columns.phones, { column: 'Tel2', label: 'home' }];
      const bench = await openRunsBench({ mapping: mapping({ ...columns, phones, items: { phones: 'all' } }) });
      const wide = 'Id,First,Tel,Tel2,Mail';
      await bench.import('a.csv', csv(['1,Ann,030 1234567; 030 1234568,030 1234569,'], wide));
      const run = await bench.import('b.csv', csv([`1,Ann,${tel},030 1234569,`], wide));
      expectCounts(run, { rows: 1, unchanged: 1 });
      expect(await itemsOf(bench)).toEqual(['+49301234567', '+49301234568', '+49301234569']);
    },
  );
});
