/**
 * What the values of a column look like, whatever the column is called: the evidence of a proposal. Bounded: at most
 * `judgedMax` different values of a column are looked at. Pure.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import { readHttpUri } from '#src/mapping/cell.ts';
import { isCompanyWithPerson } from '#src/mapping/company-name.ts';
import { countryOf } from '#src/mapping/country.ts';
import { readEmail, splitEmails } from '#src/mapping/email-cell.ts';
import { readPhones, splitPhones } from '#src/mapping/phone-cell.ts';
import { isPlaceholder } from '#src/mapping/placeholder.ts';

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
  /** Written as no id is: with a country code, or as a country writes its own numbers: `020-1234510`, `(415) 555-0101`. */
  readonly dialled: number;
  /** With a country code. */
  readonly international: number;
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
  /** `Lovelace GmbH, Ada Lovelace`. */
  readonly ofCompany: number;
  /** `Dr.`, `Mrs`, `Herr`. */
  readonly address: number;
  /** `Sales Manager`, `Geschäftsführer`. */
  readonly job: number;
  /** `7309457916160`, `003Ab00001`, a UUID. */
  readonly id: number;
  /** Of those, the ones with a letter. */
  readonly code: number;
  /** `20.00`, `1.234,50 EUR`, `09:30`, `5-Mar-24`, `20240305`: an amount, a date or a time, which is no id. */
  readonly measured: number;
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
    dialled: (value) => looksDialled(value) && dialledForm.test(value),
    international: (value) => looksDialled(value) && internationalForm.test(value) && isPhone(value, null),
    digits: (value) => /^\d+$/.test(value),
    url: (value) => readHttpUri(value) !== null,
    date: isDate,
    truth: (value) => truths.has(value.toLowerCase()),
    country: (value) => countryOf(value) !== null,
    wholeName: (value) => isWholeName(value),
    commaName: (value) => isWholeName(value) && value.includes(','),
    company: (value) => companyEnd.test(value),
    ofCompany: isCompanyWithPerson,
    address: (value) => value.split(/[\s,]+/).every((word) => formsOfAddress.has(plain(word))),
    job: (value) => jobWord.test(plain(value)),
    id: isId,
    code: (value) => isId(value) && /[a-z]/i.test(value),
    measured: (value) => isDate(value) || measuredForm.test(value),
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
  return parts.length > 0 && readPhones(parts, country).every(({ ok }) => ok);
}

function isNationalPhone(value: string): boolean {
  return readPhones(splitPhones(value, null), null).every((reading) => {
    return reading.ok || reading.flaw.code === 'phoneCountryMissing';
  });
}

const internationalForm = /^[('"=]{0,2}\+/;
/** A number with spaces may be an amount, unless it begins as a phone number does or has groups of two digits. */
const dialledForm =
  /^[('"=]{0,2}\+|^\(?0\d*[ ()/.-](?<!^0[.,])|^\(\d{2,4}\)|^\d{3}[ .-]\d{3}[ .-]\d{4}$|^\d{2,3}(?: \d{2}){3,4}$|^0[1-9]\d{7,9}$/;

/** Also `people/c0`: a slash in a text with letters. Programs make ids of ASCII: `花子2` is a name. */
function isId(value: string): boolean {
  return /^(?=.*\d)(?=.*[a-z]|[^/]*$)[a-z\d][\w.:/-]{0,73}$/i.test(value) && !isDate(value);
}

const month =
  '(?:jan|ene|feb|f[eé]v|m[aä]r|mrz|apr|avr|abr|ma[iy]|jui?n|jui?l|aug|ao[uû]|ago|sep|o[ck]t|nov|de[czs]|d[eé]c|dic)';
const measuredForm = new RegExp(
  [
    // With decimals, or between a currency and digits.
    String.raw`^(?:[a-z]{3}|\p{Sc})?[ ]?[+-]?\d+(?:[.,' ]\d{3})*[.,]\d+[ ]?(?:[a-z]{3}|\p{Sc}|%)?$`,
    String.raw`^\p{Sc}[ ]?[\d.,' ]+$|^[\d.,' ]+[ ]?(?:\p{Sc}|%)$`,
    String.raw`^\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?$`,
    String.raw`^\d{1,2}[-. /]?${month}\p{L}{0,8}\.?[-. /]?\d{2,4}$`,
    String.raw`^(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T?\d{4,6}Z?)?$`,
  ].join('|'),
  'iu',
);

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
