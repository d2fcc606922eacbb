/** Files that were joined, or written by unusual programs (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { headerRule } from '#src/mapping/recognise.ts';
import { brokenOf, dataOf, errorOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const header = headerRule(null);
const read = (content: string, options = {}) => readText(folder, 'j.csv', content, { header, ...options });

describe('a file that was joined from several', () => {
  it('repeats its header: the line is left out, with a note', async () => {
    const one = 'externalId,firstName\nc-1,Ann\n';
    const { items, tail } = await read(`${one}${one.replace('c-1', 'c-2')}`);
    expect(dataOf(items)).toEqual([
      ['c-1', 'Ann'],
      ['c-2', 'Ann'],
    ]);
    expect(tail.warnings).toMatchObject([
      { code: 'headerRepeated', line: 3, message: 'line 3 is left out: it repeats the header' },
    ]);
  });

  it('has byte order marks inside: none hides a header or a quote', async () => {
    const { items, tail } = await read(
      'externalId,firstName\nc-1,Ann\n\ufeffexternalId,firstName\n\ufeff"c-2","B\ufeffea"\n',
    );
    expect(dataOf(items)).toEqual([
      ['c-1', 'Ann'],
      ['c-2', 'B\ufeffea'],
    ]);
    expect(tail.warnings).toMatchObject([{ code: 'headerRepeated', line: 3 }]);
  });

  it('has a second header with the columns in another order: it is refused, since rows would be misread', async () => {
    const error = await errorOf(
      read('externalId,firstName,company\nc-1,Ann,A\nfirstName,externalId,company\nBea,c-2,B\n'),
    );
    expect(error).toMatchObject({ kind: 'file', code: 'secondHeader', facts: { line: 3, firstLine: 1 } });
  });

  it('is not a file in which somebody is called as a column is', async () => {
    const { items } = await read('firstName,externalId,company\nCompany,c-1,company\nfirstName,c-2,\n');
    expect(items).toHaveLength(2);
  });
});

describe('an unusual program', () => {
  it.each(['\u0085', '\u2028', '\u2029'])(
    'that ends lines with %j: the file is refused, not taken for a header',
    async (end) => {
      const error = await errorOf(read(`externalId,firstName${end}c-1,Ann${end}c-2,Bea${end}`));
      expect(error).toMatchObject({ kind: 'file', code: 'lineEndsUnknown', facts: { line: 1 } });
    },
  );

  it.each(['c-1,Ann\r\n', 'c-1,Ann', 'c-1,"Ann"', 'c-1,"Ann"\n'])(
    'that ends the file with Ctrl-Z behind %j: it is no text and no line',
    async (row) => {
      const { items, tail } = await read(`externalId,firstName\r\n${row}\u001a`);
      expect([dataOf(items), brokenOf(items), tail.blankLineCount]).toEqual([[['c-1', 'Ann']], [], 0]);
    },
  );

  it('that writes characters of no width into the header: the column is known', async () => {
    expect((await read('external\u200bId,\ufefffirstName\nc-1,Ann\n')).items).toHaveLength(1);
  });

  it('that begins with many blank lines: the header is the first line behind them', async () => {
    const { items, tail } = await read(`${'\n'.repeat(1_000)}externalId,firstName\nc-1,Ann\n`);
    expect([items[0]?.row.line, tail.blankLineCount]).toEqual([1_002, 1_000]);
    expect((await read('\n'.repeat(1_000))).tail.warnings).toMatchObject([{ code: 'emptyFile' }]);
  });
});

it('the message about a missing header names the line that it quotes', async () => {
  const error = await errorOf(read('name,mail\nAnn,a@example.com,x\n'));
  expect(error.facts.line).toBe(2);
  expect(error.message).toContain('line 2 holds: "Ann", "a@example.com", "x"');
});

it('a table that is called .json is told so', async () => {
  const error = await errorOf(readText(folder, 'a.json', 'externalId,firstName\nc-1,Ann\n'));
  expect(error).toMatchObject({ code: 'jsonInvalid', hint: expect.stringContaining('give its name the ending .csv') });
});
