/**
 * Digits beside a whole phone number: another number of the cell, a number of a list, opening hours. What cannot be told for sure
 * is no number, since it would be that of a stranger (`docs/mapping.md`, "What a cell means").
 */
import { describe, expect, test } from 'vitest';
import { compileMapping } from '#src/mapping/compile-mapping.ts';
import { cellsRow, codesOf, desiredOf, mapping, mapRecord, noContext, problemsOf, warningsOf } from './support.ts';

const mapped = (phone: string, country: string | null) =>
  mapRecord({ externalId: 'a', phone }, { defaultCountry: country });
const numbers = (phone: string, country: string | null) =>
  desiredOf(mapped(phone, country)).phones.flatMap(({ items }) => items.map(({ value }) => value));

/** The codes of what the run says once for the file. */
function readNotes(phone: string, defaultCountry: string): readonly string[] {
  const columns = ['externalId', 'phone'];
  const compiled = compileMapping(null, { columns }, { ...noContext, defaultCountry });
  compiled.mapRow(cellsRow(columns, ['a', phone]));
  return compiled.notes.map(({ code }) => code);
}

describe('a number without its area code, beside one that has it, belongs to the same area or to another one', () => {
  test.each([
    ...['030 1234567 / 7654321', '089 1234567 oder 7654321', '+49 30 1234567 / 7654321', '030 1234567, 7654321'],
    ...['030 1234567; 7654321', '030 1234567 | 7654321', '030 1234567\n7654321', '030 1234567 ::: 7654321'],
    ...['7654321 / 030 1234567', '(030) 1234567 / 7654321', '030 1234567; Fax 030 1234568; 7654321'],
    ...['0049 30 1234567; 7654321', '030 1234567; 4930123', 'Fax 030 1234568; 7654321'],
  ])('in Germany: %j', (text) => {
    expect([...new Set(codesOf(mapped(text, 'DE')))]).toEqual(['phoneAmbiguous']);
  });

  test.each([
    ['01 4268530 / 4268531', 'AT'],
    ['022 2345 6789 / 2345 6790', 'IN'],
    ['(11) 2345-6789 / 3456-7890', 'BR'],
    ['(02) 9374 4000 / 9374 4001', 'AU'],
    ['021 35123456 / 35123457', 'PK'],
    ['0212 555 1234 / 555 1235', 'TR'],
    ['0212 444 1234 / 444 1235', 'TR'],
    ['01 234 5678 / 234 5679', 'IE'],
    ['06 12345678 / 87654321', 'IT'],
  ])('elsewhere: %s in %s', (text, country) => {
    expect(codesOf(mapped(text, country))).toEqual(['phoneAmbiguous']);
  });

  test.each([
    ['+1 415 555 0101 / 415 555 0102', 'US', ['+14155550101', '+14155550102']],
    ['(415) 555-0101; 415-555-0102', 'US', ['+14155550101', '+14155550102']],
    ['(555) 123-4567 / 555 123-4568', 'US', ['+15551234567', '+15551234568']],
    ['+7 495 123-45-67, 495 123-45-68', 'RU', ['+74951234567', '+74951234568']],
    ['+45 32 12 34 56 / 32 12 34 57', 'DK', ['+4532123456', '+4532123457']],
    ['+34 912 345 678 / 612 345 678', 'ES', ['+34912345678', '+34612345678']],
    ['06 12345678 / 333 1234567', 'IT', ['+390612345678', '+393331234567']],
    ['022 2345 6789 / 98765 43210', 'IN', ['+912223456789', '+919876543210']],
    ['010 12345678 / 13812345678', 'CN', ['+861012345678', '+8613812345678']],
    ['(02) 9374 4000 / 1300 123 456', 'AU', ['+61293744000', '+611300123456']],
    ['(11) 98765-4321 / 11 98765-4322', 'BR', ['+5511987654321', '+5511987654322']],
    ['+33 1 42 68 53 00 / 1 42 68 53 01', 'FR', ['+33142685300', '+33142685301']],
    ['030 1234567 / 0171 7654321', 'DE', ['+49301234567', '+491717654321']],
    ['30 1234567; 171 7654321', 'DE', ['+49301234567', '+491717654321']],
    ['030 1234567 / 1712345678', 'DE', ['+49301234567', '+491712345678']],
    ['0049 5221/1234567', 'DE', ['+4952211234567']],
  ])('but a whole one is read: %s in %s', (text, country, all) => {
    expect(numbers(text, country)).toEqual(all);
  });

  test('and the whole number is kept where values that cannot be read are left out', () => {
    const by = mapping({ defaultCountry: 'DE', phones: [{ column: 'Tel', onInvalid: 'drop' }] });
    const row = mapRecord({ id: 'a', Tel: '030 1234567 / 7654321' }, {}, by);
    expect(desiredOf(row).phones[0]?.items.map(({ value }) => value)).toEqual(['+49301234567']);
    expect(warningsOf(row)).toEqual(['phoneAmbiguous']);
  });

  test('and the hint says how to write it', () => {
    const [problem] = problemsOf(mapped('030 1234567 / 7654321', 'DE'));
    expect(problem?.hint).toBe('Write each number with its area code, or with + and its country code.');
  });
});

