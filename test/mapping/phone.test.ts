import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { cellsRow, codesOf, desiredOf, mapJson, mapping, mapRecord, noContext, warningsOf } from './support.ts';

const mapped = (text: string, country: string | null = null) =>
  mapRecord({ externalId: 'a', phone: text }, { defaultCountry: country });
const numbers = (text: string, country: string | null = null) =>
  desiredOf(mapped(text, country)).phones.flatMap(({ items }) => items.map(({ value }) => value));

describe('a phone number becomes E.164', () => {
  test.each([
    ['+14155550101'],
    ['+1 (415) 555-0101'],
    ['+1.415.555.0101'],
    ['tel:+1-415-555-0101'],
    ['TEL: +14155550101'],
    ["'+1 415 555 0101"],
    ['+1\u00a0415\u2009555\u202f0101'],
    ['+1\u2010415\u2011555\u20130101'],
    ['+1\u2212415\u2014555\u22120101'],
    ['\u202a+14155550101\u202c'],
    ['\uff0b\uff11\uff14\uff11\uff15\uff15\uff15\uff15\uff10\uff11\uff10\uff11'],
    ['+14155550101.0'],
    ['="+14155550101"'],
    ['=+14155550101'],
    ["'=+1 415 555 0101"],
    ['0014155550101'],
    ['00 1 415 555 0101'],
    ['(+1) 415 555 0101'],
    ['(001) 415 555 0101'],
    ['+1\u00b7415\u00b7555\u00b70101'],
    ['\u2019+1 415 555 0101'],
    ['"+1 415 555 0101"'],
    ['+1 415 555 0101.'],
    ['+ 1 415 555 0101'],
    ['[+1] 415 555 0101'],
    ['callto:+14155550101'],
    ['+1.4155550101E10'],
    ['(+14155550101)'],
    ['<+14155550101>'],
    [',+14155550101,'],
    ['\u260e\ufe0f +1 415 555 0101'],
    ['+1 415 555 0101 ext.'],
    ['4155550101,00', 'US'],
    ['1.4155550101E10', 'US'],
  ])('from %j', (text, country: string | null = null) => {
    expect(numbers(text, country)).toEqual(['+14155550101']);
    expect(warningsOf(mapped(text, country))).toEqual([]);
  });

  test.each([
    ['3.108207129E9', 'US', '+13108207129'],
    ['3,108207129E+09', 'US', '+13108207129'],
    ['4.1555501E9', 'US', '+14155550100'],
    ['4.915112345678E12', 'DE', '+4915112345678'],
    ['15551234567.0', 'US', '+15551234567'],
    ['1701234567', 'DE', '+491701234567'],
    ['142685300', 'FR', '+33142685300'],
    ['7911123456', 'GB', '+447911123456'],
    ['+49 (0) 30 1234567', null, '+49301234567'],
    ['0049 (0)30 1234567', null, '+49301234567'],
    ['+44 (0)20 7946 0018', null, '+442079460018'],
    ['0014155550123', null, '+14155550123'],
    ['011 49 30 1234567', 'US', '+49301234567'],
    ['8 (495) 123-45-67', 'RU', '+74951234567'],
    ['+٤٩ ٣٠ ١٢٣٤٥٦٧', null, '+49301234567'],
    ['030 12345-67', 'DE', '+49301234567'],
  ])('as programs and people write it: %j in %s', (text, country, number) => {
    expect(numbers(text, country)).toEqual([number]);
  });

  test.each([
    'Mobile: +1 415 555 0101',
    'M: +1 415 555 0101',
    'Tel. +1 415 555 0101',
    'Tel +1 415 555 0101',
    'Handy privat: +1 415 555 0101',
    '+1 415 555 0101 (work)',
    '+1 415 555 0101 (privat)',
  ])('without the word beside it, which the run reports once: %s', (text) => {
    const columns = ['externalId', 'phone'];
    const compiled = compileMapping(null, { columns }, noContext);
    const row = compiled.mapRow(cellsRow(columns, ['a', text]));
    expect(desiredOf(row).phones[0]?.items).toEqual([{ label: 'phone', value: '+14155550101' }]);
    expect(warningsOf(row)).toEqual([]);
    expect(compiled.notes.map(({ code }) => code)).toEqual(['phoneRemarkDropped']);
  });

  test.each(['(415) 555-0101', '4155550101', '4155550101.0', '="4155550101.0"', '1 415 555 0101', "'415 555 0101"])(
    'with the default country, from %s',
    (text) => {
      expect(numbers(text, 'us')).toEqual(['+14155550101']);
    },
  );

  test('by the exit code of the default country, and by 00 where that is none', () => {
    expect(numbers('00 1 415 555 0101', 'DE')).toEqual(['+14155550101']);
    expect(numbers('0014155550101', 'US')).toEqual(['+14155550101']);
  });

  test("by the column's country before the flag's, and by the flag's before the mapping's", () => {
    const by = mapping({
      defaultCountry: 'DE',
      phones: [{ column: 'A', country: 'US' }, { column: 'B' }],
    });
    const values = (context = {}) =>
      desiredOf(mapRecord({ id: 'a', A: '415 555 0101', B: '030 1234567' }, context, by)).phones.map(
        ({ items }) => items[0]?.value,
      );
    expect(values()).toEqual(['+14155550101', '+49301234567']);
    expect(values({ defaultCountry: 'NL' })).toEqual(['+14155550101', '+31301234567']);
  });
});

