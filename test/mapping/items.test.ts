import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { slotNamesOf } from '#src/mapping/wanted-values.ts';
import { codesOf, desiredOf, mapping, mapRecord, noContext, problemsOf, warningsOf } from './support.ts';

const [one, two, three] = ['+14155550101', '+14155550102', '+14155550103'];

/** The phones of a record by a list of entries: slot, and label with value of each item. */
function phonesOf(phones: object[], record: Readonly<Record<string, string>>, more: object = {}) {
  const by = mapping({ phones, ...more });
  const { phones: slots } = desiredOf(mapRecord({ id: '7', ...record }, {}, by));
  return slots.map(({ slot, items }) => [slot, ...items.map(({ label, value }) => `${label} ${value}`)]);
}

describe('a pattern with {n}', () => {
  const google = {
    column: 'Phone {n} - Value',
    label: { column: 'Phone {n} - Label', values: { Handy: 'mobile' }, default: 'other' },
    separator: ':::',
    skip: { column: 'Phone {n} - Label', equals: ['Fax', 'Work Fax'] },
  };

  test('makes a slot of each column, with the label of its own column', () => {
    const record = {
      ...{ 'Phone 1 - Label': 'handy', 'Phone 1 - Value': one },
      ...{ 'Phone 2 - Label': 'Work', 'Phone 2 - Value': two },
      ...{ 'Phone 3 - Label': '', 'Phone 3 - Value': three },
    };
    expect(phonesOf([google], record)).toEqual([
      ['phone1value', `mobile ${one}`],
      ['phone2value', `Work ${two}`],
      ['phone3value', `other ${three}`],
    ]);
  });

  test('reads several values in a cell under one label', () => {
    const record = { 'Phone 1 - Label': 'Work', 'Phone 1 - Value': `${one} ::: ${two}` };
    expect(phonesOf([google], record)).toEqual([['phone1value', `Work ${one}`, `Work ${two}`]]);
  });

  test('leaves out the values for which the condition of skip holds', () => {
    const record = {
      ...{ 'Phone 1 - Label': ' work fax ', 'Phone 1 - Value': 'not even a number' },
      ...{ 'Phone 2 - Label': 'Work', 'Phone 2 - Value': two },
    };
    expect(phonesOf([google], record)).toEqual([['phone2value', `Work ${two}`]]);
  });

  test('does without the label column of one number', () => {
    const record = { 'Phone 1 - Label': 'Work', 'Phone 1 - Value': one, 'Phone 2 - Value': two };
    expect(phonesOf([google], record)).toEqual([
      ['phone1value', `Work ${one}`],
      ['phone2value', `other ${two}`],
    ]);
  });

  test('leaves out a column that the mapping ignores, in a table and in JSON', () => {
    const ignore = ['PHONE 2 - value', 'other'];
    const record = { 'Phone 1 - Value': one, 'Phone 2 - Value': 'not even a number' };
    expect(phonesOf([google], record, { ignore })).toEqual([['phone1value', `other ${one}`]]);
    const by = mapping({ phones: [{ column: '{label} phone' }], ignore: ['spare phone', 'other'] });
    const object = { id: '7', 'own phone': one, 'spare phone': 'none', other: { 'old phone': two } };
    const read = compileMapping(by, { columns: null }, noContext).mapRow({
      kind: 'object',
      object,
      line: 1,
      record: 1,
    });
    expect(desiredOf(read).phones.map(({ slot }) => slot)).toEqual(['ownphone']);
    expect(slotNamesOf(by).phones.has('ownphone')).toBe(true);
    expect(slotNamesOf(by).phones.has('sparephone')).toBe(false);
  });

  test('leaves a column to the entry that names it', () => {
    const entries = [google, { column: 'Phone 1 - Value', label: 'main' }];
    expect(phonesOf(entries, { 'Phone 1 - Value': one, 'Phone 2 - Value': two })).toEqual([
      ['phone2value', `other ${two}`],
      ['phone1value', `main ${one}`],
    ]);
  });

  test('that no column matches stops the file, unless it is optional', () => {
    expect(() => phonesOf([google], {}, { fields: { company: { constant: 'x' } } })).toThrow(
      expect.objectContaining({ code: 'columnMissing', message: expect.stringContaining('"Phone {n} - Value"') }),
    );
    expect(phonesOf([{ ...google, optional: true }], {}, { fields: { company: { constant: 'x' } } })).toEqual([]);
  });
});

