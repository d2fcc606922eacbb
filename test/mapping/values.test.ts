import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { cellsRow, desiredOf, mapJson, mapping, mapRecord, noContext, problemsOf, warningsOf } from './support.ts';

/** The company that a value gives for a record. */
function companyOf(value: unknown, record: Readonly<Record<string, string>>): string | null | undefined {
  const by = mapping({ fields: { company: value, role: { constant: 'x' } } });
  return desiredOf(mapRecord({ id: '7', ...record }, {}, by)).scalars.company;
}

describe('a value', () => {
  test('firstOf takes the first that is not blank', () => {
    const value = { firstOf: ['A', 'B'] };
    expect(companyOf(value, { A: 'one', B: 'two' })).toBe('one');
    expect(companyOf(value, { A: ' ', B: 'two' })).toBe('two');
    expect(companyOf(value, { A: '', B: '' })).toBeUndefined();
  });

  test('firstOf passes over N/A, and reads it where nothing else is filled', () => {
    const value = { firstOf: ['A', 'B'] };
    expect(companyOf(value, { A: 'N/A', B: 'two' })).toBe('two');
    const by = mapping({ fields: { company: value } });
    expect(warningsOf(mapRecord({ id: '7', A: 'N/A', B: '' }, {}, by))).toEqual(['placeholderText']);
  });

  test('firstOf passes over columns that the file lacks, if one of them is there', () => {
    expect(companyOf({ firstOf: ['Z', 'B'] }, { B: 'two' })).toBe('two');
    expect(() => companyOf({ firstOf: ['Y', 'Z'] }, { B: 'two' })).toThrow(
      expect.objectContaining({
        code: 'columnMissing',
        message: expect.stringContaining('lacks the columns "Y", "Z"'),
      }),
    );
  });

  test('#CLEAR in a column of firstOf clears, as anywhere', () => {
    expect(companyOf({ firstOf: ['A', 'B'] }, { A: '#CLEAR', B: 'two' })).toBeNull();
  });

  test('join puts values together without the blank ones', () => {
    expect(companyOf({ join: ['A', 'B', 'C'] }, { A: 'one', B: '', C: 'three' })).toBe('one three');
    expect(companyOf({ join: ['A', 'B'], with: ', ' }, { A: 'one', B: 'two' })).toBe('one, two');
    expect(companyOf({ join: ['A', 'B'] }, { A: '', B: ' ' })).toBeUndefined();
  });

  test('template fills in columns, and is blank if all of them are', () => {
    const value = { template: '{A} ({{{B}}})' };
    expect(companyOf(value, { A: 'one', B: 'two' })).toBe('one ({two})');
    expect(companyOf(value, { A: 'one', B: '' })).toBe('one ({})');
    expect(companyOf(value, { A: '', B: '' })).toBeUndefined();
  });

  test('constant is the same for every row', () => {
    expect(companyOf({ constant: 'ACME' }, { A: '' })).toBe('ACME');
    expect(companyOf({ constant: 5 }, { A: '' })).toBe('5');
  });

  test('part takes one piece, from the beginning or the end', () => {
    const piece = (part: number) => companyOf({ column: 'A', part, separator: ':::' }, { A: 'x ::: y ::: z' });
    expect([1, 2, 3, -1, -3].map(piece)).toEqual(['x', 'y', 'z', 'z', 'x']);
    expect(piece(4)).toBeUndefined();
    expect(companyOf({ column: 'A', part: 2 }, { A: 'x; y' })).toBe('y');
  });

  test('transforms follow in order, after the part', () => {
    expect(companyOf({ column: 'A', part: 1, transform: ['lowerCase', { after: ':' }] }, { A: 'Firm:ACME;X:Y' })).toBe(
      'acme',
    );
  });

  test('one column may go to several fields', () => {
    const by = mapping({
      fields: {
        firstName: { column: 'Name', transform: ['givenNames'] },
        lastName: { column: 'Name', transform: ['familyName'] },
      },
    });
    expect(desiredOf(mapRecord({ id: '7', Name: 'Lovelace, Ada' }, {}, by)).scalars).toEqual({
      firstName: 'Ada',
      lastName: 'Lovelace',
    });
  });

  test('values are nested', () => {
    const value = { join: [{ firstOf: ['A', 'B'] }, { template: '<{C}>' }], transform: ['upperCase'] };
    expect(companyOf(value, { A: '', B: 'b', C: 'c' })).toBe('B <C>');
  });

  test('a position picks a column inside of a value, too', () => {
    expect(companyOf({ firstOf: [3, 2] }, { A: 'one', B: '' })).toBe('one');
  });

  test('a guard against formulas is removed before the steps', () => {
    expect(companyOf({ column: 'A', transform: [{ withoutPrefix: '+' }] }, { A: "'+49" })).toBe('49');
  });

  test('a date that fits no format rejects the row with the cell as it is in the file', () => {
    const by = mapping({
      customFields: [{ column: 'Since', key: 'since', transform: [{ date: 'DD.MM.YYYY' }] }],
      fields: { company: 'A' },
    });
    const definitions = [{ key: 'since', name: 'Since', type: 'date' }];
    const read = (Since: string) => mapRecord({ id: '7', A: 'x', Since }, { customFields: definitions }, by);
    expect(desiredOf(read('5.3.2026')).customFields).toEqual([{ key: 'since', value: '2026-03-05T00:00:00.000Z' }]);
    expect(problemsOf(read('March'))).toMatchObject([{ code: 'dateInvalid', field: 'Since', value: 'March', line: 2 }]);
  });

  test('a multi-select splits at its own separator', () => {
    const by = mapping({
      customFields: [{ column: 'Tags', key: 'tags', separator: '|', transform: ['lowerCase'] }],
      fields: { company: 'A' },
    });
    const definitions = [{ key: 'tags', name: 'Tags', type: 'multi-select' }];
    const row = mapRecord({ id: '7', A: 'x', Tags: 'VIP | Blog' }, { customFields: definitions }, by);
    expect(desiredOf(row).customFields).toEqual([{ key: 'tags', value: ['vip', 'blog'] }]);
  });
});

