/** JSON in forms that are not read: the refusal names the way out (`docs/bad-inputs.md`, "JSON, NDJSON, gzip"). */
import { expect, test } from 'vitest';
import { errorOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const header = { isHeader: (names: readonly string[]) => names.includes('externalId'), wanted: 'key', hint: '' };
const refusal = async (content: string, name = 'w.json') => {
  const { code, hint } = await errorOf(readText(folder, name, content, { header }));
  return `${code}: ${hint}`;
};
const people = [{ externalId: 'a' }, { externalId: 'b' }];
const pretty = people.map((one) => JSON.stringify(one, null, 2)).join('\n');

test.each([
  ['objects over several lines', pretty, 'w.json', 'jq -c'],
  ['the same, in a file of lines', pretty, 'w.ndjson', 'jq -c'],
  ['objects with other members', '{\n "a": 1\n}\n{\n "a": 2\n}\n', 'w.json', 'jq -c'],
  ['lists', '[{"externalId":"a"}]\n[{"externalId":"b"}]\n', 'w.json', "jq -c '.[]'"],
])('several %s', async (_, content, name, command) => {
  const found = await refusal(content, name);
  expect(found).toMatch(/^jsonInvalid: Several (?:objects|lists) follow each other, as jq prints them/);
  expect(found).toContain(command);
});

test.each([
  [
    'Elasticsearch',
    { took: 3, hits: { total: { value: 1 }, hits: [{ _id: '1', _source: people[0] }] } },
    '.hits.hits[]._source',
  ],
  ['OData', { d: { results: people } }, '.d.results[]'],
  ['any other', { response: { page: { contacts: people } } }, '.response.page.contacts[]'],
])('a list inside of an object, of %s', async (_, document, path) => {
  expect(await refusal(JSON.stringify(document))).toContain(`with jq -c '${path}'.`);
});

test('a list inside of an object that is longer than a record', async () => {
  const hits = Array.from({ length: 12_000 }, (_, n) => ({ _id: `${n}`, _source: { externalId: 'x'.repeat(100) } }));
  expect(await refusal(JSON.stringify({ took: 3, hits: { hits } }))).toContain("jq -c '.hits.hits[]._source'");
});

test.each([
  ['by column', { externalId: { 0: 'a', 1: 'b' }, firstName: { 0: 'Ann', 1: 'Bea' } }],
  ['by row', { 0: people[0], 1: people[1] }],
  ['in parts', { columns: ['externalId'], index: [0, 1], data: [['a'], ['b']] }],
])('a table of pandas %s', async (_, document) => {
  expect(await refusal(JSON.stringify(document))).toContain("df.to_json(…, orient='records')");
});

test.each(['NaN', 'Infinity', '-Infinity'])('%s is of Python', async (word) => {
  expect(await refusal(`[{"externalId":${word}}]`)).toContain('is no JSON: Python and pandas write it');
  const { items } = await readText(folder, 'w.ndjson', `{"externalId":${word}}\n{"externalId":"b"}\n`, { header });
  expect(items[0]).toMatchObject({
    type: 'broken',
    problem: { hint: expect.stringContaining('Have them write null') },
  });
});

test('one object over several lines is a contact, also in a file of lines', async () => {
  expect((await readText(folder, 'w.ndjson', JSON.stringify(people[0], null, 2), { header })).items).toHaveLength(1);
});
