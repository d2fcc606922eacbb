import { getCountries } from 'libphonenumber-js/max';
import { describe, expect, test } from 'vitest';
import { countryOf } from '#src/mapping/country.ts';

describe('a country', () => {
  test.each([
    ['de', 'DE'],
    ['DEU', 'DE'],
    [' Germany ', 'DE'],
    ['GERMANY', 'DE'],
    ['Deutschland', 'DE'],
    ['Allemagne', 'DE'],
    ['Alemania', 'DE'],
    ['Bundesrepublik Deutschland', 'DE'],
    ['US', 'US'],
    ['USA', 'US'],
    ['U.S.A.', 'US'],
    ['U.S.', 'US'],
    ['United States', 'US'],
    ['The United States of America', 'US'],
    ['Vereinigte Staaten', 'US'],
    ['États-Unis', 'US'],
    ['EE. UU.', 'US'],
    ['GB', 'GB'],
    ['UK', 'GB'],
    ['U.K.', 'GB'],
    ['Great Britain', 'GB'],
    ['England', 'GB'],
    ['Northern Ireland', 'GB'],
    ['Royaume-Uni', 'GB'],
    ['Österreich', 'AT'],
    ['OESTERREICH', 'AT'],
    ['osterreich', 'AT'],
    ['Schweiz', 'CH'],
    ['Suisse', 'CH'],
    ['España', 'ES'],
    ['Espana', 'ES'],
    ['The Netherlands', 'NL'],
    ['Holland', 'NL'],
    ['Czech Republic', 'CZ'],
    ['Turkey', 'TR'],
    ['Türkiye', 'TR'],
    ['Tuerkei', 'TR'],
    ['Côte d’Ivoire', 'CI'],
    ["Cote d'Ivoire", 'CI'],
    ['Saint Lucia', 'LC'],
    ['St. Lucia', 'LC'],
    ['Bosnia and Herzegovina', 'BA'],
    ['Bosnia & Herzegovina', 'BA'],
    ['Korea, Republic of', 'KR'],
    ["Korea, Democratic People's Republic of", 'KP'],
    ['Iran, Islamic Republic of', 'IR'],
    ['Russian Federation', 'RU'],
    ['RU', 'RU'],
    ['Hong Kong', 'HK'],
    ['Kosovo', 'XK'],
  ])('is known as %j', (text, country) => {
    expect(countryOf(text)).toBe(country);
  });

  test.each([
    '',
    ' ',
    'XX',
    'ABC',
    'Congo',
    'Europe',
    'Bavaria',
    'Germany or France',
    '49',
    '__proto__',
    'x'.repeat(65_536),
  ])('is not guessed from %j', (text) => {
    expect(countryOf(text)).toBeNull();
  });

  test.each(['en', 'de', 'fr', 'es'])(
    'is known by its name in the language %s, in any case and without accents',
    (language) => {
      const names = new Intl.DisplayNames(language, { type: 'region' });
      for (const country of getCountries()) {
        const name = names.of(country) ?? '';
        if (name === 'Congo') continue;
        expect([name, countryOf(name)]).toEqual([name, country]);
        const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase();
        expect([plain, countryOf(plain)]).toEqual([plain, country]);
      }
    },
  );
});