describe('a pattern with {label}', () => {
  test('takes the label from the header, in lower case', () => {
    const record = { 'Person - Phone - Work': one, 'person_phone_Home Office': two };
    expect(phonesOf([{ column: 'Person - Phone - {label}' }], record)).toEqual([
      ['personphonework', `work ${one}`],
      ['personphonehomeoffice', `home office ${two}`],
    ]);
  });

  test('does not match a longer word', () => {
    const record = { 'Phone work': one, Phonetic: 'ada' };
    expect(phonesOf([{ column: 'Phone {label}' }], record)).toEqual([['phonework', `work ${one}`]]);
  });
});

describe('a label from a column', () => {
  const labelled = (Type: string, label: object) => phonesOf([{ column: 'P', label }], { P: one, Type })[0]?.[1];

  test('goes through transforms and a table', () => {
    const label = { column: 'Type', transform: [{ withoutPrefix: '* ' }], values: { Handy: 'mobile' } };
    expect(labelled('* handy', label)).toBe(`mobile ${one}`);
    expect(labelled('* Work', label)).toBe(`Work ${one}`);
    expect(labelled(' ', label)).toBe(`phone ${one}`);
  });

  test('that is too long is not used, with a warning', () => {
    const by = mapping({ phones: [{ column: 'P', label: { column: 'Type', default: 'main' } }] });
    const labelled = (Type: string) => mapRecord({ id: '7', P: one, Type }, {}, by);
    const row = labelled('x'.repeat(76));
    expect(desiredOf(row).phones[0]?.items).toEqual([{ label: 'main', value: one }]);
    expect(row.warnings).toMatchObject([{ code: 'labelTooLong', field: 'Type' }]);
    const longest = 'x'.repeat(75);
    expect(desiredOf(labelled(longest)).phones[0]?.items).toEqual([{ label: longest, value: one }]);
  });
});

