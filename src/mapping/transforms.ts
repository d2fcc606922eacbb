/**
 * Transforms of a mapping: what is done to the text of a column, in order, before it is read as a name, a phone number or
 * whatever it goes to. A closed set without code and without regular expressions; each takes time in proportion to its
 * text (`docs/mapping.md`, "Transforms").
 *
 * Every transform is total: it takes any text and gives a text, perhaps an empty one. Only a date that fits no format, a
 * text that holds no e-mail address, and one that would outgrow a cell are refused.
 */
import { invariant } from '#src/errors.ts';
import { bad, type Flaw, type RejectionCode, trimWhole } from './cell.ts';
import { splitCompany } from './company-name.ts';
import { compileDateFormat, type ReadDate } from './date-format.ts';
import { cutEmails, emailLeftOut, isNameOrLink, readEmail } from './email-cell.ts';
import { splitPersonName } from './person-name.ts';
import { isPlaceholder } from './placeholder.ts';

/** What becomes of a text, or why it becomes nothing. */
export type TransformResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly flaw: Flaw<RejectionCode> };

type PlainName =
  | 'lowerCase'
  | 'upperCase'
  | 'titleCase'
  | 'trim'
  | 'digits'
  | 'givenNames'
  | 'familyName'
  | 'companyOfName'
  | 'withoutCompany'
  | 'withoutQuotes'
  | 'salesforceId'
  | 'emailAddress';

/** One transform: a word, or an object with what it takes (`transform-schema.ts` says what goes together). */
export type Transform =
  | PlainName
  | {
      readonly before?: string | undefined;
      readonly after?: string | undefined;
      readonly withoutPrefix?: string | undefined;
      readonly withoutSuffix?: string | undefined;
      readonly replace?: string | undefined;
      readonly with?: string | undefined;
      readonly values?: Readonly<Record<string, string>> | undefined;
      readonly otherwise?: string | undefined;
      readonly date?: string | readonly string[] | undefined;
    };

const plain: Readonly<Record<PlainName, (text: string) => string | TransformResult>> = {
  lowerCase: (text) => text.toLowerCase(),
  upperCase: (text) => text.toUpperCase(),
  titleCase,
  trim: (text) => text,
  digits: (text) => text.replace(/[０-９]/g, (wide) => String(wide.charCodeAt(0) - 0xff10)).replace(/\D/g, ''),
  givenNames: (text) => splitPersonName(text).given,
  familyName: (text) => splitPersonName(text).family,
  companyOfName: (text) => splitCompany(text).company,
  withoutCompany: (text) => splitCompany(text).person,
  withoutQuotes,
  salesforceId,
  emailAddress,
};
export const plainTransforms = Object.keys(plain) as readonly PlainName[];

/** A cell's limit (`docs/bad-inputs.md`, "CSV"): no chain of replacements makes it longer. */
const resultLengthMax = 65_536;

/**
 * The text after each transform, trimmed each time. A blank text stays blank, unless `values` names it (`"": unknown`).
 * Never throws.
 */
export function applyTransforms(text: string, transforms: readonly Transform[]): TransformResult {
  let current = trimWhole(text);
  for (const transform of transforms) {
    const result = functionOf(transform)(current);
    if (!result.ok) return result;
    if (result.text.length > resultLengthMax) {
      return bad(
        'textTooLong',
        `after its transforms the text has more than ${resultLengthMax} characters`,
        'Shorten the cell, or what the mapping replaces.',
      );
    }
    current = trimWhole(result.text);
  }
  return { ok: true, text: current };
}

type Apply = (text: string) => TransformResult;

/** Value maps and date formats are prepared once for each transform of a mapping, which never changes. */
const prepared = new WeakMap<object, Apply>();

function functionOf(transform: Transform): Apply {
  if (typeof transform === 'string')
    return (text) => {
      const result = plain[transform](text);
      return typeof result === 'string' ? done(result) : result;
    };
  const known = prepared.get(transform);
  if (known !== undefined) return known;
  const apply = prepare(transform);
  prepared.set(transform, apply);
  return apply;
}

function prepare(transform: Exclude<Transform, string>): Apply {
  const { before, after, withoutPrefix, withoutSuffix, replace, values, date } = transform;
  if (before !== undefined) return (text) => done(text.split(before, 1)[0] ?? '');
  if (after !== undefined) {
    return (text) => {
      const at = text.indexOf(after);
      return done(at < 0 ? text : text.slice(at + after.length));
    };
  }
  if (withoutPrefix !== undefined)
    return (text) => done(text.startsWith(withoutPrefix) ? text.slice(withoutPrefix.length) : text);
  if (withoutSuffix !== undefined)
    return (text) => done(text.endsWith(withoutSuffix) ? text.slice(0, -withoutSuffix.length) : text);
  if (replace !== undefined) return (text) => done(text.replaceAll(replace, () => transform.with ?? ''));
  if (values !== undefined) return mapValues(values, transform.otherwise ?? 'keep');
  invariant(date !== undefined, 'a transform has a name');
  return readDate(typeof date === 'string' ? [date] : date);
}

