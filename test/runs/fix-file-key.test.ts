/** The key of a row of a fix-file is that of its dead letter (`docs/rules.md`, "Dead letters"), whatever a spreadsheet or a person did to its cell. */
import { describe, expect, it } from 'vitest';
import { type CellValue, writeWorkbook } from '#test/support/workbook.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const header = 'externalId,firstName,role,phone';
const number = '+14155550101';

const keysOf = async ({ world }: RunsBench) => (await world.contacts()).map(({ externalId }) => externalId).sort();
const open = async (bench: RunsBench) =>
  (await bench.letters()).flatMap(({ state, code, key }) => (state === 'open' ? [[code, key]] : []));

async function fixFileOf(bench: RunsBench, ...rows: readonly string[]): Promise<string> {
  return (await bench.fixFile(await bench.import('a.csv', csv(rows, header)))).text;
}

describe('a fix-file that a spreadsheet has opened and saved', () => {
  it.each([
    ['MARCH1', '1-Mar'],
    ['1.1.26', '01.01.2026'],
    ['TRUE', 'WAHR'],
    ['(5)', '-5'],
    ['1.234', '1234'],
    ['12:30', '12:30:00'],
    ['Dez 12', '12. Dez'],
    ['1 000', '1000'],
  ])('goes in under the key of its letter: %s, which came back as %s', async (key, shown) => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, `${key},Ann,${key},CALL-ME`);
    const saved = text.replaceAll(key, shown).replace('CALL-ME', number);
    expectCounts(await bench.import('saved.csv', saved), { rows: 1, created: 1 });
    expect(await keysOf(bench)).toEqual([key]);
    expect((await bench.world.contactOf(key)).defaultFields.role).toBe(key);
    expect(await open(bench)).toEqual([]);
  });
});

describe('a fix-file that was saved as a workbook', () => {
  const serialOf = (date: string) => Date.parse(date) / 86_400_000 + 25_569;

  it('goes in under the keys of its letters, with the cells that became dates and numbers as they were', async () => {
    const bench = await openRunsBench();
    const wide = 'externalId,firstName,lastName,role,phone';
    const was = ['3-4,Ed,5.3.26,1/2,CALL-ME', '00124,Ann,MARCH1,WAHR,CALL-ME'];
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(was, wide)));
    const rows = text
      .replace('\ufeff', '')
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',').slice(0, wide.split(',').length + 2));
    const year = new Date().getFullYear();
    const date = (day: string, format = 'DD.MM.YYYY'): CellValue => ({ number: serialOf(day), format });
    const [head = [], ed = [], ann = []] = rows;
    const saved: CellValue[][] = [
      head,
      [date(`${year}-04-03`, 'DD. MMM'), 'Ed', date('2026-03-05'), date(`${year}-02-01`), number, ...ed.slice(5)],
      [124, 'Ann', date(`${year}-03-01`, 'D-MMM'), true, number, ...ann.slice(5)],
    ];
    const run = await bench.import('a.xlsx', writeWorkbook({ sheets: [{ name: 'a', rows: saved }] }));
    expectCounts(run, { rows: 2, created: 2 });
    expect(await keysOf(bench)).toEqual(['00124', '3-4']);
    const roles = async (key: string) => (await bench.world.contactOf(key)).defaultFields;
    expect(await roles('3-4')).toMatchObject({ lastName: '5.3.26', role: '1/2' });
    expect(await roles('00124')).toMatchObject({ lastName: 'MARCH1', role: 'WAHR' });
    expect(await open(bench)).toEqual([]);
  });
});

describe('a correction', () => {
  it('is taken where the cell was rejected, though a spreadsheet could have made it', async () => {
    const role = { column: 'Born', transform: [{ date: 'D.M.YYYY' }] };
    const bench = await openRunsBench({ mapping: mapping({ fields: { firstName: 'firstName', role } }) });
    const { text } = await bench.fixFile(
      await bench.import('a.csv', csv(['c-1,Ann,2026-03-05'], 'externalId,firstName,Born')),
    );
    expect(text).toContain('dateInvalid');
    const run = await bench.import('b.csv', text.replace('2026-03-05', '5.3.2026'));
    expectCounts(run, { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('2026-03-05');
  });
});
