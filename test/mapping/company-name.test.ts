/** A company and a person in one text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitCompany } from '#src/mapping/company-name.ts';

describe('what ends with a legal form is a company, and what follows its comma a person', () => {
  test.each([
    ['Tulp B.V., Pieter van den Berg', 'Tulp B.V.', 'Pieter van den Berg'],
    ['Müller GmbH, Jörg Müller', 'Müller GmbH', 'Jörg Müller'],
    ['Bäckerei Süßkorn GmbH & Co. KG, Ute Klein', 'Bäckerei Süßkorn GmbH & Co. KG', 'Ute Klein'],
    ['Example, Inc., Ada Lovelace, PhD', 'Example, Inc.', 'Ada Lovelace, PhD'],
    ['Example UG (haftungsbeschränkt), Ute', 'Example UG (haftungsbeschränkt)', 'Ute'],
    ['exemple sarl,Luc Noir', 'exemple sarl', 'Luc Noir'],
    ['Przykład Sp. z o.o., Ewa Maj', 'Przykład Sp. z o.o.', 'Ewa Maj'],
    ['Tulp B.V.', 'Tulp B.V.', ''],
    ['Tulp B.V.,', 'Tulp B.V.', ''],
    ['Example, Inc.', 'Example, Inc.', ''],
    ['Tulp B.V., Huber AG', 'Tulp B.V., Huber AG', ''],
  ])('%j', (text, company, person) => {
    expect(splitCompany(text)).toEqual({ company, person });
  });

  test.each([
    'Ute Klein',
    'Lovelace, Ada',
    'de Sa, Maria',
    'Sa, Maria',
    'Maria Sa',
    'GmbH, Ute Klein',
    'Lovelace, Ada, MBA',
    '',
    'Ltd',
  ])('%j names none', (text) => {
    expect(splitCompany(text)).toEqual({ company: '', person: text });
  });

  test('no word is lost, whatever the text', () => {
    const words = fc.array(fc.constantFrom('Ada', 'GmbH', ',', 'B.V.,', '& Co. KG', 'van', ' ', 'SA'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(words, (parts) => {
        const { company, person } = splitCompany(parts.join(' '));
        const letters = (text: string) => text.replace(/[\s,]/g, '');
        expect(letters(company + person)).toBe(letters(parts.join(' ')));
      }),
    );
  });
});