describe('a country from a column', () => {
  const number = (record: Readonly<Record<string, string>>, phone: object, more: object = {}) =>
    phonesOf([{ column: 'P', ...phone }], record, more)[0]?.[1];

  test('is a code or a name, and its default where the cell is blank', () => {
    const country = { column: 'Land', default: 'AT' };
    expect(number({ P: '030 123456', Land: 'Germany' }, { country })).toBe('phone +4930123456');
    expect(number({ P: '030 123456', Land: 'DEU' }, { country })).toBe('phone +4930123456');
    expect(number({ P: '01 5321234', Land: '' }, { country })).toBe('phone +4315321234');
  });

  test('of the whole mapping serves every phone without one of its own', () => {
    const more = { defaultCountry: { column: 'Land', default: 'AT' } };
    expect(number({ P: '030 123456', Land: 'Allemagne' }, {}, more)).toBe('phone +4930123456');
    expect(number({ P: '01 5321234', Land: '' }, {}, more)).toBe('phone +4315321234');
  });

  describe('of several addresses', () => {
    const by = mapping({
      defaultCountry: 'AT',
      phones: [{ column: 'P', country: { column: 'Home', others: ['Work', 'Third'] } }],
    });
    const read = (cells: Readonly<Record<string, string>>, context = {}) =>
      mapRecord({ id: 'a', P: '020 1234567', ...cells }, context, by);

    test.each<readonly [Readonly<Record<string, string>>, string]>([
      [{ Home: 'Netherlands', Work: 'NL' }, '+31201234567'],
      [{ Home: '', Work: 'Niederlande' }, '+31201234567'],
      [{ Home: 'Germany' }, '+49201234567'],
      [{ Home: 'Germany', Third: 'DE' }, '+49201234567'],
    ])('is taken where they name one alone: %j', (cells, number) => {
      expect(desiredOf(read(cells)).phones[0]?.items.map(({ value }) => value)).toEqual([number]);
    });

    test.each([{}, { defaultCountry: 'DE' }])('is none where they differ, the default neither: %j', (context) => {
      expect(problemsOf(read({ Home: 'Germany', Work: 'Netherlands' }, context))).toMatchObject([
        {
          code: 'phoneCountryMissing',
          field: 'P',
          message: 'the phone number has no country code, and the addresses of its row are in several countries',
          hint: 'Write the number with + and its country code: “Germany” and “Netherlands” may both be meant.',
        },
      ]);
      expect(codesOf(read({ Home: 'Germany', Work: 'Atlantis' }, context))).toEqual(['phoneCountryMissing']);
    });

    test('is none where the cell says "nothing"', () => {
      const row = read({ Home: 'NULL', Work: 'Niederlande', Third: '-' });
      expect(desiredOf(row).phones[0]?.items.map(({ value }) => value)).toEqual(['+31201234567']);
      expect(desiredOf(read({ P: '01 5321234', Home: 'n/a' })).phones[0]?.items).toMatchObject([
        { value: '+4315321234' },
      ]);
    });

    test('is not asked for where the number has its own', () => {
      const row = read({ P: '+31 20 1234567', Home: 'Germany', Work: 'Netherlands' });
      expect(desiredOf(row).phones[0]?.items.map(({ value }) => value)).toEqual(['+31201234567']);
    });
  });

  test.each(['NULL', '-', 'n/a', '—', 'keine Angabe', 'none'])('is the default where the cell holds %s', (word) => {
    const by = mapping({
      defaultCountry: { column: 'Land', default: 'AT' },
      phones: [{ column: 'P' }, { column: 'Q' }],
    });
    const row = mapRecord({ id: '7', P: '01 5321234', Q: '01 5321235', Land: word }, {}, by);
    expect(desiredOf(row).phones.flatMap(({ items }) => items.map(({ value }) => value))).toEqual([
      '+4315321234',
      '+4315321235',
    ]);
    expect(row.warnings).toMatchObject([{ code: 'placeholderText', field: 'Land', value: word }]);
    const without = mapRecord({ id: '7', P: 'N/A', Q: '', Land: word }, {}, by);
    expect(without.warnings.map(({ field }) => field)).toEqual(['P']);
  });

  test.each(['NO', 'NA', 'SD', 'NC'])('is %s, although such a word may stand for "nothing" elsewhere', (code) => {
    const by = mapping({ phones: [{ column: 'P', country: { column: 'Land', default: 'DE' } }] });
    expect(warningsOf(mapRecord({ id: '7', P: one, Land: code }, {}, by))).toEqual([]);
    expect(problemsOf(mapRecord({ id: '7', P: '030', Land: code }, {}, by))).toMatchObject([
      { code: 'phoneImpossible' },
    ]);
  });

  test.each(['+43', '0', 'none of these'])('that is %s is not taken for the default', (text) => {
    const by = mapping({ phones: [{ column: 'P', country: { column: 'Land', default: 'DE' } }] });
    expect(codesOf(mapRecord({ id: '7', P: '030 123456', Land: text }, {}, by))).toEqual(['phoneCountryMissing']);
  });

  test('that no country has is not taken for the default', () => {
    const by = mapping({ phones: [{ column: 'P', country: { column: 'Land', default: 'DE' } }] });
    expect(problemsOf(mapRecord({ id: '7', P: '030 123456', Land: 'Atlantis' }, {}, by))).toMatchObject([
      {
        code: 'phoneCountryMissing',
        message: 'the phone number has no country code, and "Land" holds no country that is known',
      },
    ]);
    expect(desiredOf(mapRecord({ id: '7', P: one, Land: 'Atlantis' }, {}, by)).phones).toHaveLength(1);
  });
});

describe('skip without a column', () => {
  test('asks about the value itself', () => {
    const by = mapping({ emails: [{ column: 'E', skip: { beginsWith: '/o=' } }] });
    expect(desiredOf(mapRecord({ id: '7', E: '/O=EXCHANGE/CN=ADA' }, {}, by)).emails).toEqual([]);
    expect(desiredOf(mapRecord({ id: '7', E: 'ada@example.com' }, {}, by)).emails).toHaveLength(1);
  });
});

