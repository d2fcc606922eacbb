import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { readPhone } from '#src/mapping/phone-cell.ts';
import type { MappedRow } from '#src/mapping/row.ts';
import { allTypes, cellsRow, mapping, noContext, objectRow } from './support.ts';

const columns = [
  'externalId',
  'firstName',
  'lastName',
  'company',
  'role',
  'source',
  'sourceUrl',
  'email',
  'email work',
  'phone',
  'phone mobile',
  ...allTypes.map(({ key }) => `custom.${key}`),
  '__proto__',
];
const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('+', '1', '4', '5', '0', ' ', '-', '/', ',', ';', '(', ')', 'x', '.', 'E', '\n', '@', 'a'),
  }),
  fc.constantFrom(
    '',
    '#CLEAR',
    'null',
    '\ud800',
    'a@example.com',
    '+14155550101',
    '2026-03-09',
    'yes',
    'https://example.com',
  ),
);
const context = { ...noContext, customFields: allTypes, defaultCountry: 'US' };

/** What every desired contact keeps, whatever the file held. */
function checkRow(row: MappedRow): void {
  if (row.kind === 'dead') {
    expect(row.problems.length).toBeGreaterThan(0);
    return;
  }
  const { key, phones, emails } = row.desired;
  expect(key).toBe(key.normalize('NFC').trim());
  expect([...key].length).toBeGreaterThan(0);
  expect([...key].length).toBeLessThanOrEqual(75);
  for (const list of [phones, emails]) {
    const values = list.flatMap(({ items }) => items.map(({ value }) => value));
    expect(new Set(values).size).toBe(values.length);
  }
  for (const { items } of phones) for (const { value } of items) expect(value).toMatch(/^\+[1-9]\d{1,14}$/);
}

test('mapping a record never throws, and the same row twice gives an equal result', () => {
  const compiled = compileMapping(null, { columns }, context);
  fc.assert(
    fc.property(fc.array(cell, { minLength: columns.length, maxLength: columns.length }), (cells) => {
      const first = compiled.mapRow(cellsRow(columns, cells));
      checkRow(first);
      expect(compiled.mapRow(cellsRow(columns, cells))).toEqual(first);
    }),
    { numRuns: 500 },
  );
});

test('mapping an object never throws, whatever stands under the known names', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    cell,
    fc.array(cell),
    fc.array(fc.record({ name: cell, value: cell })),
  );
  const names = [...columns, 'emails', 'phoneNumbers', 'custom', 'customFields', 'defaultFields'];
  const object = fc.dictionary(fc.constantFrom(...names), value);
  const contact = fc.record({ externalId: cell, defaultFields: object, customFields: value }, { requiredKeys: [] });
  const generic = compileMapping(null, { columns: null }, context);
  const configured = compileMapping(
    mapping({ key: 'externalId', fields: { company: 'company' }, phones: [{ column: 'phone' }] }),
    { columns: null },
    context,
  );
  fc.assert(
    fc.property(fc.oneof(object, contact), (one) => {
      const row = objectRow(one);
      checkRow(generic.mapRow(row));
      checkRow(configured.mapRow(row));
      expect(generic.mapRow(row)).toEqual(generic.mapRow(row));
    }),
    { numRuns: 500 },
  );
});

test('any header compiles, or is refused with a file error', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(cell, fc.constantFrom(...columns))), (header) => {
      try {
        compileMapping(null, { columns: ['externalId', ...header] }, context);
      } catch (error) {
        expect(error).toMatchObject({ kind: 'file' });
      }
    }),
    { numRuns: 500 },
  );
});

test('a number once normalised stays what it is', () => {
  fc.assert(
    fc.property(cell, (text) => {
      const reading = readPhone(text, 'US');
      if (reading.ok) expect(readPhone(reading.value, null)).toMatchObject({ ok: true, value: reading.value });
    }),
    { numRuns: 700 },
  );
});
