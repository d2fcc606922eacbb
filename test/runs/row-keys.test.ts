/** Keys that are read without the rest of their rows are those of rows that are mapped (`docs/rules.md`, "Forgetting a person"). */
import { expect, test } from 'vitest';
import { keyOfMapped } from '#src/mapping/row.ts';
import { rowKeyReader, rowMapper } from '#src/runs/supply.ts';
import type { Row } from '#src/sources/row.ts';
import { mapping, noContext } from '#test/mapping/support.ts';

const context = { ...noContext, defaultCountry: 'DE', onBlank: 'keep' } as const;
const columns = ['externalId', 'Id', 'Mail', 'Tel', 'First', 'phone mobile'];
const rows: readonly Row[] = [
  ['k1', '7', 'a@example.com', '+4915112345671', 'Ann', '+4915112345672'],
  ['', '', '', '', '', ''],
  [' k2 ', '0008', 'B@Example.com', 'none', 'Bob', '12'],
  ['n/a', 'n/a', 'no address', '#CLEAR', '#CLEAR', 'x'],
  ['k\u00a03', '9,0', 'c@example.com; d@example.com', '0151 12345673', 'Cy', ''],
].map((cells, index) => ({ kind: 'cells', line: index + 2, record: index + 1, columns, cells }));

test.each([
  ['the generic layout', null],
  ['a column', { key: 'Id', fields: { firstName: 'First' }, phones: [{ column: 'Tel', label: 'mobile' }] }],
  ['an address', { key: 'Mail', fields: { firstName: 'First' }, emails: [{ column: 'Mail', label: 'work' }] }],
  ['a template', { key: { template: 'crm-{Id}' }, fields: { firstName: 'First' } }],
  [
    'derived values',
    {
      keyPrefix: 'list-',
      key: {
        firstOf: [{ column: 'Mail', part: 1, transform: ['emailAddress', 'lowerCase'] }, { template: '{First}|{Tel}' }],
      },
      fields: { firstName: 'First' },
    },
  ],
  ['columns that are joined', { key: { join: ['Id', 'First'], with: '-' }, fields: { firstName: 'First' } }],
])('of rows with %s as their key', (_, given) => {
  const read = given === null ? null : mapping(given);
  const [keyOf, mapRow] = [rowKeyReader(read, context, []), rowMapper(read, context)];
  expect(rows.map(keyOf)).toEqual(rows.map((row) => keyOfMapped(mapRow(row))));
  expect(rows.map(keyOf)).not.toEqual(rows.map(() => null));
});
