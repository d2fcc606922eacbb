import { describe, expect, test } from 'vitest';
import { codesOf, desiredOf, mapping, mapRecord, warningsOf } from './support.ts';

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
  ])('from %j', (text) => {
    expect(numbers(text)).toEqual(['+14155550101']);
    expect(warningsOf(mapped(text))).toEqual([]);
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
  ])('when it has an extension, which is dropped: %s', (text) => {
    expect(numbers(text)).toEqual(['+14155550101']);
    expect(warningsOf(mapped(text))).toEqual(['phoneExtensionDropped']);
  });

  test('when its + seems to be lost', () => {
    expect(warningsOf(mapped('491701234567', 'DE'))).toContain('phoneCountryAssumed');
  });
});

describe('a phone number kills the row', () => {
  test.each([
    ['1-800-FLOWERS', 'phoneLetters'],
    ['call Anna', 'phoneLetters'],
    ['+1 415 555 0101 mobile', 'phoneLetters'],
    ['4.15E+09', 'phoneDamaged'],
    ['3.108207129E9', 'phoneDamaged'],
    ['4,15E+09', 'phoneDamaged'],
    ['415 555 0101', 'phoneCountryMissing'],
    ['14155550101', 'phoneCountryMissing'],
    ['+1415', 'phoneImpossible'],
    ['+999 123 456', 'phoneImpossible'],
    ['+1415555010112345678', 'phoneImpossible'],
    ['++14155550101', 'phoneImpossible'],
    ['---', 'phoneImpossible'],
    ['+1415555\u00000101', 'controlCharacter'],
  ])('when it reads %j: %s', (text, code) => {
    expect(codesOf(mapped(text))).toEqual([code]);
  });

  test('when it has no area code, even with a country', () => {
    expect(codesOf(mapped('555 0101', 'US'))).toEqual(['phoneImpossible']);
  });

  test('when nobody can tell what follows a slash', () => {
    expect(codesOf(mapped('+49 30 123456 / 7'))).toEqual(['phoneAmbiguous']);
  });

  test('and the hint for a missing country names the setting and the flag', () => {
    const row = mapped('415 555 0101');
    expect(row.kind === 'dead' && row.problems[0]?.hint).toMatch(/defaultCountry.*--default-country/);
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
  ])('are taken apart: %j', (text) => {
    expect(numbers(text)).toEqual(both);
  });

  test('are taken apart at , and / only where each part is a number by itself', () => {
    expect(numbers('030/1234567', 'DE')).toEqual(['+49301234567']);
    expect(numbers('05221/1234567', 'DE')).toEqual(['+4952211234567']);
    expect(numbers('030 1234567, 030/1234568', 'DE')).toEqual(['+49301234567', '+49301234568']);
    expect(numbers('+14155550101, 12')).toEqual(['+14155550101']);
  });

  test('share the label, and one bad one kills the row', () => {
    const row = mapRecord({ externalId: 'a', 'phone home': '+14155550101;+14155550102 x3' });
    expect(desiredOf(row).phones).toEqual([
      { slot: 'phonehome', items: both.map((value) => ({ label: 'home', value })) },
    ]);
    expect(codesOf(mapped('+14155550101;nobody'))).toEqual(['phoneLetters']);
  });
});
