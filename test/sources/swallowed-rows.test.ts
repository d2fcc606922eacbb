/** Rows inside a quoted cell (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { headerRule } from '#src/mapping/recognise.ts';
import { dataOf, errorOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const header = headerRule(null);
const read = (name: string, lines: readonly string[]) => readText(folder, name, `${lines.join('\n')}\n`, { header });

/** As programs write it that never quote. */
function unquoted(delimiter: string, notes: Readonly<Record<number, string>> = { 3: '"Monitor', 6: 'Monitor 24"' }) {
  const columns = ['externalId', 'notes', 'firstName', 'lastName', 'email', 'phone'];
  const rows = Array.from({ length: 12 }, (_, index) => {
    const n = index + 1;
    return [`k${n}`, notes[n] ?? `note ${n}`, `F${n}`, `L${n}`, `p${n}@example.com`, `+4930901820${n}`];
  });
  return [columns, ...rows].map((cells) => cells.join(delimiter));
}

describe('rows between two quotes', () => {
  it.each([
    ['tabs', 'a.tsv', '\t'],
    ['bars', 'a.csv', '|'],
    ['commas', 'a.csv', ','],
    ['semicolons', 'a.csv', ';'],
  ])('stop a file with %s: a key would get the values of another person', async (_, name, delimiter) => {
    const error = await errorOf(read(name, unquoted(delimiter)));
    expect(error).toMatchObject({ kind: 'file', code: 'rowsInQuotes', facts: { line: 4, lastLine: 7 } });
    expect(String(error)).toContain('a quote opens at line 4 and closes at line 7');
  });

  it.each([
    ['the next row', { 3: '"Monitor', 4: 'Monitor 24"' }, 5],
    ['a row behind which quotes open and close', { 3: '"Monitor', 5: 'Monitor 24"', 6: '"', 7: '"' }, 6],
  ])('stop it where the quote closes in %s', async (_, notes, lastLine) => {
    const error = await errorOf(read('b.tsv', unquoted('\t', notes)));
    expect(error).toMatchObject({ code: 'rowsInQuotes', facts: { line: 4, lastLine } });
  });

  it('stop it where the quote closes in another column', async () => {
    const lines = unquoted('\t', { 3: '"Monitor' }).map((line) => line.replace('F6', '24"'));
    expect(await errorOf(read('b.tsv', lines))).toMatchObject({
      code: 'rowsInQuotes',
      facts: { line: 4, lastLine: 7 },
    });
  });

  it('stop it where nobody has an address or a number, by the keys', async () => {
    const lines = ['externalId,notes,firstName,lastName', '1,"a,Ann,A', '2,b,Bea,B', '3,c",Cem,C'];
    expect(await errorOf(read('c.csv', lines))).toMatchObject({
      code: 'rowsInQuotes',
      facts: { line: 2, lastLine: 4 },
    });
  });
});

describe('a table that was pasted into a remark is one cell', () => {
  const columns = 'externalId,firstName,email,notes';
  const pasted = ['2,Bea,b@example.com,x', '3,Cem,c@example.com,y"'];
  const count = async (lines: readonly string[]) => (await read('e.csv', [columns, ...lines])).items.length;

  it('where nothing shows that the program quotes, it is refused', async () => {
    const error = await errorOf(read('e.csv', [columns, '1,Ann,a@example.com,"t', ...pasted]));
    expect(error).toMatchObject({ code: 'rowsInQuotes', facts: { line: 2, lastLine: 4 } });
    expect(error.hint).toContain('If it is one cell, write quotes around the other cells of its row, too.');
  });

  it.each([
    ['another cell of the record has quotes around it', ['1,"Ann",a@example.com,"t', ...pasted], 1],
    ['all cells have quotes around them', ['"1","Ann","a@example.com","t', ...pasted], 1],
    ['a quote in it is written twice', ['1,Ann,a@example.com,"a ""t""', ...pasted], 1],
    ['a cell above has the delimiter in its quotes', ['9,"Lee, Ann",,', '1,Ann,a@example.com,"t', ...pasted], 2],
    ['a cell above has a quote in its quotes', ['9,"Ann ""A""",,', '1,Ann,a@example.com,"t', ...pasted], 2],
  ])('where %s', async (_, lines, records) => {
    expect(await count(lines)).toBe(records);
  });

  it('numbers of several lengths are no keys', async () => {
    expect(await count(['1001,Ann,,"n', '2,b,c,d', '30,b,c,d"'])).toBe(1);
  });

  it.each([
    ['mere quotes above', ['9,"Lee" Ann,,', '8,a,,""']],
    ['quotes around several cells above, which leave too few', ['9,"Lee,Ann",']],
  ])('%s show nothing', async (_, lines) => {
    const error = await errorOf(read('e.csv', [columns, ...lines, '1,Ann,a@example.com,"t', ...pasted]));
    expect(error).toMatchObject({ code: 'rowsInQuotes' });
  });
});

describe('a cell with line breaks is one cell', () => {
  const cells = async (lines: readonly string[]) => dataOf((await read('d.csv', lines)).items);

  it.each([
    [
      'an address with as many commas as the row',
      ['1,Ann,"Main St 5, Floor 2', '10115, Berlin, Germany",a@example.com'],
    ],
    ['an address in three lines', ['1,Ann,"Main St 5', 'Floor 2', '10115 Berlin",a@example.com']],
    ['a remark with a few commas', ['1,Ann,"Called, not in', 'called again, will come, perhaps",a@example.com']],
    ['lines with as many commas as the header', ['1,Ann,"a, b', 'one, two, three, four', 'c, d, e",a@example.com']],
    ['numbered lines', ['1,Ann,"List, of', '2 chairs,3 desks,4 lamps,x', '5,6,7",a@example.com']],
    ['blank lines', ['1,Ann,"a', '', 'b",a@example.com']],
    ['other rows of a table with more columns', ['1,Ann,"a', '2,b,c,d,e,f@example.com', 'x",a@example.com']],
  ])('%s', async (_, row) => {
    expect(await cells(['externalId,firstName,company,email', ...row])).toHaveLength(1);
  });

  it('also in a file with two or three columns', async () => {
    const rows = await cells([
      'externalId,email,notes',
      'k1,a@example.com,"b',
      'k2,b@example.com,c',
      'k3,c@example.com,d"',
    ]);
    expect(rows).toHaveLength(1);
  });
});
