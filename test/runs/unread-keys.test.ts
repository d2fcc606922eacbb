/** A row with a cell that cannot be kept has its key, where the key itself is valid (`docs/rules.md`, "Dead letters"). */
import { describe, expect, it } from 'vitest';
import { mappingSchema } from '#src/mapping/mapping-schema.ts';
import { csv, expectCounts, openRunsBench } from './support/runs-bench.ts';

const header = 'externalId,firstName,role';
const bell = '\u0007';

describe('a dead letter of a row with a cell that cannot be kept', () => {
  it('has the key of the row, and is closed by the next file in which the row is right', async () => {
    const bench = await openRunsBench();
    const first = await bench.import('a.csv', csv(['c-1,Ann,Lead', `c-2,Bob${bell},Buyer`], header));
    expectCounts(first, { rows: 2, created: 1, dead: 1 });
    expect(await bench.letters()).toMatchObject([{ key: 'c-2', code: 'controlCharacter', line: 3, state: 'open' }]);
    expect((await bench.report(first)).problems).toMatchObject([{ line: 3, field: 'firstName' }]);
    const again = await bench.import('b.csv', csv(['c-1,Ann,Lead', `c-2,Bob${bell}by,Buyer`], header));
    expectCounts(again, { rows: 2, unchanged: 1, dead: 1 });
    expect(await bench.letters()).toMatchObject([{ key: 'c-2', seenCount: 2 }]);
    expectCounts(await bench.import('c.csv', csv(['c-1,Ann,Lead', 'c-2,Bob,Buyer'], header)), {
      rows: 2,
      unchanged: 1,
      created: 1,
    });
    expect(await bench.letters()).toMatchObject([{ key: 'c-2', state: 'closed' }]);
  });

  it('has no key where the key itself holds the character, or cells have moved', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv([`c-1${bell},Ann,Lead`, 'c-2,Bob,Buyer,more'], header));
    expect((await bench.letters()).map(({ key, code }) => [key, code])).toEqual([
      [null, 'controlCharacter'],
      [null, 'cellCount'],
    ]);
  });

  it('has the key of a JSON record, too', async () => {
    const bench = await openRunsBench();
    await bench.import('a.ndjson', `${JSON.stringify({ externalId: 'c-1', firstName: `Ann${bell}`, role: 'Lead' })}\n`);
    expect(await bench.letters()).toMatchObject([{ key: 'c-1', code: 'controlCharacter' }]);
  });

  it('has the key that is made of other cells, and none that is made of one that cannot be kept', async () => {
    const made = (template: string) =>
      mappingSchema.parse({
        name: 'made',
        key: { template },
        keyPrefix: 'm-',
        fields: { firstName: 'firstName', role: 'role' },
      });
    const lettersOf = async (template: string, row: string) => {
      const bench = await openRunsBench();
      await bench.import('a.csv', csv([row], header), { mapping: made(template) });
      return bench.letters();
    };
    const long = 'x'.repeat(1_200);
    expect(await lettersOf('{externalId}-{role}', `1,Ann${bell}${long},Lead`)).toMatchObject([{ key: 'm-1-Lead' }]);
    expect(await lettersOf('{externalId}-{role}', `1,Ann,Lead${bell}`)).toMatchObject([{ key: null }]);
    expect(await lettersOf('{externalId}-{firstName}', `1,Ann${long},Lead${bell}`)).toMatchObject([{ key: null }]);
  });

  it('rejects another row with its key that differs, as any rejected row does', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv([`c-1,Ann${bell},Lead`, 'c-1,Ann,Chief'], header));
    expect((await bench.letters()).map(({ key, code }) => [key, code])).toEqual([
      ['c-1', 'controlCharacter'],
      ['c-1', 'duplicateKey'],
    ]);
  });
});