describe('the whole mapping', () => {
  test('optional: true lets files lack every column but the key', () => {
    const by = mapping({ optional: true, fields: { company: 'A', role: { column: 'B', optional: false } } });
    expect(() => mapRecord({ id: '7', A: 'x' }, {}, by)).toThrow(expect.objectContaining({ code: 'columnMissing' }));
    expect(desiredOf(mapRecord({ id: '7', B: 'x' }, {}, by)).scalars).toEqual({ role: 'x' });
    expect(() => mapRecord({ A: 'a', B: 'x' }, {}, by)).toThrow(/lacks the column "id"/);
  });

  test('the country of a row that makes other numbers than the default one is noted once for the file', () => {
    const by = mapping({ phones: [{ column: 'phone', country: { column: 'country' } }] });
    const columns = ['id', 'phone', 'country'];
    const compiled = compileMapping(by, { columns }, { ...noContext, defaultCountry: 'DE' });
    const numbersOf = (...cells: readonly string[]) =>
      desiredOf(compiled.mapRow(cellsRow(columns, ['a', ...cells]))).phones.flatMap(({ items }) =>
        items.map(({ value }) => value),
      );
    expect(numbersOf('+49 171 2345670', 'Austria')).toEqual(['+491712345670']);
    expect(numbersOf('0171 2345670', 'Germany')).toEqual(['+491712345670']);
    expect(compiled.notes).toEqual([]);
    expect(numbersOf('0171 2345670', 'Austria')).toEqual(['+431712345670']);
    expect(numbersOf('0171 2345671', 'Austria')).toEqual(['+431712345671']);
    expect(compiled.notes.map(({ code, message }) => [code, message])).toEqual([
      [
        'phoneCountryOfRow',
        'the number has no country code, and was read in the country that the row names (AT), not in the default one (DE) (first of 2 rows)',
      ],
    ]);
  });

  test('columns of every value, label, country and condition are mapped, not ignored', () => {
    const by = mapping({
      fields: { company: { firstOf: ['A', 'B'] } },
      phones: [
        {
          column: 'Phone {n}',
          label: { column: 'Type {n}' },
          country: { column: 'Land' },
          skip: { column: 'Fax', isFilled: true },
        },
      ],
      skipRows: [{ column: 'Deleted', equals: 'yes' }],
    });
    const columns = ['id', 'A', 'B', 'Phone 1', 'Type 1', 'Land', 'Fax', 'Deleted', 'Notes'];
    const compiled = compileMapping(by, { columns }, noContext);
    expect(compiled.unmappedColumns).toEqual(['Notes']);
    expect(compiled.mappedColumns).toEqual(['id', 'A', 'B', 'Phone 1', 'Type 1', 'Land', 'Fax']);
  });

  test('the version changes with every option that may change a value, and not with its title', () => {
    const columns = ['id', 'A', 'P 1'];
    const versionOf = (company: unknown, more: object = {}) =>
      compileMapping(mapping({ fields: { company }, phones: [{ column: 'P {n}' }], ...more }), { columns }, noContext)
        .version;
    const versions = [
      versionOf('A'),
      versionOf({ column: 'A', transform: ['lowerCase'] }),
      versionOf({ column: 'A', part: 1 }),
      versionOf({ column: 'A', onInvalid: 'drop' }),
      versionOf('A', { phones: [{ column: 'P {n}', skip: { equals: '1' } }] }),
      versionOf('A', { phones: [{ column: 'P {n}', label: { column: 'A' } }] }),
      versionOf('A', { phones: [{ column: 'P {n}', country: { column: 'A' } }] }),
      versionOf('A', { defaultCountry: { column: 'A' } }),
      versionOf('A', { onInvalid: 'drop' }),
    ];
    expect(new Set(versions).size).toBe(versions.length);
    expect(versionOf('A', { title: 'Other', fixtures: [{ row: {}, problems: ['keyMissing'] }] })).toBe(versions[0]);
  });

  test('policies are named field by field, and for each list', () => {
    const by = mapping({
      fields: { company: { column: 'A', policy: 'fill' }, role: { column: 'B' } },
      customFields: [{ column: 'C', key: 'tier', policy: 'app' }],
      items: { phones: 'all' },
    });
    const { policies } = compileMapping(by, { columns: ['id', 'A', 'B', 'C'] }, noContext);
    expect([...policies.fields]).toEqual([
      ['company', 'fill'],
      ['custom.tier', 'app'],
    ]);
    expect(policies).toMatchObject({ emails: 'owned', phones: 'all' });
    const all = compileMapping(mapping({ items: 'none' }), { columns: ['id'] }, noContext);
    expect(all.policies).toMatchObject({ emails: 'none', phones: 'none' });
  });

  test('the remark on derived keys names their columns', () => {
    const by = mapping({ key: { firstOf: ['E-mail', { template: '{A}|{B}' }] }, fields: { company: 'A' } });
    expect(compileMapping(by, { columns: ['E-mail', 'A', 'B'] }, noContext).remarks).toEqual([
      'keys are derived from "E-mail", else "A" + "B": a person for whom these change becomes another contact',
    ]);
    const remarksFor = (columns: readonly string[]) => compileMapping(ids, { columns }, noContext).remarks;
    const ids = mapping({
      key: { firstOf: ['Record Id', { column: 'Mail', transform: ['lowerCase'] }] },
      fields: { company: 'A' },
    });
    // In JSON any record may lack the id.
    expect(compileMapping(ids, { columns: null }, noContext).remarks).toEqual([
      'the key is "Record Id"; where it is blank: "Mail"',
    ]);
    // Of the columns that are there; an id is not derived.
    expect(remarksFor(['Record Id', 'Mail', 'A'])).toEqual([]);
    expect(remarksFor(['Mail', 'A'])).toEqual([expect.stringContaining('derived from "Mail": ')]);
    // Whatever the column is called: a key that is read as an address is one.
    const addressFirst = { firstOf: [{ column: 'Indirizzo', transform: ['emailAddress' as const] }, 'Record Id'] };
    const byAddress = mapping({ key: addressFirst, fields: { company: 'A' } });
    expect(compileMapping(byAddress, { columns: ['Indirizzo', 'Record Id', 'A'] }, noContext).remarks).toEqual([
      'keys are derived from "Indirizzo", else "Record Id": a person for whom these change becomes another contact',
    ]);
    const joined = mapping({ key: { template: '{A}|{B}' }, fields: { company: 'A' } });
    expect(compileMapping(joined, { columns: ['A', 'B'] }, noContext).remarks).toEqual([
      'keys are derived from "A" + "B": a person for whom these change becomes another contact',
    ]);
  });
});

