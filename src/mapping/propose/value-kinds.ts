/**
 * What the values of a column look like, whatever the column is called: the evidence of a proposal. Bounded: at most
 * `judgedMax` different values of a column are looked at. Pure.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import { isPlaceholder, readHttpUri } from '#src/mapping/cell.ts';
import { countryOf } from '#src/mapping/country.ts';
import { readEmail, splitEmails } from '#src/mapping/email-cell.ts';
import { readPhone, splitPhones } from '#src/mapping/phone-cell.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const judgedMax = 200;

/** Shares of the values, from 0 to 1; a value may count in several. */
export interface ValueKinds {
  readonly judged: number;
  readonly email: number;
  /** Numbers that are whole as they are, or with the default country. */
  readonly phone: number;
  /** Numbers that would be phone numbers if their country were known. */
  readonly nationalPhone: number;
  /** Digits alone: may be a phone number, an id or an amount. */
  readonly digits: number;
  readonly url: number;
  readonly date: number;
  readonly truth: number;
  readonly country: number;
  /** `Ada Lovelace`, `Lovelace, Ada`. */
  readonly wholeName: number;
  /** Of those, the ones with a comma. */
  readonly commaName: number;
  /** `Lovelace GmbH`. */
  readonly company: number;
  /** `Dr.`, `Mrs`, `Herr`. */
  readonly address: number;
  /** `Sales Manager`, `Geschäftsführer`. */
  readonly job: number;
  /** `7309457916160`, `003Ab00001`, a UUID. */
  readonly id: number;
}

type Kind = Exclude<keyof ValueKinds, 'judged'>;

/** @param country of phone numbers without a country code; null if it is unknown. */
export function kindsOf(values: readonly string[], country: CountryCode | null): ValueKinds {
  const judged = [...new Set(values.map((value) => value.trim()))]
    .filter((value) => value !== '' && !isPlaceholder(value, 'company'))
    .slice(0, judgedMax);
  const share = (test: (value: string) => boolean): number =>
    judged.length === 0 ? 0 : judged.filter(test).length / judged.length;
  const shares = Object.fromEntries(
    Object.entries(tests(country)).map(([kind, test]) => [kind, share(test)]),
  ) as Record<Kind, number>;
  return { judged: judged.length, ...shares };
}

function tests(country: CountryCode | null): Readonly<Record<Kind, (value: string) => boolean>> {
  return {
    email: (value) => {
      const parts = splitEmails(value);
      return parts.length > 0 && parts.every((part) => readEmail(withoutName(part)).ok);
    },
    phone: (value) => !isDate(value) && looksDialled(value) && isPhone(value, country),
    nationalPhone: (value) => !isDate(value) && looksDialled(value) && isNationalPhone(value),
    digits: (value) => /^\d+$/.test(value),
    url: (value) => readHttpUri(value) !== null,
    date: isDate,
    truth: (value) => truths.has(value.toLowerCase()),
    country: (value) => countryOf(value) !== null,
    wholeName: (value) => isWholeName(value),
    commaName: (value) => isWholeName(value) && value.includes(','),
    company: (value) => companyEnd.test(value),
    address: (value) => value.split(/[\s,]+/).every((word) => formsOfAddress.has(plain(word))),
    job: (value) => jobWord.test(plain(value)),
    id: (value) => /^(?=.*\d)[\p{L}\d][\p{L}\d_.:-]{0,73}$/u.test(value) && !isDate(value),
  };
}

/** `Bob <bob@example.com>` holds an address. */
function withoutName(text: string): string {
  return /<([^<>]+)>\s*$/.exec(text)?.[1] ?? text;
}

/** Digits with what is written between them, and words such as `ext.`; eight digits at least, seven with a sign of a number. */
function looksDialled(value: string): boolean {
  const digits = value.replace(/\P{Nd}/gu, '').length;
  if (digits < 7 || digits > 60 || /\p{L}{4,}/u.test(value.replace(/extension|durchwahl|mobile|tel/gi, '')))
    return false;
  return digits > 7 || /[+()\s/-]/.test(value);
}

function isPhone(value: string, country: CountryCode | null): boolean {
  const parts = splitPhones(value, country);
  return parts.length > 0 && parts.every((part) => readPhone(part, country).ok);
}

function isNationalPhone(value: string): boolean {
  return splitPhones(value, null).every((part) => {
    const reading = readPhone(part, null);
    return reading.ok || reading.flaw.code === 'phoneCountryMissing';
  });
}

const dateForm =
  /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{1,2}\.? \p{L}{3,10}\.? \d{4}|\p{L}{3,10}\.? \d{1,2}, \d{4})(?:[T ,]+\d{1,2}:\d{2}.{0,15})?$/u;

function isDate(value: string): boolean {
  return value.length <= 60 && dateForm.test(value);
}

const truths = words('true false yes no ja nein oui non sí si y n 0 1 x t f wahr falsch vrai faux verdadero falso');

/** Two to five words that begin with a capital letter, none with a digit; a comma at most. */
function isWholeName(value: string): boolean {
  if (value.length > 80 || /[\d@/\\<>=:;&+!?]/u.test(value) || companyEnd.test(value)) return false;
  const parts = value.split(/[\s,]+/).filter((part) => part !== '');
  const capital = parts.filter((part) => /^\p{Lu}/u.test(part)).length;
  return parts.length >= 2 && parts.length <= 5 && capital >= 2 && value.split(',').length <= 2;
}

const companyEnd =
  /(?:^|[\s,])(?:gmbh|gmbh & co\.? kg|ag|kg|ohg|ug|e\.?v|ltd|limited|llc|llp|inc|corp|corporation|co|company|plc|pty|bv|b\.v|nv|n\.v|sa|s\.a|sas|s\.a\.s|sarl|s\.a\.r\.l|sl|s\.l|srl|s\.r\.l|spa|s\.p\.a|oy|ab|as|group|gruppe|holding)\.?$/i;
const formsOfAddress = words(
  'mr mrs ms miss mx dr prof professor sir madam herr frau herrn dipl dipl-ing ing mag m mme mlle monsieur madame sr sra srta senor senora don dona ma mba phd med jur rer nat',
);
const jobWord =
  /manager|director|direktor|direct(?:eur|rice)|officer|engineer|ingenieur|develop|entwickl|\b(?:ceo|cto|cfo|coo|vp|svp|owner|founder|president|head|lead|chief|partner|consultant|berater|analyst|assistant|assistenz|sales|vertrieb|buyer|einkauf|marketing|account|teacher|lehrer|nurse|doctor|arzt|lawyer|anwalt|attorney|chef|inhaber|leiter|leitung|referent|sachbearbeiter|designer|architect|architekt|comercial|gerente|jefe|responsable|charge|ventes|techni|student|agent|broker|driver|editor|coordinator|specialist|supervisor)\b|leiter|leitung|fuhrer|berater/;

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}.]/gu, '')
    .toLowerCase();
}
