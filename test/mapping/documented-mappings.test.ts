/** The mappings in `docs/mapping.md` do what its text says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { desiredOf, mapJson, mapRecord } from './support.ts';

const text = readFileSync(new URL('../../docs/mapping.md', import.meta.url), 'utf8');
const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);

function documented(name: string) {
  const block = blocks.find((one) => one.startsWith(`name: ${name}\n`)) ?? expect.fail(`no mapping ${name}`);
  return parseMapping(block, 'docs/mapping.md');
}

test('values', () => {
  const record = {
    ...{ Id: '7.0', Name: 'Ada van Dyke', Firm: '', Group: 'Holding/ACME', Since: '5.3.2026', Tags: 'a|b' },
  };
  const types = ['since', 'tags'].map((key) => ({ key, name: key, type: key === 'since' ? 'date' : 'multi-select' }));
  expect(desiredOf(mapRecord(record, { customFields: types }, documented('values')))).toMatchObject({
    key: '7',
    scalars: {
      ...{ firstName: 'Ada', lastName: 'van Dyke', company: 'ACME' },
      sourceUrl: 'https://crm.example.com/people/7.0',
    },
    customFields: [
      { key: 'since', value: '2026-03-05T00:00:00.000Z' },
      { key: 'tags', value: ['a', 'b'] },
    ],
  });
});

test('several columns, labels, countries', () => {
  const record = {
    ...{ Id: '7', Country: 'Österreich', 'E-mail - Work': 'ada@example.com' },
    ...{ 'Phone 1 - Type': 'Handy', 'Phone 1 - Value': '01 5321234' },
    ...{ 'Phone 2 - Type': 'Fax', 'Phone 2 - Value': '01 5321235' },
    ...{ 'Phone 3 - Type': '', 'Phone 3 - Value': 'after 5 pm' },
  };
  const row = mapRecord(record, {}, documented('items'));
  const { phones, emails } = desiredOf(row);
  expect(phones).toEqual([
    { slot: 'phone1value', items: [{ label: 'mobile', value: '+4315321234' }] },
    { slot: 'phone3value', items: [], partial: true },
  ]);
  expect(emails.map(({ items }) => items)).toEqual([[{ label: 'work', value: 'ada@example.com' }]]);
  expect(row.warnings).toMatchObject([{ line: 2, field: 'Phone 3 - Value', value: 'after 5 pm' }]);
});

test('keys made of other columns', () => {
  const keyOf = (record: Record<string, string>) => desiredOf(mapRecord(record, {}, documented('derived'))).key;
  expect(keyOf({ 'E-mail': 'Ada@Example.com; x@example.com', First: 'Ada', Last: 'L' })).toBe('list-ada@example.com');
  expect(keyOf({ 'E-mail': '', First: 'Ada', Last: 'L' })).toBe('list-ada|l');
  expect(keyOf({ 'E-mail': '', First: 'x'.repeat(90), Last: 'L' })).toMatch(/^list-[0-9a-f]{40}$/);
});

test('paths in JSON', () => {
  const record = {
    ...{ id: 'p1', org: { name: 'ACME' } },
    properties: { firstname: 'Ada', email: 'ada@example.com', company: 'Other' },
    phones: [{ type: 'home', number: '+14155550101' }],
  };
  expect(desiredOf(mapJson(record, {}, documented('api')))).toMatchObject({
    key: 'p1',
    scalars: { firstName: 'Ada', company: 'ACME' },
    emails: [{ items: [{ label: 'work', value: 'ada@example.com' }] }],
    phones: [{ items: [{ label: 'home', value: '+14155550101' }] }],
  });
});
