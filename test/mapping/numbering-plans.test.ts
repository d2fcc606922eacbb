import { isDeepStrictEqual } from 'node:util';
import examples from 'libphonenumber-js/examples.mobile.json' with { type: 'json' };
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { assignedNumber } from '#src/mapping/numbering-plans.ts';
import { readPhone, splitPhones } from '#src/mapping/phone-cell.ts';

const countries = getCountries();
const perCountry = 400;

/** The same numbers in every run. */
function createDraw(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

/** Half of them like a number that is in use, half of them of digits by chance. */
function numbersOf(country: CountryCode, draw: (below: number) => number): readonly string[] {
  const example = String(examples[country] ?? '201555012');
  return Array.from({ length: perCountry }, (_, index) => {
    const kept = index % 2 === 0 ? example.slice(0, draw(example.length)) : '';
    const length = index % 8 === 0 ? example.length + draw(3) - 1 : index % 2 === 0 ? example.length : 4 + draw(10);
    let digits = ['', '', '', '0', '1', '8', '00'][draw(7)] ?? '';
    digits += kept;
    while (digits.length < length) digits += String(draw(10));
    return digits;
  });
}

/** What the library reads, as E.164; null for a number that is not assigned, or has an extension. */
function readByLibrary(text: string, defaultCountry: CountryCode | null): string | null {
  const options = { extract: false, ...(defaultCountry === null ? {} : { defaultCountry }) };
  const parsed = parsePhoneNumberFromString(text, options);
  return parsed?.isPossible() === true && parsed.isValid() && parsed.ext === undefined ? parsed.number : null;
}

describe('the quick answer to a phone number', () => {
  test.each(countries)('is the answer of the library, in %s', (country) => {
    const draw = createDraw(country.charCodeAt(0) * 256 + country.charCodeAt(1));
    // Compared by hand: an expectation takes longer than a number.
    const differing: unknown[] = [];
    for (const digits of numbersOf(country, draw)) {
      const national = assignedNumber(digits, country);
      const byLibrary = national === null ? null : readByLibrary(digits, country);
      if (national !== byLibrary) differing.push({ digits, national, byLibrary });
      const international = `${getCountryCallingCode(country)}${digits}`;
      const found = assignedNumber(international, null);
      const foundByLibrary = found === null ? null : readByLibrary(`+${international}`, null);
      if (found !== foundByLibrary) differing.push({ international, found, foundByLibrary });
    }
    expect(differing).toEqual([]);
  });

  // Quotes are left out without a word, and keep a text from being plain.
  test.each(['US', 'DE', 'GB', 'IT', 'AR', 'MX', 'BR', 'RU', null] as const)(
    'changes no spelling that is read in %s',
    (country) => {
      const draw = createDraw(country === null ? 7 : country.charCodeAt(0));
      const differing: unknown[] = [];
      for (const digits of numbersOf(country ?? 'FR', draw)) {
        const [one, two] = [1 + draw(4), 4 + draw(4)];
        const groups = [digits.slice(0, one), digits.slice(one, two), digits.slice(two)];
        const code = getCountryCallingCode(country ?? 'FR');
        const [head = '', ...tail] = groups.filter((group) => group !== '');
        if (tail.length === 0) continue;
        for (const by of [' ', '-', '.', '']) {
          for (const text of [
            [head, ...tail].join(by),
            `(${head})${by}${tail.join(by)}`,
            `+${code} ${[head, ...tail].join(by)}`,
            `+${code} (${head})${by}${tail.join(by)}`,
          ]) {
            const [plain, quoted] = [readPhone(text, country), readPhone(`"${text}"`, country)];
            if (!isDeepStrictEqual(plain, quoted)) differing.push({ text, plain, quoted });
            const pieces = splitPhones(text, country);
            if (pieces.length !== 1 || pieces[0] !== text) differing.push({ text, pieces });
          }
        }
      }
      expect(differing).toEqual([]);
    },
  );

  test('is there for most numbers that are in use', () => {
    let [given, quick] = [0, 0];
    for (const country of countries) {
      const example = examples[country];
      if (example === undefined) continue;
      given += 1;
      if (assignedNumber(`${getCountryCallingCode(country)}${example}`, null) !== null) quick += 1;
    }
    expect(quick / given).toBeGreaterThan(0.85);
  });

  test.each([
    ['2125550142', 'US', '+12125550142'],
    ['03023125001', 'DE', '+493023125001'],
    ['02079460123', 'GB', '+442079460123'],
    ['0612345678', 'FR', '+33612345678'],
  ] as const)('of %s in %s is %s', (digits, country, number) => {
    expect(assignedNumber(digits, country)).toBe(number);
  });

  test.each([
    ['an exit code', '0014155550142', 'DE'],
    ['the calling code of the default country', '4930231250', 'DE'],
    ['digits that no plan has', '1005550142', 'US'],
    ['too few digits', '5550142', 'US'],
    ['no calling code', '999', null],
    ['nothing', '', null],
  ] as const)('is left to the library for %s', (_, digits, country) => {
    expect(assignedNumber(digits, country)).toBeNull();
  });
});
