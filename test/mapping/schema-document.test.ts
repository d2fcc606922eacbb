import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { mappingJsonSchema, mappingSchemaText } from '#src/mapping/mapping-schema.ts';

const config = new URL('../../config/', import.meta.url);

test('config/mapping.schema.json is the schema of mapping files (npm run docs)', async () => {
  await expect(mappingSchemaText()).toMatchFileSnapshot(new URL('mapping.schema.json', config).pathname);
});

type Property = readonly [path: string, schema: Readonly<Record<string, unknown>>];

/** Every property of a JSON Schema with its path, those behind references included once. */
function properties(node: unknown, path: string): readonly Property[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    const own =
      key === 'properties' && typeof value === 'object' && value !== null
        ? Object.entries(value).map(([name, one]) => [`${path}.${name}`, one] as Property)
        : [];
    const inner = properties(value, key === 'properties' ? path : `${path}/${key}`);
    return [...own, ...inner];
  });
}

test('each key has a description', () => {
  const known = properties(mappingJsonSchema(), '');
  expect(known.length).toBeGreaterThan(80);
  expect(
    known.filter(([, one]) => one.description === undefined && one.$ref === undefined).map(([path]) => path),
  ).toEqual([]);
});

test('what a value is made of excludes each other', () => {
  const text = JSON.stringify(mappingJsonSchema());
  expect(text).toContain('"oneOf":[{"required":["column"]},{"required":["firstOf"]},{"required":["join"]},');
});

test('generic.yaml names the schema for editors, and every mapping that comes with Patchbay is YAML of one document', () => {
  const folder = new URL('mappings/', config);
  const generic = readFileSync(new URL('generic.yaml', folder), 'utf8');
  expect(generic).toContain('# yaml-language-server: $schema=../mapping.schema.json');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.yaml'))) {
    expect(parse(readFileSync(new URL(name, folder), 'utf8'))).toMatchObject({ name: expect.any(String) });
  }
});

test('generic.yaml shows every key, at least in a comment', () => {
  const text = readFileSync(new URL('mappings/generic.yaml', config), 'utf8');
  const keys = new Set(properties(mappingJsonSchema(), '').map(([path]) => path.slice(path.lastIndexOf('.') + 1)));
  expect([...keys].filter((key) => !new RegExp(`\\b${key}:`).test(text))).toEqual([]);
});

test('what generic.yaml shows in comments can be written as it is', () => {
  const text = readFileSync(new URL('mappings/generic.yaml', config), 'utf8');
  const shown = [...text.matchAll(/^# {3}(- .*)$|^ {2}# (- .*| {2}.*)$/gm)].map(([line]) => line.replace(/# ?/, ''));
  expect(shown.length).toBeGreaterThan(10);
  for (const line of shown) expect(() => parse(line.trim().replace(/^- /, ''))).not.toThrow();
});