describe('digits behind a whole number', () => {
  test.each([
    ...[
      '030 12345 / 67890',
      '05221 1234567/89012',
      '030 1234567 (9-17)',
      '030 1234567 (9:00 - 17:00)',
      '030 1234567 (2)',
    ],
    ...['030 1234567-12/-13', '030 1234567-12/-134', '030 1234567 (0)'],
  ])('may be an extension, another ending or anything else: %s', (text) => {
    expect(codesOf(mapped(text, 'DE'))).toEqual(['phoneAmbiguous']);
  });

  test('in other countries, too', () => {
    expect(codesOf(mapped('0664 1234567 (8-12)', 'AT'))).toEqual(['phoneAmbiguous']);
    expect(codesOf(mapped('+1 (415) 555-0101 (2)', 'US'))).toEqual(['phoneAmbiguous']);
  });

  test.each([
    ['05221/1234567', '+4952211234567'],
    ['+49 (0)33203/12345', '+493320312345'],
    ['030/123/4567', '+49301234567'],
    ['+49 30 (1234567)', '+49301234567'],
  ])('but not behind an area code: %s', (text, number) => {
    expect(numbers(text, 'DE')).toEqual([number]);
  });
});

describe('digits before a whole number', () => {
  test.each(['2 030 7654321', '12 030 7654321', '2 (030) 7654321', '2 0171 7654321'])(
    'may be the number of a list, or anything else: %s',
    (text) => {
      expect(codesOf(mapped(text, 'DE'))).toEqual(['phoneAmbiguous']);
      expect(problemsOf(mapped(text, 'DE'))[0]?.message).toContain('before');
    },
  );

  test.each([
    ['30 7654321', 'DE', '+49307654321'],
    ['6 01 02 03 04', 'FR', '+33601020304'],
    ['49 030 7654321', 'DE', '+49307654321'],
  ])('but not where they are a part of it: %s in %s', (text, country, number) => {
    expect(numbers(text, country)).toEqual([number]);
  });
});

describe('the number of a list before a phone number', () => {
  test.each([
    ...[
      '1. 030 7654321',
      '2) 030 7654321',
      '2.) 030 7654321',
      '(2) 030 7654321',
      '2 / 030 7654321',
      '2) (030) 7654321',
    ],
    ...[
      'Tel. 2 030 7654321',
      'Tel. 2: 030 7654321',
      'Telefon 2) 030 7654321',
      'Telefon2 030 7654321',
      '1. +49 30 7654321',
    ],
    ...['Tel. 2 +49 30 7654321', '1) 0049 30 7654321', '10. 030 7654321'],
  ])('is left out, which the notes say: %s', (text) => {
    expect(numbers(text, 'DE')).toEqual(['+49307654321']);
    expect(readNotes(text, 'DE')).toEqual(['phoneRemarkDropped']);
  });

  test('in a list', () => {
    expect(numbers('1. 030 1234567\n2. 0171 7654321', 'DE')).toEqual(['+49301234567', '+491717654321']);
    expect(numbers('Mobile2 0170 1234567', 'DE')).toEqual(['+491701234567']);
    expect(numbers('Phone 2: 415 555 0101', 'US')).toEqual(['+14155550101']);
  });

  test.each([
    ['1.415.555.0101', 'US', '+14155550101'],
    ['Tel. 1.415.555.0101', 'US', '+14155550101'],
    ['Tel 1 415 555 0101', 'US', '+14155550101'],
    ['01.02.68.53.00', 'FR', '+33102685300'],
    ['6 01 02 03 04', 'FR', '+33601020304'],
    ['91.012.34.56', 'ES', '+34910123456'],
  ])('is none that belongs to the number: %s in %s', (text, country, number) => {
    expect(numbers(text, country)).toEqual([number]);
  });
});

describe('a number of a tel: link that counts within its phone-context', () => {
  test.each([
    ['tel:2222218;phone-context=+4930', '+49302222218'],
    ['<tel:222-2218;phone-context=+49-30>', '+49302222218'],
    ['tel:2222218;ext=12;phone-context=+4930', '+49302222218'],
    ['tel:2222218;phone-context=+4930;ext=12', '+49302222218'],
    ['TEL:030-2222218;Phone-Context=+49', '+49302222218'],
    ['tel:+49-30-2222218;phone-context=+43', '+49302222218'],
  ])('has that in front: %j', (text, number) => {
    expect(numbers(text, 'AT')).toEqual([number]);
  });

  test.each([
    'tel:2222218;phone-context=example.com',
    '030 2222218;phone-context=example.com',
    '222;phone-context=',
    'tel:2222218;isub=1;phone-context=example.com',
  ])('is left out where that is no beginning of a number: %j', (text) => {
    expect(codesOf(mapped(text, 'DE'))).toEqual(['phoneImpossible']);
  });

  test('is one of several in a cell', () => {
    expect(numbers('tel:2222218;phone-context=+4930\n+49 30 2222219', 'DE')).toEqual(['+49302222218', '+49302222219']);
  });
});
