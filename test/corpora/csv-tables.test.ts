/** Small tables, each with one thing that readers get wrong, and what must come out. */
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { naughtyStrings } from '#test/corpora/naughty-strings.ts';
import { brokenOf, dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();

const tables: readonly (readonly [name: string, text: string, columns: string[], rows: string[][]])[] = [
  ['a comma in quotes', 'a,b\nx,"y, z"\n', ['a', 'b'], [['x', 'y, z']]],
  [
    'empty cells',
    'a,b,c\n1,"",\n,,3\n',
    ['a', 'b', 'c'],
    [
      ['1', '', ''],
      ['', '', '3'],
    ],
  ],
  [
    'empty cells, CRLF',
    'a,b,c\r\n1,"",\r\n,,3\r\n',
    ['a', 'b', 'c'],
    [
      ['1', '', ''],
      ['', '', '3'],
    ],
  ],
  ['escaped quotes', 'a,b\n"say ""hi""",""""\n', ['a', 'b'], [['say "hi"', '"']]],
  ['JSON in a cell', 'k,v\n1,"{""t"": ""P"", ""c"": [1, 2]}"\n', ['k', 'v'], [['1', '{"t": "P", "c": [1, 2]}']]],
  ['line ends in quotes', 'a,b\n"one\ntwo","three\r\nfour"\n', ['a', 'b'], [['one\ntwo', 'three\r\nfour']]],
  ['quotes and line ends', 'a,b\n1,"ha \n""ha"" \nha"\n', ['a', 'b'], [['1', 'ha \n"ha" \nha']]],
  ['no line end at the end', 'a,b\n1,2', ['a', 'b'], [['1', '2']]],
  ['a quoted cell at the end', 'a,b\n1,"2"', ['a', 'b'], [['1', '2']]],
  ['an empty quoted cell at the end', 'a,b\n1,""', ['a', 'b'], [['1', '']]],
  ['an empty bare cell at the end', 'a,b\n1,', ['a', 'b'], [['1', '']]],
  [
    'CR only',
    'a,b\r1,2\r3,4\r',
    ['a', 'b'],
    [
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  ['white space kept', 'a,b\n 1 ,"  2  "\n', ['a', 'b'], [[' 1 ', '  2  ']]],
  ['white space behind a closing quote', 'a,b\n"1" ,"2"  \n', ['a', 'b'], [['1', '2']]],
  ['a quote inside a bare cell', 'a,b\n6" nail,5\'10"\n', ['a', 'b'], [['6" nail', '5\'10"']]],
  ['a quoted header with a line end', '"a\nb",c\n1,2\n', ['a\nb', 'c'], [['1', '2']]],
  ['a line that looks like a comment', 'a,b\n#1,2\n', ['a', 'b'], [['#1', '2']]],
  [
    'other scripts',
    'a,b\n日本語,Ελληνικά\nעברית,عربى\n',
    ['a', 'b'],
    [
      ['日本語', 'Ελληνικά'],
      ['עברית', 'عربى'],
    ],
  ],
  ['a BOM inside the table', 'a,b\n\ufeff1,2\n', ['a', 'b'], [['\ufeff1', '2']]],
  ['one column', 'a\n1\n"2,3"\n', ['a'], [['1'], ['2,3']]],
];

describe('tables that readers get wrong', () => {
  it.each(tables)('%s', async (_name, text, columns, rows) => {
    const { head, items } = await readText(folder, 't.csv', text);
    expect([head.columns, dataOf(items), brokenOf(items)]).toEqual([columns, rows, []]);
  });

  it('naughty strings come through as they are', async () => {
    const rows = naughtyStrings.map((text, index) => [`${index}`, text, 'end']);
    const text = rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n');
    const { items } = await readText(folder, 'n.csv', `id,text,end\r\n${text}`);
    expect([dataOf(items), brokenOf(items)]).toEqual([rows, []]);
    const json = JSON.stringify(rows.map((row) => ({ text: row[1] })));
    expect(dataOf((await readText(folder, 'n.json', json)).items)).toEqual(rows.map((row) => ({ text: row[1] })));
  });

  it('generated tables read as another parser reads them, whatever the delimiter and line end', async () => {
    const cell = fc.string({ unit: fc.constantFrom(...'abc ,;"\n\r\t|é😀0'), maxLength: 8 });
    const row = fc.array(cell, { minLength: 3, maxLength: 3 });
    const table = fc.array(row, { minLength: 1, maxLength: 30 });
    const property = fc.asyncProperty(
      table,
      fc.constantFrom(',', ';', '\t', '|'),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (rows, delimiter, end) => {
        const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;
        const text = [['h1', 'h2', 'h3'], ...rows].map((cells) => cells.map(quoted).join(delimiter) + end).join('');
        const { items } = await readText(folder, 'g.csv', text, { delimiter });
        expect(dataOf(items)).toEqual(parse(text, { delimiter, record_delimiter: end, from: 2 }));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });
});
