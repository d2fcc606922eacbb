/** The generic layout and a column with countries, which it does not read. */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { cellsRow, mapping, noContext, objectRow } from './support.ts';

/** The columns that stop the first file. */
function leftOutOf(header: string, rows: readonly string[], defaultCountry: string | null = 'DE'): readonly string[] {
  const columns = header.split(',');
  const compiled = compileMapping(null, { columns }, { ...noContext, defaultCountry });
  for (const [index, row] of rows.entries()) compiled.see(cellsRow(columns, row.split(','), index + 2));
  return compiled.leftOut.map(({ column, line }) => `${column}: ${line}`);
}

const dutch = 'a,020 - 624 11 11,Netherlands';

describe('a country that nothing maps is left out', () => {
  test.each([
    ['Country', dutch],
    ['Land', 'a,044 668 18 00,Schweiz'],
    ['Mailing Country', 'a,06-12345678,NL'],
    ['Country/Region', 'a,020 - 624 11 11,The Netherlands'],
    ['País', 'a,020 - 624 11 11,Países Bajos'],
    ['country_code', 'a,020 - 624 11 11,nl'],
    ['country_id/name', dutch],
  ])('under "%s", where the number would be another one there: %j', (name, row) => {
    expect(leftOutOf(`externalId,phone,${name}`, [row])).toEqual([`${name}: defaultCountry: { column: "${name}" }`]);
  });

  test.each([
    ['the country is the default one', 'Country', 'a,030 901820,Germany'],
    ['the number has its country code', 'Country', 'a,+31 20 6241111,Netherlands'],
    ['it has one after two zeros', 'Country', 'a,0031 20 6241111,Netherlands'],
    ['there is no number', 'Country', 'a,,Netherlands'],
    ['the country is blank', 'Country', 'a,020 - 624 11 11,'],
    ['the country is none', 'Country', 'a,020 - 624 11 11,Nowhere'],
    ['it is no number of that country', 'Country', 'a,0171 2345678,Netherlands'],
    ['the column is about another thing', 'Country Manager', dutch],
    ['the column is about another thing', 'Bundesland', dutch],
  ])('but not where %s: %s, %j', (_, name, row) => {
    expect(leftOutOf(`externalId,phone,${name}`, [row])).toEqual([]);
  });

  test('nor where numbers have no default country, and are rejected', () => {
    expect(leftOutOf('externalId,phone,Country', [dutch], null)).toEqual([]);
  });

  test('nor by a mapping, which says itself what it reads', () => {
    const columns = ['id', 'phone', 'Country'];
    const own = mapping({ phones: [{ column: 'phone', label: 'work' }] });
    const compiled = compileMapping(own, { columns }, { ...noContext, defaultCountry: 'DE' });
    compiled.see(cellsRow(columns, dutch.split(','), 2));
    expect(compiled.leftOut).toEqual([]);
  });

  test('and it is named once, beside other columns', () => {
    expect(leftOutOf('externalId,phone,Country,Telefon Empfang', [`${dutch},1`, `${dutch},2`])).toEqual([
      'Telefon Empfang: phones: [{ column: "Telefon Empfang", label: phone }]',
      'Country: defaultCountry: { column: "Country" }',
    ]);
  });
});

describe('so is one in JSON', () => {
  const leftOutOfObjects = (objects: readonly object[], defaultCountry: string | null = 'DE') => {
    const compiled = compileMapping(null, { columns: null }, { ...noContext, defaultCountry });
    for (const [index, object] of objects.entries()) compiled.see(objectRow(object, index + 1));
    return compiled.leftOut.map(({ line }) => line);
  };
  const number = '020 - 624 11 11';

  test.each<[string, object]>([
    ['country', { phone: number, country: 'NL' }],
    ['Land', { Telefon: number, Land: 'Niederlande' }],
    ['address.country', { phones: [number], address: { city: 'Amsterdam', country: 'NL' } }],
    ['country', { phones: [{ type: 'work', number }], country: 'NL' }],
    ['country', { country: 'NL', defaultFields: { phoneNumbers: [{ name: 'work', value: number }] } }],
    ['defaultFields.country', { defaultFields: { country: 'NL', phoneNumbers: [{ name: 'work', value: number }] } }],
  ])('under "%s", once: %j', (path, object) => {
    expect(leftOutOfObjects([object, object])).toEqual([`defaultCountry: { column: "${path}" }`]);
  });

  test.each<[string, object]>([
    ['the country is the default one', { phone: '030 901820', country: 'DE' }],
    ['the number has its country code', { phones: ['+31 20 6241111'], country: 'NL' }],
    ['there is no number', { phone: null, phones: [], country: 'NL' }],
    ['the country is none', { phone: number, country: 'Nowhere' }],
    ['it is that of something else', { phone: number, vehicle: { country: 'NL' } }],
  ])('but not where %s: %j', (_, object) => {
    expect(leftOutOfObjects([object])).toEqual([]);
  });

  test('nor where numbers have no default country', () => {
    expect(leftOutOfObjects([{ phone: number, country: 'NL' }], null)).toEqual([]);
  });
});
