/** What the numbering plans read in digits and the punctuation of numbers: no words, nothing to tidy (`phone-spelling.ts`). Pure. */
import { type CountryCode, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/**
 * Read as dialled in the default country first; then, if it begins with 00, as an international number. Other exit codes
 * are known to the numbering plan of the default country.
 */
export function parseAny(base: string, country: CountryCode | null): PhoneNumber | 'countryMissing' | null {
  if (base.startsWith('+')) return possible(parsePhoneNumberFromString(base, { extract: false }));
  const national =
    country === null ? null : possible(parsePhoneNumberFromString(base, { defaultCountry: country, extract: false }));
  if (national !== null) return national;
  if (/^00\s*[1-9]/.test(base))
    return possible(parsePhoneNumberFromString(base.replace(/^00\s*/, '+'), { extract: false }));
  return country === null && /\d/.test(base) ? 'countryMissing' : null;
}

function possible(number: PhoneNumber | undefined): PhoneNumber | null {
  return number?.isPossible() === true ? number : null;
}
