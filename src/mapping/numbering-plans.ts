/**
 * What the numbering plans read in digits and the punctuation of numbers: no words, nothing to tidy (`phone-spelling.ts`).
 *
 * A quick answer for most phone numbers: whether digits are a number that is assigned, and its E.164 form.
 *
 * It follows libphonenumber-js, with that library's metadata, for numbers whose reading needs no decision: an international
 * one without anything to strip, or a national one whose prefix, if any, goes. For such a number it answers what the library
 * answers, in a fraction of its time, since each pattern is compiled once; for any other number it answers null, and the
 * library decides (`phone-cell.ts`). `test/mapping/numbering-plans.test.ts` holds both against each other.
 */
import { type CountryCode, Metadata, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** The part of the library's metadata that its types leave out. */
interface PlanSource {
  callingCode(): string;
  nationalNumberPattern(): string;
  possibleLengths(): readonly number[];
  nationalPrefixForParsing(): string | undefined;
  leadingDigits(): string | undefined;
  IDDPrefix(): string;
  hasTypes(): boolean;
  type(name: string): { pattern(): string; possibleLengths(): readonly number[] } | undefined;
}
interface MetadataSource {
  hasCallingCode(code: string): boolean;
  getCountryCodesForCallingCode(code: string): readonly CountryCode[] | undefined;
  selectNumberingPlan(country: CountryCode): void;
  readonly numberingPlan: PlanSource;
}

interface NumberPattern {
  readonly lengths: ReadonlySet<number>;
  readonly whole: RegExp;
}

/** The numbering plan of one country. */
interface Plan {
  readonly callingCode: string;
  readonly any: NumberPattern;
  /** Fixed lines, mobile numbers and so on; null where the country does not tell them apart. */
  readonly types: readonly NumberPattern[] | null;
  /** The numbers of digits that fixed lines and mobile numbers have, without what is dialled before them. */
  readonly lengths: ReadonlySet<number>;
  /** What may be before a national number. */
  readonly prefix: RegExp | null;
  /** What is dialled before an international number. */
  readonly exit: RegExp;
  /** Tells the country from others with its calling code. */
  readonly leading: RegExp | null;
}

const typeNames = [
  ...['FIXED_LINE', 'MOBILE', 'PREMIUM_RATE', 'TOLL_FREE', 'SHARED_COST', 'VOIP', 'PERSONAL_NUMBER', 'PAGER'],
  ...['UAN', 'VOICEMAIL'],
];
const callingCodeDigitsMax = 3;
const digitsMax = 15;

const plans = new Map<CountryCode, Plan>();
const countriesByCode = new Map<string, readonly CountryCode[] | null>();

/**
 * @param digits ASCII digits; of an international number all that follows the plus.
 * @param country of a national number; null for an international one.
 * @returns E.164 of a number that is assigned in its numbering plan; null for any other, and for one that is not plain.
 */
export function assignedNumber(digits: string, country: CountryCode | null): string | null {
  const found = country === null ? withoutCallingCode(digits) : withoutPrefix(digits, planOf(country));
  if (found === null) return null;
  const { callingCode, national } = found;
  if (callingCode.length + national.length > digitsMax) return null;
  const plan = countryPlanOf(callingCode, national);
  if (plan === null || !plan.any.lengths.has(national.length) || !isAssigned(national, plan)) return null;
  return `+${callingCode}${national}`;
}

/** @param digits what follows a plus: `49` and `800` are calling codes, `123` is none. */
export function isCallingCode(digits: string): boolean {
  return metadata().hasCallingCode(digits);
}

/** No number that is dialled within an area is longer, where all whole ones are. */
const localDigitsMax = 8;

/**
 * Whether digits without a prefix can only be a whole national number, and not one that is dialled within an area alone: ten digits
 * in the USA or India. False for any number in Germany, where whole ones may be as short as those.
 */
export function isWholeLength(digits: number, country: CountryCode): boolean {
  const { lengths } = planOf(country);
  const shortest = Math.min(...lengths);
  return digits >= shortest && (shortest > localDigitsMax || lengths.size === 1);
}

interface Parted {
  readonly callingCode: string;
  readonly national: string;
}

function withoutCallingCode(digits: string): Parted | null {
  for (let length = 1; length <= callingCodeDigitsMax; length += 1) {
    const callingCode = digits.slice(0, length);
    const [main] = countriesOf(callingCode) ?? [];
    if (main === undefined) continue;
    const national = digits.slice(length);
    // A national prefix inside an international number is left to the library.
    return planOf(main).prefix?.test(national) === true ? null : { callingCode, national };
  }
  return null;
}

function withoutPrefix(digits: string, { callingCode, prefix, exit, any }: Plan): Parted | null {
  if (exit.test(digits) || digits.startsWith(callingCode)) return null;
  const match = prefix?.exec(digits) ?? null;
  if (match === null) return { callingCode, national: digits };
  // Groups carry digits over, or name a carrier.
  if (match.length > 1 || !any.whole.test(digits.slice(match[0].length))) return null;
  return { callingCode, national: digits.slice(match[0].length) };
}

/** The plan of the one country that the number belongs to; null where none is certain. */
function countryPlanOf(callingCode: string, national: string): Plan | null {
  const countries = countriesOf(callingCode) ?? [];
  if (countries.length === 1 && countries[0] !== undefined) return planOf(countries[0]);
  for (const country of countries) {
    const plan = planOf(country);
    if (plan.leading === null ? isOfType(national, plan) : plan.leading.test(national)) return plan;
  }
  return null;
}

function isAssigned(national: string, plan: Plan): boolean {
  return plan.types === null ? plan.any.whole.test(national) : isOfType(national, plan);
}

function isOfType(national: string, { any, types }: Plan): boolean {
  if (types === null || !any.whole.test(national)) return false;
  return types.some(({ lengths, whole }) => lengths.has(national.length) && whole.test(national));
}

function countriesOf(callingCode: string): readonly CountryCode[] | null {
  let countries = countriesByCode.get(callingCode);
  if (countries === undefined) {
    countries = metadata().getCountryCodesForCallingCode(callingCode) ?? null;
    countriesByCode.set(callingCode, countries);
  }
  return countries;
}

function planOf(country: CountryCode): Plan {
  let plan = plans.get(country);
  if (plan === undefined) {
    plan = compilePlan(country);
    plans.set(country, plan);
  }
  return plan;
}

function compilePlan(country: CountryCode): Plan {
  const source = metadata();
  source.selectNumberingPlan(country);
  const { numberingPlan } = source;
  const prefix = numberingPlan.nationalPrefixForParsing();
  const leading = numberingPlan.leadingDigits();
  const types = typeNames.flatMap((name) => {
    const type = numberingPlan.type(name);
    // Without a pattern there are no such numbers, or they are those of another type.
    return type === undefined || !type.pattern() ? [] : [patternOf(type.pattern(), type.possibleLengths())];
  });
  const lengths = ['FIXED_LINE', 'MOBILE'].flatMap((name) => numberingPlan.type(name)?.possibleLengths() ?? []);
  return {
    callingCode: numberingPlan.callingCode(),
    lengths: new Set(lengths),
    any: patternOf(numberingPlan.nationalNumberPattern(), numberingPlan.possibleLengths()),
    types: numberingPlan.hasTypes() ? types : null,
    prefix: prefix ? new RegExp(`^(?:${prefix})`) : null,
    exit: new RegExp(`^(?:${numberingPlan.IDDPrefix()})`),
    leading: leading ? new RegExp(`^(?:${leading})`) : null,
  };
}

function patternOf(pattern: string, lengths: readonly number[]): NumberPattern {
  return { lengths: new Set(lengths), whole: new RegExp(`^(?:${pattern})$`) };
}

function metadata(): MetadataSource {
  // The library's types leave out what its own code reads the metadata with; the tests compare with all of its answers.
  return new Metadata() as unknown as MetadataSource;
}

/**
 * The answer of the library. Read as dialled in the default country first; then, if it begins with 00, as an international number. Other exit codes
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
