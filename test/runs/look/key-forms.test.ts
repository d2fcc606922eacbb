/** Keys in another form than the workspace knows them (`docs/rules.md`, "One person under two keys"). */
import { describe, expect, test } from 'vitest';
import { formsOf, sameUnderOtherKey } from '#src/runs/look/key-forms.ts';
import { contactReply } from '#src/wire/contact.ts';
import { phone, wanted } from '#test/upsert/support/build.ts';

const ada = { firstName: 'Ada', lastName: 'King', phones: { work: [phone(1)] } };

function known(key: string, { firstName = 'Ada', lastName = 'King', number = phone(1) } = {}) {
  const items = { emails: [], phoneNumbers: [{ id: 'i', name: 'x', value: number }] };
  const defaultFields = { firstName, lastName, company: null, role: null, ...items };
  const seen = { id: 'h', externalId: key, source: null, sourceUrl: null, defaultFields, customFields: [] };
  return { key, seen: contactReply.parse(seen), isInFile: false };
}
const stranger = (key: string) => known(key, { firstName: 'Bea', lastName: 'Queen', number: phone(2) });

/** As the ledger answers: of what it knows, the keys in one of the forms. */
function found(key: string, there: readonly ReturnType<typeof known>[], prefix = '', prefixes: readonly string[] = []) {
  const lengthsBehind = (one: string) =>
    there.flatMap((known) => (known.key.startsWith(`${one}0`) ? [known.key.length - one.length] : []));
  const lengths = new Map(['', prefix, ...prefixes].map((one) => [one, lengthsBehind(one)]));
  const forms = formsOf(key, { prefix, lengths });
  const alike = there.filter((one) => forms.includes(one.key.toLowerCase()));
  const { scalars, ...rest } = wanted(key, ada);
  const row = { key, desired: { ...rest, scalars: { ...scalars, lastName: 'King' } } };
  return sameUnderOtherKey(row, alike, prefix, prefixes);
}

describe('a Salesforce id', () => {
  // Computed by the published rule: three characters, one bit for each capital letter, five letters each.
  const short = '003A0000015dGOz';
  const long = '003A0000015dGOzIAM';

  test('with 15 characters is the one with 18, whoever it is', () => {
    expect(found(short, [stranger(long)])).toEqual({ form: 'salesforce15', known: long });
  });

  test('with 18 characters is the one with 15', () => {
    expect(found(long, [stranger(short)])).toEqual({ form: 'salesforce18', known: short });
  });

  test('is another one where the case of a letter differs', () => {
    expect(found('003A0000015dgOz', [stranger(long)])).toBeNull();
    expect(found('003A0000015dGOzIAA', [stranger(short)])).toBeNull();
  });

  test('is found behind the prefix of a mapping', () => {
    expect(found(`sf-${short}`, [stranger(`sf-${long}`)], 'sf-')).toEqual({
      form: 'salesforce15',
      known: `sf-${long}`,
    });
    expect(found(short, [stranger(`sf-${long}`)], '', ['sf-'])).toEqual({ form: 'salesforce15', known: `sf-${long}` });
  });

  test('is no number of 15 digits', () => {
    expect(formsOf('123456789012345', { prefix: '', lengths: new Map([['', []]]) })).toEqual(['123456789012345']);
  });
});

describe('a prefix', () => {
  test('of another mapping, one that is there no more, or one that is new', () => {
    expect(found('251', [known('hubspot-251')], '', ['hubspot-'])).toEqual({ form: 'prefix', known: 'hubspot-251' });
    expect(found('hubspot-251', [known('251')], 'hubspot-')).toEqual({ form: 'prefix', known: '251' });
    expect(found('crm-251', [known('hubspot-251')], 'crm-', ['hubspot-'])?.known).toBe('hubspot-251');
  });

  test('keeps two systems apart whose people differ', () => {
    expect(found('251', [stranger('hubspot-251')], '', ['hubspot-'])).toBeNull();
  });
});

describe('keys that differ in case only', () => {
  test('are one person where the person is the same', () => {
    expect(found('ada@example.com', [known('Ada@Example.com')])).toEqual({ form: 'case', known: 'Ada@Example.com' });
    expect(found('Ada', [known('ada', { number: phone(9) })])).toEqual({ form: 'case', known: 'ada' });
  });

  test('are two people where only the first name is the same', () => {
    expect(found('K1', [known('k1', { lastName: 'Queen', number: phone(2) })])).toBeNull();
  });

  test('a key is not compared with itself', () => {
    expect(found('k1', [known('k1')])).toBeNull();
  });
});

describe('numbers that differ in the zeros in front', () => {
  test('are one person where the person is the same', () => {
    expect(found('251', [known('00251')])).toEqual({ form: 'zeros', known: '00251' });
    expect(found('00251', [known('251')])).toEqual({ form: 'zeros', known: '251' });
    expect(found('0251', [known('00251')])).toEqual({ form: 'zeros', known: '00251' });
    expect(found('251', [known('hubspot-00251')], '', ['hubspot-'])?.form).toBe('zeros');
    expect(found('hubspot-00251', [known('hubspot-251')], 'hubspot-')?.form).toBe('zeros');
  });

  test('are two where the people differ, and where the digits do', () => {
    expect(found('251', [stranger('00251')])).toBeNull();
    expect(found('251', [known('002510'), known('0251a')])).toBeNull();
  });

  test('zeros alone have no other form', () => {
    expect(formsOf('000', { prefix: '', lengths: new Map([['', [5]]]) })).toEqual(['000']);
  });

  test('are looked for behind a prefix in the lengths that are known there', () => {
    const lengths = new Map([
      ['', [4]],
      ['hub-', [5, 6]],
    ]);
    expect(formsOf('251', { prefix: '', lengths })).toEqual(['251', '0251', 'hub-251', 'hub-00251', 'hub-000251']);
  });
});

