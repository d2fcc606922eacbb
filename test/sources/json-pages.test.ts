/** Files in which each record is a page of an answer (`docs/bad-inputs.md`, "JSON, NDJSON, gzip"). */
import { describe, expect, it } from 'vitest';
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
    ['with two lists', [{ page: 1, people: [person(1)], others: [person(2)] }]],
    ['of which one is none', [...pages('data'), person(5)]],
  ])('%s', async (_, records) => {
    expect(dataOf((await lines(records)).items)).toEqual(records);
  });

  it('that the mapping takes for a contact', async () => {
    const header = { isHeader: (names: readonly string[]) => names.includes('page'), wanted: 'key', hint: '' };
    expect((await lines(pages('data'), { header })).items).toHaveLength(2);
  });
});