describe('a phone number passes with a warning', () => {
  test('when it is possible but not given out', () => {
    expect(numbers('+15550100000')).toEqual(['+15550100000']);
    expect(warningsOf(mapped('+15550100000'))).toEqual(['phoneUnassigned']);
  });

  test.each([
    '+14155550101 x12',
    '+14155550101 ext. 12',
    '+14155550101;ext=12',
    '+1 415 555 0101, ext 12',
    '+1 415 555 0101 #12',
    '+1 415 555 0101 extension: 12',
    '+1 415 555 0101x123',
    '+1 415 555 0101 ext. 5',
    '+1 415 555 0101 (ext 5)',
    '+1 415 555 0101 extn 5',
    '+1 415 555 0101 poste 5',
    '+1 415 555 0101 int. 5',
    'tel:+1-415-555-0101;ext=12',
    '+14155550101,,5',
    '+14155550101,12#',
    '+14155550101;5',
    '+14155550101p5',
    '+1 415 555 0101\next 3',
    '+1 415 555 0101\r\n (ext. 3) ',
  ])('when it has an extension, which is dropped: %s', (text) => {
    expect(numbers(text)).toEqual(['+14155550101']);
    expect(warningsOf(mapped(text))).toEqual(['phoneExtensionDropped']);
  });

  test('when it has an extension on the next line, and others follow', () => {
    expect(numbers('+1 415 555 0101\next 3\n+1 415 555 0102\nDW 17')).toEqual(['+14155550101', '+14155550102']);
    expect(codesOf(mapped(`+14155550101${'\n#'.repeat(20_000)}`))).toEqual(['tooManyItems']);
  });

  test('when it is one of up to a hundred in a cell', () => {
    const many = Array.from({ length: 101 }, (_, index) => `+1415555${1_000 + index}`);
    expect(numbers(many.slice(1).join('\n'))).toEqual(many.slice(1));
    expect(codesOf(mapped(many.join('\n')))).toEqual(['tooManyItems']);
  });

  test('when it is read in the default country, which has given out no such number', () => {
    expect(numbers('(555) 123-4567', 'US')).toEqual(['+15551234567']);
    expect(warningsOf(mapped('(555) 123-4567', 'US'))).toEqual(['phoneUnassigned']);
  });

  test('when its + seems to be lost', () => {
    expect(numbers('491701234567', 'DE')).toEqual(['+491701234567']);
    expect(warningsOf(mapped('491701234567', 'DE'))).toEqual(['phoneCountryAssumed']);
    expect(numbers('393331234567', 'IT')).toEqual(['+393331234567']);
    expect(numbers('14155550101', 'US')).toEqual(['+14155550101']);
    expect(warningsOf(mapped('14155550101', 'US'))).toEqual([]);
  });
});