test('emailAddress in a key: what is no address falls to the next value, and is invalid where there is none', () => {
  const address = { column: 'E-mail', transform: ['emailAddress', 'lowerCase'] };
  const by = mapping({ key: { firstOf: [address, 'Other'] }, fields: { company: 'A' } });
  const read = (email: string, other: string) => mapRecord({ 'E-mail': email, Other: other, A: 'Acme' }, {}, by);
  expect(desiredOf(read('Bo <Bo@example.com>; x@example.com', '7')).key).toBe('bo@example.com');
  expect(desiredOf(read('bo(at)example.com', '7')).key).toBe('7');
  // The address of another person is no key, also where it alone can be read.
  for (const own of [
    'bo(at)example.com',
    'bo at example.com',
    'bo.example.com',
    'bo@example',
    'bo[at]example[dot]com',
    'bo at example dot com',
    'bo,miller@example.com',
    'Bo cc bo@example.com',
  ]) {
    expect(desiredOf(read(`${own}; ann@example.com`, '7')).key, own).toBe('7');
  }
  // A name is no address: the person beside it keeps the key.
  expect(desiredOf(read('Miller, Bo (Acme, Inc.) <bo@example.com>', '7')).key).toBe('bo@example.com');
  expect(desiredOf(read('Bo Miller\nbo@example.com', '7')).key).toBe('bo@example.com');
  expect(desiredOf(read('n/a', '7')).key).toBe('7');
  expect(problemsOf(read('bo(at)example.com', ''))).toMatchObject([{ code: 'emailInvalid', field: 'E-mail' }]);
  expect(problemsOf(read('', ''))).toMatchObject([{ code: 'keyMissing' }]);
});

