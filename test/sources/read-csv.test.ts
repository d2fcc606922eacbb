import { describe, expect, it } from 'vitest';
import { brokenOf, dataOf, errorOf, readText, useTempFolder, warningCodes } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const read = (content: string | Uint8Array, options = {}) => readText(folder, 'a.csv', content, options);
const failed = (content: string | Uint8Array, options = {}) => errorOf(read(content, options));

/** The header is the line that has the column. */
const keyed = (name: string) => ({
  isHeader: (cells: readonly string[]) => cells.includes(name),
  wanted: `column ${name}`,
  hint: 'Add it.',
});

describe('CSV: the right end for each bad input', () => {
  it('accepts CRLF, LF, CR, mixed, and mixed inside quotes, with line and record in every row', async () => {
    const { items } = await read('id,n\r\n1,a\n2,"b\r\nc\rd\n"\r3,e\r\n\n4,f');
    expect(dataOf(items)).toEqual([
      ['1', 'a'],
      ['2', 'b\r\nc\rd\n'],
      ['3', 'e'],
      ['4', 'f'],
    ]);
    expect(items.map(({ row }) => [row.line, row.record])).toEqual([
      [2, 1],
      [3, 2],
      [7, 3],
      [9, 4],
    ]);
  });

  it('refuses a file whose quote never closes, naming the line', async () => {
    const error = await failed(`externalId;name\n1;Ann\n2;"Bea\n${'3;Cy\n'.repeat(50)}`);
    expect(error).toMatchObject({ kind: 'file', code: 'quoteNeverCloses', facts: { file: 'a.csv', line: 3 } });
    expect(error.message).toContain('quote opened at line 3 never closes');
  });

  it('breaks the row of a cell above 64 KB', async () => {
    const { items } = await read(`id,n\n1,${'x'.repeat(65_537)}\n2,${'x'.repeat(65_536)}\n`);
    expect(brokenOf(items)).toEqual(['2:cellTooLong']);
    expect(items[0]?.type === 'broken' && items[0].problem.value?.length).toBe(200);
  });

  it('refuses a record above 1 MB', async () => {
    expect(await failed(`id,n\n1,${'x'.repeat(1_100_000)}\n`)).toMatchObject({
      code: 'recordTooLong',
      facts: { line: 2 },
    });
  });

  it('refuses more than 500 columns, in the header and in a row', async () => {
    const wide = Array.from({ length: 501 }, (_, index) => `c${index}`).join(',');
    expect((await failed(`${wide}\n`)).code).toBe('tooManyColumns');
    expect(await failed(`a,b\n1,2\n${wide}\n`)).toMatchObject({ code: 'tooManyColumns', facts: { line: 3 } });
  });

  it('breaks a ragged row and gives both counts', async () => {
    const { items } = await read('id,name,mail\n1,Ann\n2,Bea,b@example.com\n3,Cy,c@example.com,x\n');
    expect(brokenOf(items)).toEqual(['2:cellCount', '4:cellCount']);
    const messages = items.flatMap((item) => (item.type === 'broken' ? [item.problem.message] : []));
    expect(messages).toEqual(['the row has 2 cells, the header has 3', 'the row has 4 cells, the header has 3']);
    expect(items.map(({ row }) => row.record)).toEqual([1, 2, 3]);
  });

  it('accepts a trailing delimiter on every line, with or without one in the header', async () => {
    for (const header of ['id,n,', 'id,n']) {
      const { head, items, tail } = await read(`${header}\n1,a,\n2,b,,,\n`);
      expect(head.columns).toEqual(['id', 'n']);
      expect(dataOf(items)).toEqual([
        ['1', 'a'],
        ['2', 'b'],
      ]);
      expect(tail.warnings).toEqual([]);
    }
  });

  it('reads header names that occur twice: the mapping decides whether that matters', async () => {
    const { head, items } = await read('id,Email,email \n1,a,b\n');
    expect([head.columns, dataOf(items)]).toEqual([['id', 'Email', 'email '], [['1', 'a', 'b']]]);
  });

  it('tells of a column without a name where its cells hold something', async () => {
    const filled = await read('id,,n,\n1,x,a,y\n2,z,b,\n');
    expect(filled.tail.nameless).toEqual([
      { position: 2, line: 2, value: 'x' },
      { position: 4, line: 2, value: 'y' },
    ]);
    expect(dataOf(filled.items)).toEqual([
      ['1', 'x', 'a'],
      ['2', 'z', 'b'],
    ]);
    expect((await read('id,,n\n1,,a\n')).tail.nameless).toEqual([]);
  });

  it('keeps __proto__, constructor and toString as plain columns, and pollutes nothing', async () => {
    const { head, items } = await read('id,__proto__,constructor,toString\n1,a,b,c\n');
    expect(head.columns).toEqual(['id', '__proto__', 'constructor', 'toString']);
    expect(dataOf(items)).toEqual([['1', 'a', 'b', 'c']]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it.each([',', ';', '\t', '|'])('detects the delimiter %j, with the others in cells and quotes', async (d) => {
    const others = [',', ';', '\t', '|'].filter((other) => other !== d).join('x');
    const lines = [
      `external ID${d}name${d}note`,
      `1${d}Ann${d}1,5`,
      `2${d}"Bea${d}${others}"${d}"${others}\n${others}"`,
      `3${d}Cy${d}2,5`,
    ];
    for (const options of [{}, { header: keyed('external ID') }]) {
      const { head, items } = await read(`${lines.join('\n')}\n`, options);
      expect(head.delimiter).toBe(d);
      if (d !== ',') expect(brokenOf(items)).toEqual([]);
    }
  });

  it('takes the delimiter that makes the key column appear, against the look of the rows', async () => {
    const { head } = await read('externalId;a\n1,1,1;b\n2,2,2;c\n', { header: keyed('externalId') });
    expect(head).toMatchObject({ delimiter: ';', columns: ['externalId', 'a'] });
  });

  it('honours a sep= line, the ending .tsv and a given delimiter', async () => {
    const separated = await read('sep=;\r\nid;a,b\r\n1;2\r\n');
    expect([separated.head.columns, dataOf(separated.items), separated.items[0]?.row.line]).toEqual([
      ['id', 'a,b'],
      [['1', '2']],
      3,
    ]);
    expect((await readText(folder, 'a.tsv', 'id\ta,b\n')).head.columns).toEqual(['id', 'a,b']);
    expect((await read('a;b,c;d\n', { delimiter: ';' })).head.columns).toEqual(['a', 'b,c', 'd']);
    expect(await failed('a;b\n', { delimiter: ';;' })).toMatchObject({ kind: 'usage', code: 'delimiterInvalid' });
  });

  it('refuses a file without the key column, saying what was found', async () => {
    const error = await failed('name;mail\nAnn;a@example.com\n', { header: keyed('externalId') });
    expect(error).toMatchObject({ code: 'keyColumnMissing', facts: { found: 'name, mail', delimiter: ';', line: 1 } });
    expect(error.hint).toBe('Add it.');
    const mapped = await failed('name;mail\nAnn;a@example.com\n', { header: keyed('Kunden-Nr') });
    expect(mapped.message).toContain('no column Kunden-Nr in the first 20 lines; line 1 holds: "name", "mail"');
  });

  it('names the columns that a file without the key column has, and counts those that the message has no room for', async () => {
    const columns = Array.from({ length: 92 }, (_, index) => `Phone ${index + 1} - Value`);
    const { message } = await failed(`${columns.join(',')}\n`, { header: keyed('externalId') });
    const [, more] = /and (\d+) more$/.exec(message) ?? [];
    const named = message.match(/"Phone \d+ - Value"/g) ?? [];
    expect(named.length).toBeGreaterThan(20);
    expect(named.length + Number(more)).toBe(92);
  });

  it('finds the header below a preamble and says which lines were left out', async () => {
    const preamble = 'Notes:\n"When exporting, some\nlines come first"\n\n';
    const { head, items, tail } = await read(
      `${preamble}First Name,URL,Connected On\nAnn,https://example.com/a,05 Mar 2024\n`,
      {
        header: keyed('URL'),
      },
    );
    expect(head.columns).toEqual(['First Name', 'URL', 'Connected On']);
    expect(items[0]?.row).toMatchObject({ line: 6, record: 1 });
    expect(tail.warnings.map(({ code, line }) => [code, line])).toEqual([
      ['preambleLine', 1],
      ['preambleLine', 2],
    ]);
    const tooFar = await failed(`${'x\n'.repeat(20)}URL,a\n`, { header: keyed('URL') });
    expect(tooFar.code).toBe('keyColumnMissing');
  });

  it('breaks the row of a NUL or control character, but not of a tab or line end in quotes', async () => {
    const { items } = await read('id,n\n1,a\u0000b\n2,"a\tb\nc"\n3,\u001b[31m\n4,\u0085\n');
    expect(brokenOf(items)).toEqual(['2:controlCharacter', '5:controlCharacter', '6:controlCharacter']);
    expect(items[0]).toMatchObject({
      problem: { field: 'n', message: 'the value holds the control character U+0000' },
    });
  });

  it.each([
    ['', 'emptyFile'],
    ['\ufeff', 'emptyFile'],
    ['\n\n', 'emptyFile'],
    ['id,name\n', 'noRows'],
    ['id,name', 'noRows'],
  ])('accepts the file %j with no rows and a warning', async (content, code) => {
    const { items, tail } = await read(content, { header: keyed('id') });
    expect([items.length, tail.recordCount, warningCodes(tail)]).toEqual([0, 0, [code]]);
  });

  it('ignores and counts blank lines, and lines of delimiters only', async () => {
    const { items, tail } = await read('\nid,n\n\n1,a\n  \n,\n2,b\n\n');
    expect([dataOf(items), tail.blankLineCount]).toEqual([
      [
        ['1', 'a'],
        ['2', 'b'],
      ],
      5,
    ]);
  });

  it('keeps "007", "1e5" and true as they are written', async () => {
    expect(dataOf((await read('id,a,b\n007,1e5,true\n')).items)).toEqual([['007', '1e5', 'true']]);
  });

  it('keeps formula-like cells', async () => {
    const cells = ['=1+1', '@SUM(A1)', '-2', '+14155550101'];
    expect(dataOf((await read(`a,b,c,d\n${cells.join(',')}\n`)).items)).toEqual([cells]);
  });

  it('breaks a row with text behind a closing quote', async () => {
    const { items } = await read('id,n\n1,"Hotel "Bristol""\n2,b\n');
    expect(brokenOf(items)).toEqual(['2:strayQuote']);
  });

  it('refuses more rows than the limit', async () => {
    expect((await failed('id\n1\n2\n3\n', { limits: { rowsMax: 2 } })).code).toBe('tooManyRows');
  });

  it('reads a file that calls for one long column', async () => {
    expect(dataOf((await read('externalId\n1\n"2"\n', { header: keyed('externalId') })).items)).toEqual([['1'], ['2']]);
  });

  it('gives batches of at most 500, lets the event loop turn, and keeps the order', async () => {
    const { items } = await read(`id\n${Array.from({ length: 1_234 }, (_, index) => `r${index}\n`).join('')}`);
    expect(items.map(({ row }) => row.kind === 'cells' && row.cells[0])).toEqual(
      Array.from({ length: 1_234 }, (_, index) => `r${index}`),
    );
  });
});
