/** Countries as phone numbers need them: ISO 3166-1 alpha-2, in upper case. */
import { type CountryCode, isSupportedCountry } from 'libphonenumber-js/max';
import { PatchbayError } from '#src/errors.ts';

/** The country code that was meant, or null: `de` is DE; UK is not a code, GB is. */
export function readCountry(text: string): CountryCode | null {
  const code = text.trim().toUpperCase();
  return isSupportedCountry(code) ? code : null;
}

/**
 * Checks `--default-country`.
 *
 * @throws PatchbayError `usage`, `countryUnknown`.
 */
export function checkCountry(text: string): CountryCode {
  const code = readCountry(text);
  if (code !== null) return code;
  throw new PatchbayError('usage', 'countryUnknown', `"${text}" is no country code`, {
    facts: { country: text },
    hint: 'Use the two letters of ISO 3166-1, such as DE, AT, US or GB.',
  });
}
