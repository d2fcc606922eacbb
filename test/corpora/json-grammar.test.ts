/** The grammar of JSON, value by value: what JSON.parse accepts we accept, and nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();

const accepted = [
  'null',
  'true',
  'false',
  '0',
  '1',
  '-1',
  '10',
  '0.5',
  '-0.5e1',
  '1E2',
  '1e+2',
  '1e-2',
  '123.456',
  '""',
  '"a"',
  '"\\""',
  '"\\\\ \\/ \\b\\f"',
  '"\\n\\r\\t"',
  '"\\u00e9"',
  '"\\uD83D\\uDE00"',
  '"\\u2028\u2028"',
  '"é😀\u007e"',
  '"//"',
  '"null"',
  '[]',
  '[ ]',
  '{}',
  '{ }',
  '[1]',
  '[1,2]',
  '[[],[[]]]',
  '{"a":1}',
  '{"":0}',
  '{"a":{"b":[{}]}}',
  '\t[ 1\n,\r2 ]',
  '{"a" : "b" , "c":null}',
  '[null,1,"1",{}]',
];
const refused = [
  '',
  ' ',
  'nul',
  'True',
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '01',
  '-01',
  '+1',
  '.5',
  '5.',
  '-',
  '-.5',
  '1e',
  '1e+',
  '1.e1',
  '0x10',
  '1_0',
  '1 000',
  '--1',
  '1a',
  '"',
  '"a',
  'a"',
  "'a'",
  '"\\x41"',
  '"\\u12"',
  '"\\u12G4"',
  '"\\a"',
  '"\t"',
  '"\n"',
  '"\\"',
  '[',
  ']',
  '[1',
  '1]',
  '[,]',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
  '["a" "b"]',
  '[1:2]',
  '{',
  '}',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,}',
  '{,}',
  '{a:1}',
  "{'a':1}",
  '{1:1}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{"a":1,,"b":2}',
  '{"a":1:2}',
  '{"a",1}',
  '{[]:1}',
  '[}',
  '{]',
  '[[]',
  '{{}}',
  '// c\n1',
  '/* c */1',
  '#c',
  '1;',
  '<null>',
  '\u00a01',
  '\u20601',
  '\ufeff1',
];

/** The value inside a record, in both forms; null where the record or the file is not taken. */
async function readValue(value: string): Promise<unknown[]> {
  const forms = [['v.json', `[{"v":${value}}]`]];
  if (!/[\r\n]/.test(value)) forms.push(['v.ndjson', `{"v":${value}}`]);
  return Promise.all(
    forms.map(async ([name = '', text = '']) => {
      const read = await readText(folder, name, text).catch(() => null);
      return read?.items.length === 1 && read.items[0]?.type === 'row' ? dataOf(read.items)[0] : null;
    }),
  );
}

describe('the grammar of JSON', () => {
  it.each(accepted)('accepts %j', async (value) => {
    const isPlain = !value.includes('\\b');
    for (const read of await readValue(value)) expect(read).toEqual(isPlain ? JSON.parse(`{"v":${value}}`) : null);
  });

  it.each(refused)('refuses %j', async (value) => {
    expect(() => JSON.parse(`{"v":${value}}`)).toThrow();
    for (const read of await readValue(value)) expect(read).toBeNull();
  });

  it('takes any JSON value as JSON.parse does, and any damaged one as little', async () => {
    const damage = fc.tuple(fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '0', '\\', ' ', ':', 'n'));
    const property = fc.asyncProperty(fc.json({ maxDepth: 4 }), fc.option(damage), async (json, change) => {
      const at = change ? change[0] % (json.length + 1) : 0;
      const text = change ? json.slice(0, at) + change[1] + json.slice(at + 1) : json;
      // A list of objects beside nothing would be a page of records.
      const expected = parsed(text);
      const read = await readText(folder, 'p.json', `[{"id":1,"v":${text}}]`).catch(() => null);
      expect(read !== null).toBe(expected !== null);
      const item = read?.items[0];
      // Numbers beyond 2^53, control characters and lone surrogates are treated by rules of their own.
      if (item?.type === 'row' && !/\d{16}|e\+?\d{2}/i.test(text)) expect(dataOf([item])).toEqual([expected]);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(JSON.stringify(JSON.parse(`[{"id":1,"v":${text}}]`)[0]));
  } catch {
    return null;
  }
}
