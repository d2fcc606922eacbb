/** The service is an island: it imports nothing of the worker (`docs/design.md`, "Imports run one way"). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../src/service');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const textOf = (name: string) => readFileSync(join(root, name), 'utf8');

test('the service imports of the project only wire, json, errors, clock and log', () => {
  const foreign = files.flatMap((name) =>
    [...textOf(name).matchAll(/from '(#[^']+)'/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !/^#src\/((?:wire|json|service)\/[a-z/-]+|errors|clock|log)\.ts$/.test(target))
      .map((target) => `${name}: ${target}`),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(foreign).toEqual([]);
});

test('every file that reads a “not shown” is named in the README', () => {
  const readme = textOf('README.md');
  const silent = files.filter((name) => /not shown/i.test(textOf(name)) && !readme.includes(`\`${name}\``));
  expect(silent).toEqual([]);
});

test('every file that the README names for a reading says “not shown” at the place', () => {
  const rows = textOf('README.md')
    .split('\n')
    .filter((line) => /^\| \d/.test(line));
  const named = rows.flatMap((row) =>
    [...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+\.ts)`/g)].map((match) => match[1] ?? ''),
  );
  expect(rows.length).toBeGreaterThan(40);
  expect(named.filter((name) => !/not shown/i.test(textOf(name)))).toEqual([]);
});
