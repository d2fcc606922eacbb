/** Files in which each record is a page of an answer (`docs/bad-inputs.md`, "JSON, NDJSON, gzip"). */
import { describe, expect, it } from 'vitest';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { headerRule } from '#src/mapping/recognise.ts';
import { dataOf, errorOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
type Page = { readonly [name: string]: unknown };
const person = (id: number) => ({ id, first_name: `F${id}`, email: `p${id}@example.com` });
const pages = (member: string, beside: readonly Page[] = [{ page: 1 }, { page: 2 }]): readonly Page[] => [
  { ...beside[0], [member]: [person(1), person(2)] },
  { ...beside[1], [member]: [person(3), person(4)] },
];
const asLines = (records: readonly Page[]) => `${records.map((one) => JSON.stringify(one)).join('\n')}\n`;
const lines = (records: readonly Page[], options = {}) => readText(folder, 'p.ndjson', asLines(records), options);
const list = (records: readonly Page[]) => readText(folder, 'p.json', JSON.stringify(records, null, 1));
const four = [1, 2, 3, 4].map(person);

describe('pages in one file', () => {
  it.each([
    ['one per line', lines],
    ['in a list', list],
  ])('%s: all their records are read', async (_, read) => {
    const { head, items, tail } = await read(pages('data'));
    expect([head.wrapper, dataOf(items)]).toEqual(['data', four]);
    expect(items.map(({ row }) => row.record)).toEqual([1, 2, 3, 4]);
    expect(tail.warnings).toMatchObject([
      { code: 'pagesRead', message: 'the file holds 2 pages of an answer: its records are the list "data" of each' },
    ]);
  });

  it('give each record its line', async () => {
    expect((await lines(pages('data'))).items.map(({ row }) => row.line)).toEqual([1, 1, 2, 2]);
    expect((await list(pages('data'))).items.map(({ row }) => row.line)).toEqual([5, 10, 20, 25]);
  });

  it.each([
    ['a list of another name', pages('contacts', [{}, {}])],
    ['a number beside a list of another name', pages('items')],
    ['no pointer on the last of them', pages('contacts', [{ next: null }, {}])],
    ['counts in an object', pages('items', [{ meta: { total: 4 } }, { meta: { total: 4 } }])],
    [
      'the state of the answer',
      pages('data', [
        { status: 'ok', code: 0 },
        { status: 'ok', code: 0 },
      ]),
    ],
    ['links to the first and the last one', pages('items', [{ first: '/a', last: '/b', page: 1 }, { page: 2 }])],
    [
      'the last one first',
      pages('data', [
        { page: 2, next: null },
        { page: 1, next: 'x' },
      ]),
    ],
    [
      'an empty one behind the pointer',
      [...pages('data', [{ page: 1 }, { page: 2, next: 'x' }]), { page: 3, data: [] }],
    ],
    [
      'a total that a filter is hidden from',
      pages('data', [
        { total: 9, size: 3 },
        { total: 9, size: 3 },
      ]),
    ],
    ['the last page without the pointer', pages('results', [{ paging: { next: { after: '2', link: 'x' } } }, {}])],
    ['a page without records', [...pages('data'), { page: 3, data: [] }]],
    ['what belongs to the records', pages('data', [{ included: [{ id: 9 }] }, { included: [] }])],
  ])('with %s', async (_, records) => {
    expect(dataOf((await lines(records)).items)).toEqual(four);
  });

  it('as phpMyAdmin writes a table', async () => {
    const start = [
      { type: 'header', version: '5.2.1', comment: 'Export' },
      { type: 'database', name: 'crm' },
    ];
    const table = (name: string) => ({ type: 'table', name, database: 'crm', data: [person(1)] });
    expect(dataOf((await list([...start, table('people')])).items)).toEqual([person(1)]);
    const error = await errorOf(list([...start, table('people'), table('orders')]));
    expect(error).toMatchObject({ code: 'notAJsonArray', facts: { found: 'several tables, "people" and "orders"' } });
  });

  it('of which none is the last: people would be missing', async () => {
    const next = { paging: { next: { after: '4' } } };
    const error = await errorOf(lines(pages('results', [next, next])));
    expect(error).toMatchObject({ code: 'morePages', facts: { member: 'paging.next', recordCount: 4 } });
    const third = await errorOf(lines(pages('data', [{ total_pages: 3 }, { total_pages: 3 }])));
    expect(third).toMatchObject({ code: 'morePages', facts: { member: 'total_pages' } });
  });

  it('among which there is an answer without records: people would be missing', async () => {
    const error = await errorOf(lines([...pages('data'), { status: 429, message: 'slow down' }]));
    expect(error).toMatchObject({ code: 'notAJsonArray', facts: { line: 3 } });
  });

  it.each([
    ['an error', { page: 13, data: [], error: 'rate limit' }],
    ['errors', { page: 13, data: [], errors: [{ message: 'slow down' }] }],
    ['no success', { page: 13, data: [], success: false }],
    ['a name', { name: 'Acme', data: [] }],
    ['the name of a table', { type: 'header', email: 'a@example.com' }],
  ])('behind which there is a record with %s: people would be missing', async (_, record) => {
    const twelve = Array.from({ length: 12 }, (_, index) => ({ page: index + 1, data: [person(index)] }));
    const error = await errorOf(lines([...twelve, record]));
    expect(error).toMatchObject({ code: 'notAJsonArray', facts: { line: 13 } });
  });

  it.each([
    [
      'the last one is full, and there are more',
      [
        { total: 9, limit: 2 },
        { total: 9, limit: 2 },
      ],
      'total',
    ],
    [
      'the last one ends before the total',
      [
        { total: 9, offset: 0 },
        { total: 9, offset: 2 },
      ],
      'total',
    ],
    ['the last one points to the next', [{}, { next: 'x' }], 'next'],
    ['the one with the highest number does', [{ page: 2, next: 'x' }, { page: 1 }], 'next'],
    ['one is missing', [{ page: 1 }, { page: 3 }], 'page'],
    ['one is there twice', [{ meta: { page: 1 } }, { meta: { page: 1 } }], 'meta.page'],
  ])('are refused where %s', async (_, beside, member) => {
    expect(await errorOf(lines(pages('data', beside)))).toMatchObject({ code: 'morePages', facts: { member } });
  });

  it('end with the last one that has records, or that says of itself that it is a page', async () => {
    const [first = {}, second = {}] = pages('data', [{ next: 'x' }, { next: 'x' }]);
    expect(await errorOf(lines([{ data: [] }, first, second, { data: [] }]))).toMatchObject({ code: 'morePages' });
    expect(dataOf((await lines([first, second, { data: [], next: null }])).items)).toEqual(four);
  });

  it('are named by a path of jq that reads the file', async () => {
    const records = [...pages('data'), { status: 429 }];
    expect(String((await errorOf(lines(records))).hint)).toContain("jq -c '.data[]'");
    expect(String((await errorOf(list(records))).hint)).toContain("jq -c '.[].data[]'");
  });

  it('of which one is cut off: people would be missing', async () => {
    const error = await errorOf(readText(folder, 'p.ndjson', asLines(pages('data')).slice(0, -20)));
    expect(error).toMatchObject({ code: 'jsonInvalid', facts: { line: 2 } });
  });
});

describe('records with a list are no pages', () => {
  it.each([
    ['of a company', [{ company: 'Acme', contacts: [person(1), person(2)] }]],
    ['with an id', [{ id: 7, data: [person(1), person(2)] }]],
    ['of addresses', [{ emails: [{ value: 'a@example.com' }, { value: 'b@example.com' }] }]],
    ['of texts', [{ page: 1, data: ['a', 'b'] }]],
    [
      'of a person with a number',
      [{ first: 'Ann', last: 'Lee', status: 'active', phone: [{ type: 'mobile', number: '1' }] }],
    ],
    ['of a person and how to reach them', [{ first: 'Ann', page: 1, contacts: [person(1)] }]],
    ['of a person beside a list of a known name', [{ first: 'Ann', last: 'Lee', data: [person(1)] }]],
    ['of a customer', [{ code: 'C1', type: 'customer', status: 'active', contacts: [person(1)] }]],
    ['of a customer with counts', [{ type: 'customer', size: 200, limit: 5000, contacts: [person(1)] }]],
    ['of an order', [{ status: 'open', total: 12.5, from: '2026-01-02', items: [{ sku: 'a' }] }]],
    [
      'of a thing that is described',
      [{ kind: 'Person', metadata: { uid: 'u1', name: 'ann' }, channels: [{ of: 'a' }] }],
    ],
    ['of a person alone', [{ email: [{ value: 'a@example.com' }] }, { email: [{ value: 'b@example.com' }] }]],
    [
      'of a company without contacts',
      [
        { status: 'a', contacts: [person(1)] },
        { status: 'b', contacts: [] },
      ],
    ],
    ['beside an empty list of another name', [{ page: 1, data: [person(1)], notes: [] }]],
    ['with two lists', [{ page: 1, people: [person(1)], others: [person(2)] }]],
    ['of which one is none', [...pages('data'), person(5)]],
  ])('%s', async (_, records) => {
    expect(dataOf((await lines(records)).items)).toEqual(records);
  });

  it('that the mapping takes for a contact', async () => {
    const header = { isHeader: (names: readonly string[]) => names.includes('page'), wanted: 'key', hint: '' };
    expect((await lines(pages('data'), { header })).items).toHaveLength(2);
  });

  it('where the key of the mapping is in an object beside it', async () => {
    const records = [{ info: { id: '7', first: 'Ann', page: 1 }, devices: [{ number: '1' }] }];
    const ofKey = (key: string) => ({ header: headerRule(parseMapping(`name: a\nkey: ${key}`, 'a.yaml')) });
    expect(dataOf((await lines(records, ofKey('info.id'))).items)).toEqual(records);
    expect(dataOf((await lines(pages('contacts', [{}, {}]), ofKey('contacts[0].id'))).items)).toHaveLength(2);
    expect(dataOf((await lines(pages('data'), ofKey('data[0].id'))).items)).toEqual(four);
  });
});
