/** Tables as programs of PostgreSQL write them (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { headerRule } from '#src/mapping/recognise.ts';
import { brokenOf, dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const header = headerRule(null);
const read = (name: string, lines: readonly string[]) => readText(folder, name, `${lines.join('\n')}\n`, { header });
const goingOn = 'cellGoesOn';

describe('the aligned output of psql', () => {
  const top = [' externalId |  company  | firstName ', '------------+-----------+-----------'];

  it('cuts a cell with line breaks: neither part becomes a contact', async () => {
    const lines = [
      ...top,
      ' k1         | Nordlicht+| Ann',
      '            | GmbH      | ',
      ' k2         | Ost       | Bea',
      '(2 rows)',
    ];
    const { items } = await read('a.txt', lines);
    expect(brokenOf(items)).toEqual([`3:${goingOn}`, `4:${goingOn}`]);
    expect(items).toHaveLength(3);
  });

  it('cuts one in the last column, and in more than two lines', async () => {
    const lines = [
      ...top,
      ' k1         | Ost       | Ann      +',
      '            |           | Bea      +',
      '            |           | Cem',
    ];
    expect(brokenOf((await read('a.txt', lines)).items)).toEqual([`3:${goingOn}`, `4:${goingOn}`, `5:${goingOn}`]);
  });

  it('leaves a plus that belongs to a value', async () => {
    const lines = [
      ...top,
      ' k1         | C++       | Ann',
      ' k2         | Ost +     | B+',
      '            | Ost       | Bea',
    ];
    expect(brokenOf((await read('a.txt', lines)).items)).toEqual([]);
  });

  it('is not any other table with bars', async () => {
    const { items } = await read('a.csv', ['externalId|company', 'k1|Ost+', 'k2|West']);
    expect([brokenOf(items), items.length]).toEqual([[], 2]);
  });
});

it('the end mark of COPY is left out, with a note', async () => {
  const { items, tail } = await read('c.tsv', ['externalId\tfirstName', 'k1\tAnn', '\\.']);
  expect(dataOf(items)).toEqual([['k1', 'Ann']]);
  expect(tail.warnings).toMatchObject([
    { code: 'copyEnd', line: 3, message: 'line 3 is left out: it is the end mark of COPY' },
  ]);
});