describe('a phone number kills the row', () => {
  test('whose zeros would be dropped when it is read again', () => {
    expect(codesOf(mapped('(0)(0)030 1234567', 'DE'))).toEqual(['phoneImpossible']);
  });

  test.each([
    ['1-800-FLOWERS', 'phoneLetters'],
    ['call Anna', 'phoneLetters'],
    ['+1 415 555 0101 mobile', 'phoneLetters'],
    ['4.15E+09', 'phoneDamaged'],
    ['4.15555E+09', 'phoneDamaged'],
    ['4.1555501E+09', 'phoneDamaged'],
    ['4.15555e9', 'phoneDamaged'],
    ['3.1082071294E9', 'phoneDamaged'],
    ['3.108207129E-9', 'phoneDamaged'],
    ['4.9151234567E20', 'phoneDamaged'],
    ['##########', 'phoneDamaged'],
    ['#NAME?', 'phoneDamaged'],
    ['#WERT!', 'phoneDamaged'],
    ['4,15E+09', 'phoneDamaged'],
    ['415 555 0101', 'phoneCountryMissing'],
    ['14155550101', 'phoneCountryMissing'],
    ['+1415', 'phoneImpossible'],
    ['+999 123 456', 'phoneImpossible'],
    ['+1415555010112345678', 'phoneImpossible'],
    ['++14155550101', 'phoneImpossible'],
    [`+1${' '.repeat(300)}4155550101`, 'phoneImpossible'],
    ['+14155550101, 5550102', 'phoneAmbiguous'],
    ['+1415555010', 'phoneImpossible'],
    ['+1415555\u00000101', 'controlCharacter'],
  ])('when it reads %j: %s', (text, code) => {
    expect(codesOf(mapped(text))).toEqual([code]);
  });

  test.each([
    ['#REF!', 'Correct the formula'],
    ['#BEZUG!', 'Correct the formula'],
    ['#DIV/0!', 'Correct the formula'],
    ['####', 'Format the column as text'],
    ['4.15E+09', 'Format the column as text'],
  ])('says what helps, where a spreadsheet shows %j', (text, hint) => {
    expect(mapped(text)).toMatchObject({ problems: [{ code: 'phoneDamaged', hint: expect.stringContaining(hint) }] });
  });

  test.each(['05.03.2026', '5/3/2026', '2026-03-05'])('when it is a date: %s', (text) => {
    expect(codesOf(mapped(text, 'DE'))).toEqual(['phoneImpossible']);
  });

  test.each(['14155550103.00 €', '€ 14155550103', '$4155550105', '4.155.550.105,00 €'])(
    'when a spreadsheet shows it as an amount of money: %s',
    (text) => {
      const row = mapped(text, 'US');
      expect(codesOf(row)).toEqual(['phoneImpossible']);
      expect(row.kind === 'dead' && row.problems[0]?.hint).toContain('the format of text or of a plain number');
    },
  );

  test('when letters are in place of digits, with the digit of each letter in the hint', () => {
    const row = mapped('1-800-FLOWERS', 'US');
    expect(row.kind === 'dead' && row.problems[0]?.hint).toMatch(/ABC is 2, DEF 3/);
  });

  test('when it begins with 0, as no number of the default country does', () => {
    expect(codesOf(mapped('01 42 68 53 00', 'US'))).toEqual(['phoneForeign']);
    expect(codesOf(mapped('(01) 42 68 53 00', 'US'))).toEqual(['phoneForeign']);
    expect(codesOf(mapped('0612345678', 'GR'))).toEqual(['phoneForeign']);
    expect(numbers('01 42 68 53 00', 'FR')).toEqual(['+33142685300']);
    expect(numbers('06 12345678', 'IT')).toEqual(['+390612345678']);
  });

  test('when it has no area code, even with a country', () => {
    expect(codesOf(mapped('555 0101', 'US'))).toEqual(['phoneImpossible']);
  });

  test('when nobody can tell what follows a slash', () => {
    for (const text of [
      '+49 30 123456 / 7',
      '+1 415 555 0110 / 0111',
      '+1 415 555 0110/11/0112',
      '+49 30 1234567 / 1234568 / 9',
    ])
      expect([text, codesOf(mapped(text))]).toEqual([text, ['phoneAmbiguous']]);
    expect(codesOf(mapped('030 123456 / 123457', 'DE'))).toEqual(['phoneAmbiguous']);
    expect(codesOf(mapped('+1415 / 0111'))).toEqual(['phoneImpossible']);
  });

  test('and the hint for a missing country names the setting and the flag', () => {
    const row = mapped('415 555 0101');
    expect(row.kind === 'dead' && row.problems[0]?.hint).toMatch(/defaultCountry.*--default-country/);
  });
});