describe('a whole number as a spreadsheet shows it', () => {
  test.each([
    ...['1001.00', '1001,00', '1001.0', '1,001', '1.001', "1'001", '1\u00a0001', '1 001', '1,001.00', '1.001,00'],
    ...['1001.', '1001.000', '1001.0000', '1001,000000', '1001e0', '1001E+00', '1.001e3', '1,001.000'],
  ])('is the plain number where that is known and the person is the same: %s', (key) => {
    expect(found(key, [known('1001')])).toEqual({ form: 'number', known: '1001' });
    expect(found(`crm-${key}`, [known('crm-1001')], 'crm-')).toEqual({ form: 'number', known: 'crm-1001' });
    expect(found(key, [stranger('1001')])).toBeNull();
  });

  test('is a whole number or one with decimals, where it may be both', () => {
    expect(found('1.000', [known('1000')])?.known).toBe('1000');
    expect(found('1.000', [known('1')])?.known).toBe('1');
  });

  test('may have lost the zeros in front, too, and have millions', () => {
    expect(found('1,001.00', [known('001001')])?.known).toBe('001001');
    expect(found('1.002.003', [known('1002003')])?.known).toBe('1002003');
  });

  test.each([
    '1001.50',
    '10.01',
    '1,01',
    '.',
    '.00',
    '1.5e0',
    '1001e',
    '1.001.000.00',
    '1,001.002',
    '1.001.00',
    'A1001.00',
    '0,001',
    '1,001 002',
  ])('is no other one: %s', (key) => {
    expect(formsOf(key, { prefix: '', lengths: new Map([['', [6]]]) })).toEqual([key.toLowerCase()]);
  });
});

describe('an id in another spelling', () => {
  const dashed = '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';
  const bare = dashed.replaceAll('-', '');

  test.each([
    [`{${dashed.toUpperCase()}}`, dashed],
    [bare, dashed],
    [dashed, bare],
    [dashed, `{${dashed}}`],
    ['ObjectId(65f0a1b2c3d4e5f601234567)', '65f0a1b2c3d4e5f601234567'],
    ['ObjectId("65f0a1b2c3d4e5f601234567")', '65f0a1b2c3d4e5f601234567'],
  ])('%s is %s for the same person', (key, before) => {
    expect(found(key, [known(before)])).toEqual({ form: 'idSpelling', known: before });
    expect(found(`crm-${key}`, [known(`crm-${before}`)], 'crm-')).toMatchObject({ form: 'idSpelling' });
    expect(found(key, [stranger(before)])).toBeNull();
  });

  test('in other case alone is one in other case', () => {
    expect(found(dashed.toUpperCase(), [known(dashed)])).toEqual({ form: 'case', known: dashed });
  });

  test.each([`${bare}0`, '0a1b2c3d', 'ObjectId(65f0)', 'Object(65f0a1b2c3d4e5f601234567)'])(
    'is no other text: %s',
    (key) => {
      expect(formsOf(key, { prefix: '', lengths: new Map([['', []]]) })).toEqual([key.toLowerCase()]);
    },
  );
});

describe('a key of which a spreadsheet has made a date', () => {
  test.each([
    ['2026-12-01', '12-1'],
    ['2026-12-01', '1-12'],
    ['2026-12-01', '01.12'],
    ['2026-12-01', '12/2026'],
    ['2021-04-03', '3-4-21'],
    ['2026-03-01', 'MARCH1'],
    ['2026-09-02', 'SEPT2'],
    ['01. Dez', '1-12'],
    ['1-Dec', '12-1'],
    ['Dec-26', '12-26'],
    ['Dec-35', '12-2035'],
    ['Dec-26', 'DEC2026'],
    ['May-2024', '5/2024'],
    ['2035-12-01', 'DEC-35'],
  ])('%s is %s for the same person', (shown, before) => {
    expect(found(shown, [known(before)])).toEqual({ form: 'date', known: before });
    expect(found(shown, [stranger(before)])).toBeNull();
  });

  test('is found behind the prefix of a mapping', () => {
    expect(found('KD-2026-12-01', [known('KD-12-1')], 'KD-')).toEqual({ form: 'date', known: 'KD-12-1' });
  });

  test.each([
    ['2026-12-01', '12-2'],
    ['2026-13-01', '13-1'],
    ['2026-12', '12'],
    ['12-1', '1-12'],
    ['20261201', '12-1'],
    ['MAR-12', 'MAR-1'],
    ['MAR-12', 'mar1'],
    ['MAR-12', '1-3'],
    ['MAR-1002', 'MAR-1'],
    ['MAR-1002', 'MAR-02'],
    ['MAR-1002', 'MAR1002'],
    ['DEC-05', 'DEC-01'],
    ['DEC-10', 'DEC-1'],
    ['MAY-2024', 'MAY-1'],
    ['MAY-2024', 'MAY-24'],
  ])('%s is not %s', (shown, before) => {
    expect(found(shown, [known(before)])).toBeNull();
  });
});