describe('slots', () => {
  test('of one column that is taken apart have names of their own', () => {
    const parts = [
      { column: 'P', part: 1, label: 'first' },
      { column: 'P', part: 2, label: 'second' },
    ];
    expect(phonesOf(parts, { P: `${one};${two}` })).toEqual([
      ['p part 1', `first ${one}`],
      ['p part 2', `second ${two}`],
    ]);
  });

  test('of values that differ in their steps alone are numbered', () => {
    const entries = [
      { column: 'P', transform: [{ before: '#' }] },
      { column: 'P', transform: [{ after: '#' }] },
    ];
    expect(phonesOf(entries, { P: `${one}#${two}` }).map(([slot]) => slot)).toEqual(['p', 'p #2']);
  });

  test('of a value made of several columns are named by them', () => {
    expect(phonesOf([{ firstOf: ['A', 'B'] }], { A: '', B: one })).toEqual([['firstOf a b', `phone ${one}`]]);
    expect(phonesOf([{ constant: one }], {})).toEqual([[`constant ${one}`, `phone ${one}`]]);
  });

  test('that the mapping may fill are known, also those of patterns', () => {
    const by = mapping({
      phones: [
        { column: 'Phone {n} - Value' },
        { column: 'Person - Phone - {label}' },
        { column: 'P', part: 2 },
        { firstOf: ['A', 'B'] },
        { column: 4 },
      ],
    });
    const { phones, emails } = slotNamesOf(by);
    const used = ['phone17value', 'personphonework', 'p part 2', 'firstOf a b', 'column 4', 'column 4 #2'];
    expect(used.filter((slot) => !phones.has(slot))).toEqual([]);
    expect(['phonevalue', 'phonexvalue', 'p', 'p part 1', 'column 5'].filter((slot) => phones.has(slot))).toEqual([]);
    expect(emails.has('p')).toBe(false);
  });

  test('are those that mapping a row names', () => {
    const by = mapping({ phones: [{ column: 'T {n}' }, { column: 'P', part: -1 }, { column: 'P' }] });
    const columns = ['id', 'T 1', 't_22', 'P'];
    const row = compileMapping(by, { columns }, noContext).mapRow({
      ...{ kind: 'cells', columns, cells: ['7', one, two, three], line: 2, record: 1 },
    });
    const slots = desiredOf(row).phones.map(({ slot }) => slot);
    expect(slots).toEqual(['t1', 't22', 'p part -1', 'p']);
    expect(slots.every((slot) => slotNamesOf(by).phones.has(slot))).toBe(true);
  });
});

describe('a value that cannot be read', () => {
  const drop = { onInvalid: 'drop' };

  test('with onInvalid: drop is left out with a warning that names line, column and value', () => {
    const by = mapping({ phones: [{ column: 'P' }, { column: 'Q', ...drop }] });
    const row = mapRecord({ id: '7', P: one, Q: '1-800-FLOWERS' }, {}, by);
    expect(desiredOf(row).phones).toEqual([
      { slot: 'p', items: [{ label: 'phone', value: one }] },
      { slot: 'q', items: [], partial: true },
    ]);
    expect(row.warnings).toMatchObject([
      {
        ...{ code: 'phoneLetters', line: 2, field: 'Q', value: '1-800-FLOWERS' },
        message: expect.stringMatching(/; the value was left out$/),
      },
    ]);
  });

  test('is left out alone: the others in the cell stay', () => {
    expect(phonesOf([{ column: 'P', ...drop }], { P: `${one}; n0pe` })).toEqual([['p', `phone ${one}`]]);
  });

  test('that is left out takes nothing away, even where a blank cell clears', () => {
    const by = mapping({ onBlank: 'clear', ...drop, phones: [{ column: 'P' }], fields: { sourceUrl: 'L' } });
    const desired = desiredOf(mapRecord({ id: '7', P: 'n0pe', L: 'no link' }, {}, by));
    expect(desired).toMatchObject({ phones: [{ slot: 'p', items: [], partial: true }], scalars: {} });
  });

  test('rejects its row by default, and where the target says so against the mapping', () => {
    const by = mapping({ ...drop, emails: [{ column: 'E', onInvalid: 'reject' }], phones: [{ column: 'P' }] });
    expect(problemsOf(mapRecord({ id: '7', E: 'x', P: 'n0pe' }, {}, by))).toMatchObject([{ code: 'emailInvalid' }]);
  });

  test('in the key always rejects', () => {
    const by = mapping({ ...drop, fields: { company: 'A' } });
    expect(problemsOf(mapRecord({ id: '1,23E+11', A: 'x' }, {}, by))).toMatchObject([{ code: 'keyDamaged' }]);
  });
});