describe('a fax number', () => {
  test.each(['Fax: +14155550101', 'fax +14155550101', '+14155550101 (fax)', 'Telefax. 030 1234567'])(
    'is left out with a warning, since it cannot be called: %s',
    (text) => {
      expect(numbers(text, 'DE')).toEqual([]);
      expect(warningsOf(mapped(text, 'DE'))).toEqual(['phoneLeftOut']);
    },
  );

  test('beside another number leaves that one', () => {
    const text = 'cell: 4155550101; fax: 4155550102';
    expect(numbers(text, 'US')).toEqual(['+14155550101']);
    expect(warningsOf(mapped(text, 'US'))).toEqual(['phoneLeftOut']);
  });

  test('is known in JSON by its own label, which is not that of the workspace', () => {
    const row = mapJson({
      externalId: 'J1',
      phones: [
        { type: 'fax', number: '+4681234567' },
        { type: 'mobile', number: '+46701234567' },
        { label: 'Work Fax', value: 'none of them' },
        { type: 'homeFax', value: '+4681234568' },
        { name: 'fax', value: '+4681234569' },
      ],
    });
    expect(desiredOf(row).phones[0]?.items).toEqual([
      { label: 'mobile', value: '+46701234567' },
      { label: 'fax', value: '+4681234569' },
    ]);
    expect(warningsOf(row)).toEqual(['phoneLeftOut', 'phoneLeftOut', 'phoneLeftOut']);
  });
});

describe('several numbers in one cell', () => {
  const both = ['+14155550101', '+14155550102'];

  test.each([
    '+14155550101, +14155550102',
    '+14155550101;+14155550102',
    '+1 415 555 0101 / +1 415 555 0102',
    '+14155550101|+14155550102',
    '+14155550101 ::: +14155550102',
    '+14155550101\n+14155550102',
    '+14155550101\r\n\r\n+14155550102;',
    '+14155550101 +14155550102',
    '+14155550101 or +1 415 555 0102',
    'Mobile: +1 415 555 0101 / Work: +1 415 555 0102',
    '+14155550101, none; +14155550102',
    '["+14155550101","+14155550102"]',
    '"+14155550101","+14155550102"',
  ])('are taken apart: %j', (text) => {
    expect(numbers(text)).toEqual(both);
  });

  test('are taken apart at , and / only where each part is a number by itself', () => {
    expect(numbers('030/1234567', 'DE')).toEqual(['+49301234567']);
    expect(numbers('05221/1234567', 'DE')).toEqual(['+4952211234567']);
    expect(numbers('030 1234567, 030/1234568', 'DE')).toEqual(['+49301234567', '+49301234568']);
    expect(numbers('+14155550101, 12')).toEqual(['+14155550101']);
    expect(numbers('030 1234567 oder 030 1234568', 'DE')).toEqual(['+49301234567', '+49301234568']);
  });

  test('share the label, and one bad one kills the row', () => {
    const row = mapRecord({ externalId: 'a', 'phone home': '+14155550101;+14155550102 x3' });
    expect(desiredOf(row).phones).toEqual([
      { slot: 'phonehome', items: both.map((value) => ({ label: 'home', value })) },
    ]);
    expect(codesOf(mapped('+14155550101;nobody'))).toEqual(['phoneLetters']);
  });
});
