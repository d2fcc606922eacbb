import { describe, expect, it } from 'vitest';
import { brokenOf, dataOf, errorOf, readText, useTempFolder, warningCodes } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const json = (content: string, options = {}) => readText(folder, 'a.json', content, options);
const lines = (content: string, options = {}) => readText(folder, 'a.ndjson', content, options);
const failed = (content: string, options = {}) => errorOf(json(content, options));
const rows = [
  { id: '1', emails: ['a@example.com'] },
  { id: '2', note: null },
];

describe('JSON: the right end for each input', () => {
  it.each([
    ['an array', JSON.stringify(rows)],
    ['data', JSON.stringify({ meta: { page: [1, { a: 2 }] }, data: rows, links: ['x'] })],
    ['results', JSON.stringify({ results: rows, paging: null }, null, 2)],
    ['records', `\n\t${JSON.stringify({ totalSize: 2, records: rows })}\r\n`],
    ['a BOM', `\ufeff${JSON.stringify(rows)}`],
  ])('reads %s', async (_name, content) => {
    const { head, items, tail } = await json(content);
    expect([head.format, dataOf(items), tail.warnings]).toEqual(['json', rows, []]);
  });

  it.each([
    ['contacts', JSON.stringify({ contacts: rows, total: 2 })],
    ['items', JSON.stringify({ kind: 'list', items: rows }, null, 2)],
    ['value', JSON.stringify({ '@odata.context': 'https://example.com', value: rows })],
    ['people', JSON.stringify({ errors: [{ code: 1 }], tags: ['a'], people: rows, links: [{ rel: 'self' }] })],
    ['results', JSON.stringify({ included: rows, results: rows })],
  ])('reads the only list of objects, %s, and says which it was', async (wrapper, content) => {
    const { head, items } = await json(content);
    expect([head.wrapper, dataOf(items)]).toEqual([wrapper, rows]);
  });

  it('reads a list without a known name of any length, and a contact with a list of its own', async () => {
    const many = Array.from({ length: 20_000 }, (_, id) => ({ id, text: 'x'.repeat(60) }));
    expect((await json(JSON.stringify({ contacts: many }))).items).toHaveLength(20_000);
    const contact = { externalId: '7', letters: [{ a: 1 }] };
    const { head, items } = await json(JSON.stringify(contact), {
      header: { isHeader: (names: readonly string[]) => names.includes('externalId'), wanted: 'key', hint: '' },
    });
    expect([head.wrapper, dataOf(items)]).toEqual([null, [contact]]);
  });

  it('reads one object per line from .ndjson, .jsonl and .json', async () => {
    const content = `${rows.map((row) => JSON.stringify(row)).join('\r\n\r\n')}\n`;
    for (const name of ['b.ndjson', 'b.jsonl', 'b.json']) {
      const { head, items, tail } = await readText(folder, name, content);
      expect([head.format, dataOf(items), tail.blankLineCount]).toEqual(['ndjson', rows, 1]);
      expect(items.map(({ row }) => row.line)).toEqual([1, 3]);
    }
    expect((await lines(JSON.stringify(rows))).head.format).toBe('json');
  });

  it('gives the physical line of each record', async () => {
    const { items } = await json('[\n {"id":\n 1},\r\n{"é":"\\n"} ,\r\r{"id":3}]');
    expect(items.map(({ row }) => [row.line, row.record])).toEqual([
      [2, 1],
      [4, 2],
      [6, 3],
    ]);
  });

  it.each([
    ['42', 'the value 42'],
    ['"contacts"', 'the value "contacts"'],
    ['null', 'the value null'],
    ['{"contact":{"id":1},"total":1}', 'an object with the members contact, total'],
    ['{"id":1,"emails":[{"value":"a@example.com"}]}', 'an object with the members id, emails'],
    ['{"contacts":["a"],"total":1}', 'an object with the members contacts, total'],
    ['{"contacts":[{"id":1}],"companies":[{"id":2}]}', 'several lists, "contacts", "companies"'],
    ['{"data":{"id":1}}', 'an object with the members data'],
    ['{"data":[],"results":[]}', 'two lists, "data" and "results"'],
    ['{}', 'an object with the members (none)'],
    [
      JSON.stringify(Object.fromEntries(Array.from({ length: 34 }, (_, index) => [`m${index}`, index]))),
      'an object with the members m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 24 more',
    ],
  ])('refuses the root %s, saying what was found', async (content, found) => {
    expect(await failed(content)).toMatchObject({ kind: 'file', code: 'notAJsonArray', facts: { found } });
  });

  it.each([
    [
      '{"nextPageToken":"abc","totalItems":120,"data":[{"id":1}]}',
      '"nextPageToken" points to the next one; it holds 1 record, and "totalItems" is 120',
    ],
    [
      '{"results":[{"id":1}],"paging":{"next":{"after":"251","link":"https://e.example"}}}',
      '"paging.next" points to the next one',
    ],
    [
      '{"totalSize":3,"done":"false","nextRecordsUrl":"/q/01-2","records":[{"id":1}]}',
      '"done" is false; it holds 1 record, and "totalSize" is 3',
    ],
    ['{"data":[],"links":{"next":"https://e.example/?page=2"}}', '"links.next" points to the next one'],
    ['{"data":[],"links":[{"rel":"self"},{"rel":"next"}]}', '"links" holds a link to the next one'],
    ['{"data":[],"has_more":true}', '"has_more" is true'],
    [
      '{"data":[],"additional_data":{"pagination":{"more_items_in_collection":true}}}',
      '"additional_data.pagination.more_items_in_collection" is true',
    ],
    [
      '{"totalSize":340,"done":false,"records":[{"id":"g2"}]}',
      '"done" is false; it holds 1 record, and "totalSize" is 340',
    ],
    [
      '{"results":[{"id":"g1"}],"page":1,"total_pages":4,"total":340}',
      '"total_pages" is 4; it holds 1 record, and "total" is 340',
    ],
    ['{"meta":{"current_page":4,"last_page":4},"data":[{"id":1}]}', '"meta.last_page" is 4'],
    ['{"content":[{"id":1}],"last":false,"number":0}', '"last" is false'],
    ['{"people":[{"id":1}],"page":{"number":0,"totalPages":"2","size":1}}', '"page.totalPages" is 2'],
    ['{"data":[{"id":1}],"page":3}', '"page" is 3'],
    [
      '{"data":[{"id":1},{"id":2}],"limit":2,"offset":0,"total":"5"}',
      '"limit" is 2; it holds 2 records, and "total" is 5',
    ],
    [
      '{"Resources":[{"id":1}],"startIndex":5,"itemsPerPage":2,"totalResults":5}',
      '"startIndex" is 5; it holds 1 record, and "totalResults" is 5',
    ],
    ['{"data":[{"id":1}],"cursor":{"before":null,"after":"abc"}}', '"cursor.after" points to the next one'],
    ['{"records":[{"id":1}],"offset":"itr1/rec1"}', '"offset" points to the next one'],
  ])('refuses one page of several: %s', async (content, says) => {
    expect(await failed(content)).toMatchObject({
      ...{ kind: 'file', code: 'morePages', facts: { member: /"([^"]+)"/.exec(says)?.[1] } },
      message: `a.json is one page of several: ${says}`,
      hint: expect.stringContaining('Fetch all pages'),
    });
  });

  it.each([
    '{"data":[{"id":1}],"page":2,"total_pages":4,"per_page":1,"offset":2,"total":340,"done":false}',
    '{"data":[{"id":1}],"next":"a","paging":{"next":"b","has_more":true}}',
  ])('reads the page alone without the members that the refusal names: %s', async (content) => {
    const { hint } = await failed(content);
    const document: { [name: string]: unknown } = JSON.parse(content);
    for (const [, path = ''] of (hint ?? '').matchAll(/"([^"]+)"/g)) {
      const [outer = '', inner] = path.split('.');
      if (inner === undefined) delete document[outer];
      else delete (document[outer] as { [name: string]: unknown })[inner];
    }
    expect((await json(JSON.stringify(document))).items).toHaveLength(1);
  });

  it.each([
    '{"data":[{"id":1}],"nextPageToken":null,"totalItems":120}',
    '{"data":[{"id":1}],"cursor":{"before":"x","after":null}}',
    '{"data":[{"id":1}],"cursor":{"before":"x","after":"y"},"has_more":false}',
    '{"data":[{"id":1}],"cursor":{"before":"x","after":"y"},"total":1}',
    '{"data":[{"id":1}],"after":"2025-01-01","meta":{"after":"2025-01-01","before":"2025-12-31"}}',
    '{"data":[{"id":1}],"paging":{"cursors":{"before":"x","after":"y"}}}',
    '{"data":[{"id":1}],"nextPageToken":"","has_more":false,"paging":{"next":null}}',
    '{"data":[{"id":1}],"paging":{"next":{}},"total":1,"links":{"next":null,"self":"https://e.example"}}',
    '{"data":[{"id":1,"next":"x","nextPageToken":"y"}],"other":{"next":"z"}}',
    '{"records":[{"id":1}],"done":true,"totalSize":1}',
    '{"data":[{"id":1}],"page":1,"total_pages":1,"per_page":1,"offset":0,"last":true}',
    '{"data":[{"id":1}],"page":{"number":0,"totalPages":1},"links":[{"rel":"self"}]}',
    // All pages, put into one list beside what one of them said.
    '{"data":[{"id":1}],"page":1,"total_pages":4,"per_page":1,"total":1}',
    // A filter may have hidden the rest: the page is not full.
    '{"data":[{"id":1}],"limit":100,"offset":0,"total":340}',
  ])('takes the last page, and what only looks like a further one: %s', async (content) => {
    expect((await json(content)).items).toHaveLength(1);
  });

  it('finds the next page also where the chunks of the file end in its name', async () => {
    const filler = JSON.stringify(Array.from({ length: 9_000 }, (_, id) => ({ id, text: 'x'.repeat(20) })));
    for (const pad of [0, 1, 2, 3, 5, 8, 13, 21]) {
      const content = `{"data":${filler},${' '.repeat(pad)}"paging":{"cursors":{"a":"b"},"next":{"after":"251"}}}`;
      expect((await failed(content)).code).toBe('morePages');
    }
  });

  it('takes a lone object for a contact only where it holds a key', async () => {
    const { items } = await json('{"External ID":"7","emails":[]}', {
      header: { isHeader: (names: readonly string[]) => names.includes('External ID'), wanted: 'key', hint: '' },
    });
    expect(dataOf(items)).toEqual([{ 'External ID': '7', emails: [] }]);
  });

  it('breaks the row of a lone object as that of any other, and refuses one that is too long as a whole', async () => {
    const header = { isHeader: (names: readonly string[]) => names.includes('id'), wanted: 'key', hint: '' };
    const { items } = await json('{"id":"7","note":"x\\u0000"}', { header });
    expect(items).toMatchObject([{ type: 'broken', problem: { code: 'controlCharacter', field: 'note' } }]);
    const notes = Array.from({ length: 20 }, (_, index) => `"note${index}":"${'x'.repeat(60_000)}"`);
    expect((await failed(`{"id":"7",${notes.join(',')}}`, { header })).code).toBe('recordTooLong');
  });

  it('accepts nesting 32 deep and refuses 33', async () => {
    const nested = (depth: number) => `[{"a":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}]`;
    expect((await json(nested(32))).items.length).toBe(1);
    expect(await failed(nested(33))).toMatchObject({ code: 'jsonTooDeep', facts: { line: 1 } });
    expect((await errorOf(lines(`{"a":1}\n${nested(34).slice(1, -1)}\n`))).facts.line).toBe(2);
    expect((await failed(`{"x":${'['.repeat(100_000)}`)).code).toBe('jsonTooDeep');
  });

  it('keeps an id above 2^53 digit by digit', async () => {
    const content = '[{"id":12345678901234567890,"n":-9007199254740993,"ok":9007199254740991,"e":1e20,"d":0.1}]';
    const e = '100000000000000000000';
    const expected = [{ id: '12345678901234567890', n: '-9007199254740993', ok: 9007199254740991, e, d: 0.1 }];
    expect(dataOf((await json(content)).items)).toEqual(expected);
    expect(dataOf((await lines(content.slice(1, -1))).items)).toEqual(expected);
  });

  it.each([
    ['1e21', '1000000000000000000000'],
    ['1E+21', '1000000000000000000000'],
    ['-12.5e20', '-1250000000000000000000'],
    ['0.00012e25', '1200000000000000000000'],
    ['100000000000000000000.0', '100000000000000000000'],
    ['123456789012345e5', '12345678901234500000'],
    // More digits than a program that writes such forms keeps.
    ['1.2345678901234568e+21', '1.2345678901234568e+21'],
    ['12345678901234567890.0', '12345678901234567890.0'],
  ])('reads the number %s as the text %s', async (number, text) => {
    expect(dataOf((await json(`[{"id":${number}}]`)).items)).toEqual([{ id: text }]);
  });

  it('breaks the row of 1e400', async () => {
    const { items } = await json('[{"id":"1","n":{"v":1e400}},{"id":"2"}]');
    expect(items).toMatchObject([
      { type: 'broken', problem: { code: 'numberTooLarge', field: 'n.v', value: '1e400' } },
      { type: 'row' },
    ]);
  });

  it.each([
    ['NaN', '[\n{"id": NaN}]', 2, 'unexpected "NaN" at column 8'],
    ['a trailing comma in an object', '[{"id":1,}]', 1, 'unexpected "}"'],
    ['a trailing comma in the array', '[{"id":1},\n]', 2, 'unexpected "]"'],
    ['a missing comma', '[{"id":1}\n\n{"id":2}]', 3, 'unexpected "{"'],
    ['a cut', '[{"id":1},\n{"id"', 2, 'the text ends in the middle of a value'],
    ['a cut inside a string', '[{"id":"1', 1, 'the text ends in the middle of a value'],
    ['text behind the root', '[]\nx', 2, 'unexpected "x" at column 1'],
    ['a second root', '[] []', 1, 'unexpected "["'],
    ['a raw line end in a string', '[{"id":"a\nb"}]', 1, 'unexpected "\\n" at column 10'],
  ])('refuses %s with its position', async (_name, content, line, message) => {
    const error = await failed(content);
    expect(error).toMatchObject({ code: 'jsonInvalid', facts: { line } });
    expect(error.message).toContain(message);
  });

  it('names the record, too, where a file without line breaks is refused', async () => {
    const records = Array.from({ length: 17 }, (_, id) => JSON.stringify({ id })).join(',');
    const invalid = await failed(`[${records},{"id":NaN}]`);
    expect(invalid.message).toMatch(/^a\.json, line 1, record 18: not valid JSON: unexpected "NaN"/);
    expect(invalid.facts).toMatchObject({ line: 1, record: 18 });
    const long = await failed(`{"data":[${records},{"id":"${'x'.repeat(1_100_000)}"}]}`);
    expect(long.message).toMatch(/^a\.json, line 1, record 18: the record is longer/);
    expect((await failed(`[${records.replaceAll(',', ',\n')},\n{"id":NaN}]`)).message).toMatch(
      /^a\.json, line 18: not/,
    );
  });

  it('lets the last of duplicate members win, with a warning', async () => {
    const { items, tail } = await json('[{"id":1},\n{"id":1,"a":{"b":1,"b":2},"id":3}]');
    expect(dataOf(items)).toEqual([{ id: 1 }, { id: 3, a: { b: 2 } }]);
    expect(tail.warnings.map(({ code, line, field }) => [code, line, field])).toEqual([
      ['duplicateMember', 2, 'a.b'],
      ['duplicateMember', 2, 'id'],
    ]);
  });

  it('breaks the row of a lone surrogate, in a value or a name, but not of a pair', async () => {
    const { items } = await json('[{"a":"\\ud83d"},{"a":"\\ud83d\\ude00"},{"\\udc00":1},{"a":["x\\udc00y"]}]');
    expect(brokenOf(items)).toEqual(['1:loneSurrogate', '1:loneSurrogate', '1:loneSurrogate']);
    expect(items[1]?.row).toMatchObject({ object: { a: '😀' } });
  });

  it('keeps U+FEFF inside strings, written or escaped', async () => {
    const values = ['\ufeff', 'a\ufeffb', 'é\ufeff', '\ufeff\ufeff'];
    const escaped = JSON.stringify(values.map((v) => ({ v }))).replaceAll('\ufeff', '\\ufeff');
    for (const content of [JSON.stringify(values.map((v) => ({ v }))), escaped]) {
      expect(dataOf((await json(content)).items)).toEqual(values.map((v) => ({ v })));
    }
  });

  it('breaks the row of a control character and of a value above 64 KB', async () => {
    const { items } = await json(`[{"a":"x\\u0000"},{"a":"x\\n\\t"},{"a":"${'x'.repeat(65_537)}"}]`);
    expect(brokenOf(items)).toEqual(['1:controlCharacter', '1:cellTooLong']);
  });

  it('keeps a __proto__ member as a member and pollutes nothing', async () => {
    for (const { items } of [
      await json('[{"__proto__":{"admin":true}}]'),
      await lines('{"__proto__":{"admin":true}}'),
    ]) {
      const row = items[0]?.row;
      const object = row?.kind === 'object' ? row.object : {};
      expect([Object.getPrototypeOf(object), Object.keys(object), 'admin' in object]).toEqual([
        null,
        ['__proto__'],
        false,
      ]);
    }
    expect('admin' in {}).toBe(false);
  });

  it('breaks a broken NDJSON line only, and keeps its text', async () => {
    const { items } = await lines('{"id":1}\n{"id":2\n{"id":"3}\nnonsense\n[1]\n{"id":4} {"id":5}\n{"id":6}\n');
    expect(brokenOf(items)).toEqual([
      '2:jsonInvalid',
      '3:jsonInvalid',
      '4:jsonInvalid',
      '5:notAnObject',
      '6:jsonInvalid',
    ]);
    expect(dataOf(items)).toEqual([
      { id: 1 },
      { _text: '{"id":2' },
      { _text: '{"id":"3}' },
      { _text: 'nonsense' },
      { _text: '[1]' },
      { _text: '{"id":4} {"id":5}' },
      { id: 6 },
    ]);
    expect(items.map(({ row }) => row.record)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('breaks a record that is no object', async () => {
    expect(brokenOf((await json('[1,"a",null,[{}],{"id":1}]')).items)).toEqual(Array(4).fill('1:notAnObject'));
  });

  it('refuses a record above 1 MB, complete, open, or in one endless string', async () => {
    const long = 'x'.repeat(60_000);
    const record = `{${Array.from({ length: 20 }, (_, index) => `"m${index}":"${long}"`).join(',')}`;
    for (const content of [`[${record}}]`, `[${record}`, `[{"a":"${'x'.repeat(3_000_000)}`]) {
      expect((await failed(content)).code).toBe('recordTooLong');
    }
    expect((await errorOf(lines(`{"id":1}\n${record}}`))).code).toBe('recordTooLong');
  });

  it('reads over a large member beside the records without keeping it', async () => {
    const included = Array.from({ length: 30_000 }, (_, index) => ({ index, text: 'x'.repeat(60) }));
    const { items } = await json(JSON.stringify({ included, data: rows, later: included }));
    expect(dataOf(items)).toEqual(rows);
    expect((await failed(JSON.stringify({ contacts: { included } }))).code).toBe('notAJsonArray');
  });

  it.each([
    ['', 'emptyFile'],
    [' \n', 'emptyFile'],
    ['[]', 'noRows'],
    ['{"data":[]}', 'noRows'],
    ['{"contacts":[],"total":0}', 'noRows'],
  ])('accepts %j with no rows and a warning', async (content, code) => {
    const { items, tail } = await json(content);
    expect([items.length, warningCodes(tail)]).toEqual([0, [code]]);
  });

  it('takes time in proportion to the white space behind the first line', async () => {
    // Of this thread, and the least of three: whatever else the machine does counts as little as can be.
    const timeUs = async (lineFeeds: number): Promise<number> => {
      const times: number[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const before = process.threadCpuUsage();
        await failed(`{${'\n'.repeat(lineFeeds)}`);
        const { user, system } = process.threadCpuUsage(before);
        times.push(user + system);
      }
      return Math.min(...times);
    };
    await timeUs(10_000);
    const shortUs = await timeUs(50_000);
    // Four times as much, where the square would be sixteen times.
    expect(await timeUs(200_000)).toBeLessThan(8 * Math.max(shortUs, 10_000));
  });

  it('gives the same rows in slices of at most 500, whatever the size', async () => {
    const many = Array.from({ length: 5_001 }, (_, index) => ({ id: index, name: 'Zoë 😀'.repeat(index % 9) }));
    expect(dataOf((await json(JSON.stringify(many, null, 1))).items)).toEqual(many);
  });
});
