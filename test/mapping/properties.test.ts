import fc from 'fast-check';
import type { CountryCode } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { readEmail, splitEmails } from '#src/mapping/email-cell.ts';
import { readPhone, splitPhones } from '#src/mapping/phone-cell.ts';
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

const country = fc.constantFrom(null, 'US', 'DE', 'FR', 'IT', 'GB', 'RU') as fc.Arbitrary<CountryCode | null>;
const listText = fc.oneof(
  cell,
  fc.string({
    unit: fc.constantFrom(
      ...['+1 415 555 0101', '030 1234567', '(0)', 'ext. 5', 'Mobile: ', ' or ', 'E9', '.0', '00', '\u00a0', '\u2013'],
      ...[
        'ann@example.com',
        'Bob <',
        '>',
        '"',
        '(',
        ')',
        '/o=x',
        'mailto:',
        '?s=1',
        ' ',
        ',',
        ';',
        ':::',
        '|',
        '\n',
        '-',
      ],
    ),
    maxLength: 8,
  }),
);

test('any text is split and read as phones and e-mails, and what was read stays what it is', () => {
  fc.assert(
    fc.property(listText, country, (text, of) => {
      for (const part of splitPhones(text, of)) {
        const reading = readPhone(part, of);
        if (!reading.ok) continue;
        expect(reading.value).toMatch(/^\+[1-9]\d{1,14}$/);
        expect(splitPhones(reading.value, of)).toEqual([reading.value]);
        for (const any of [null, of])
          expect(readPhone(reading.value, any)).toMatchObject({ ok: true, value: reading.value });
      }
      for (const part of splitEmails(text)) {
        const reading = readEmail(part);
        if (!reading.ok) continue;
        expect(reading.value).toMatch(/^[^\s@<>,;"]+@[^\s@<>,;"]+$/);
        expect(splitEmails(reading.value)).toEqual([reading.value]);
        expect(readEmail(reading.value)).toEqual({ ok: true, value: reading.value, warnings: [] });
      }
    }),
    { numRuns: 3_000 },
  );
});

test('no part of a cell is lost: each gives a value, a warning or a problem', () => {
  const columnsOfItems = ['externalId', 'email', 'phone'];
  const compiled = compileMapping(null, { columns: columnsOfItems }, context);
  fc.assert(
    fc.property(listText, (text) => {
      const row = compiled.mapRow(cellsRow(columnsOfItems, ['a', text, text]));
      const said = row.kind === 'dead' ? row.problems.length : row.desired.emails.length + row.desired.phones.length;
      const isFilled = /[\p{L}\p{N}]/u.test(text);
      if (isFilled && text.trim() !== '#CLEAR') expect(said + row.warnings.length).toBeGreaterThan(0);
    }),
    { numRuns: 2_000 },
  );
});

/** Spellings of a number that mean the same, whatever the number. */
const spellings: readonly ((code: string, national: string) => string)[] = [
  (code, national) => `+${code}${national}`,
  (code, national) => `+${code} ${national.replace(/(\d{3})(?=\d)/g, '$1 ')}`,
  (code, national) => `00${code}${national}`,
  (code, national) => `(+${code}) ${national.replace(/(\d{2})(?=\d)/g, '$1-')}`,
  (code, national) => `tel:+${code}-${national}`,
  (code, national) => `="+${code}${national}"`,
  (code, national) => `'+${code}.${national}`,
  (code, national) => `+${code}\u00a0${national.replace(/(\d{3})(?=\d)/g, '$1\u2011')}`,
  (code, national) => [...`+${code}${national}`].map((one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)).join(''),
  (code, national) => `+${code}${national}.0`,
  (code, national) => `Mobile: +${code} ${national} (work)`,
  (code, national) => `+${code} ${national} ext. 12`,
  (code, national) => {
    const digits = `${code}${national}`;
    return `+${digits[0]}.${digits.slice(1)}E${digits.length - 1}`;
  },
];

test('every spelling of one number gives one value', () => {
  const number = fc.constantFrom(
    ...([
      ['1', '4155550101'],
      ['49', '1701234567'],
      ['44', '2079460018'],
      ['33', '142685301'],
      ['39', '0612345678'],
      ['34', '612345678'],
      ['43', '6641234567'],
      ['81', '312345678'],
    ] as const),
  );
  const compiled = compileMapping(null, { columns: ['externalId', 'phone'] }, { ...context, defaultCountry: 'DE' });
  fc.assert(
    fc.property(number, fc.constantFrom(...spellings), ([code, national], spell) => {
      const row = compiled.mapRow(cellsRow(['externalId', 'phone'], ['a', spell(code, national)]));
      expect(row).toMatchObject({ desired: { phones: [{ items: [{ value: `+${code}${national}` }] }] } });
    }),
    { numRuns: 400 },
  );
});