function done(text: string): TransformResult {
  return { ok: true, text };
}

export function comparedForm(text: string): string {
  return trimWhole(text).normalize('NFC').toLowerCase();
}

function mapValues(values: Readonly<Record<string, string>>, otherwise: string): Apply {
  const table = new Map(Object.entries(values).map(([value, becomes]) => [comparedForm(value), becomes]));
  return (text) => {
    const found = table.get(comparedForm(text));
    if (found !== undefined) return done(found);
    if (text === '' || otherwise === 'keep') return done(text);
    return done(otherwise === 'blank' ? '' : otherwise);
  };
}

function readDate(formats: readonly string[]): Apply {
  const readers = formats.map(compileDateFormat).filter((read): read is ReadDate => read !== null);
  return (text) => {
    // Zeros alone, as in 0/0/00, are what programs write for no date.
    if (/^[0\s./:-]*$/.test(text)) return done('');
    for (const read of readers) {
      const date = read(text);
      if (date !== null) return done(date);
    }
    const shown = formats.join(', ');
    const message =
      formats.length === 1 ? `this is not a date in the format ${shown}` : `the date fits none of ${shown}`;
    return bad('dateInvalid', message, 'Correct the date, or add its format to the mapping.');
  };
}

/** Words in one case alone get a capital letter and small ones; `McDonald` and `eBay` stay, and so do II, III and IV. */
function titleCase(text: string): string {
  return text.replace(/[\p{L}\p{M}]+/gu, (word, offset: number) => {
    if (/^(?:II|III|IV)$/.test(word)) return word;
    const isOneCase = word === word.toLowerCase() || word === word.toUpperCase();
    if (!isOneCase) return word;
    // The s of `Bob's`, and of the words that end so, is no word.
    const isEnding = [...word].length === 1 && /[\p{L}\p{M}]['’]$/u.test(text.slice(Math.max(0, offset - 3), offset));
    if (isEnding) return word.toLowerCase();
    const [first = '', ...rest] = word;
    return first.toUpperCase() + rest.join('').toLowerCase();
  });
}

const quotePairs: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '“': '”',
  '”': '”',
  '„': '“”',
  '‘': '’',
  '«': '»',
  '»': '«',
  '‹': '›',
};

/** `"Ada"` → `Ada`. A list whose pieces are quoted, as Mailchimp writes tags, becomes `VIP;Blog`, the form of several choices. */
function withoutQuotes(text: string): string {
  if (/^"[^"]*"(?:\s*,\s*"[^"]*")+$/.test(text)) {
    return (text.match(/"[^"]*"/g) ?? []).map((one) => one.slice(1, -1).trim()).join(';');
  }
  const closing = quotePairs[text[0] ?? ''];
  const isQuoted = text.length >= 2 && closing?.includes(text.at(-1) ?? '') === true;
  return isQuoted ? text.slice(1, -1) : text;
}

/** The last three characters of an id say, in groups of five bits, which of the first fifteen are capital letters. */
const capitalDigits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** An id of Salesforce with 15 characters, as reports have it, → that with 18, as exports have it; any other text as it is. */
function salesforceId(text: string): string {
  if (!/^[a-z\d]{15}$/i.test(text)) return text;
  const suffix = [0, 5, 10].map((start) => {
    const bits = [...text.slice(start, start + 5)].map((letter, index) => (/[A-Z]/.test(letter) ? 2 ** index : 0));
    return capitalDigits[bits.reduce<number>((sum, bit) => sum + bit, 0)] ?? '';
  });
  return `${text}${suffix.join('')}`;
}

/**
 * The first address of a cell, as e-mails are read: `Bo <bo@example.com>; x@example.com` → `bo@example.com`. Words for "none" stay.
 * Where the first cannot be read, the next may be that of another person. What is surely a name or a web address is skipped.
 */
function emailAddress(text: string): string | TransformResult {
  if (text === '' || isPlaceholder(text, 'item')) return text;
  const cuts = cutEmails(text).filter(({ piece }) => emailLeftOut(piece) === null && !isPlaceholder(piece, 'item'));
  const first = cuts.find((cut) => !isNameOrLink(cut)) ?? cuts[0];
  if (first === undefined) return '';
  const reading = readEmail(first.piece);
  return reading.ok ? reading.value : { ok: false, flaw: reading.flaw };
}