describe('a derived key', () => {
  const by = mapping({
    key: {
      firstOf: [
        { column: 'E-mail', part: 1, separator: ':::', transform: ['lowerCase'] },
        { template: '{First}|{Last}', transform: ['lowerCase'] },
      ],
      hashLong: true,
    },
    keyPrefix: 'g-',
    fields: { firstName: 'First' },
  });
  const keyOf = (record: Readonly<Record<string, string>>) => desiredOf(mapRecord(record, {}, by)).key;

  test('is the first that is not blank, with its prefix', () => {
    expect(keyOf({ 'E-mail': 'Ada@Example.com ::: x@example.com', First: 'Ada', Last: 'L' })).toBe('g-ada@example.com');
    expect(keyOf({ 'E-mail': '', First: 'Ada', Last: 'Lovelace' })).toBe('g-ada|lovelace');
  });

  test('needs one of its columns alone', () => {
    expect(keyOf({ First: 'Ada', Last: 'Lovelace' })).toBe('g-ada|lovelace');
    expect(() => mapRecord({ Company: 'x' }, {}, by)).toThrow(expect.objectContaining({ code: 'columnMissing' }));
  });

  test('that is blank rejects the row', () => {
    expect(problemsOf(mapRecord({ 'E-mail': '', First: '', Last: ' ' }, {}, by))).toMatchObject([
      { code: 'keyMissing' },
    ]);
  });

  test('that is too long becomes 40 hex digits of its SHA-256, or rejects its row', () => {
    const First = 'a'.repeat(80);
    expect(keyOf({ First, Last: 'x' })).toMatch(/^g-[0-9a-f]{40}$/);
    const strict = mapping({ key: { template: '{First}|{Last}' }, fields: { firstName: 'First' } });
    expect(problemsOf(mapRecord({ First, Last: 'x' }, {}, strict))).toMatchObject([{ code: 'keyTooLong' }]);
    const long = mapping({
      key: { column: 'First', hashLong: true },
      keyPrefix: 'p'.repeat(40),
      fields: { role: 'Last' },
    });
    expect(desiredOf(mapRecord({ First, Last: 'x' }, {}, long)).key).toHaveLength(75);
  });

  test('may be made of members of JSON', () => {
    const api = mapping({ key: { firstOf: ['email', 'name'] }, fields: { firstName: 'name' } });
    expect(desiredOf(mapJson({ email: null, name: 'Ada' }, {}, api)).key).toBe('Ada');
    expect(problemsOf(mapJson({ other: 1 }, {}, api))).toMatchObject([{ code: 'keyMissing' }]);
  });
});

test('a row is mapped without regard to the order of its columns', () => {
  const by = mapping({ fields: { company: { join: ['A', 'B'] } } });
  const rows = [
    ['id', 'A', 'B'],
    ['B', 'id', 'A'],
  ].map((columns) => {
    const compiled = compileMapping(by, { columns }, noContext);
    return desiredOf(compiled.mapRow(cellsRow(columns, columns)));
  });
  expect(rows[0]).toEqual(rows[1]);
});
