/**
 * Transforms of a mapping: what is done to the text of a column, in order, before it is read as a name, a phone number or
 * whatever it goes to. A closed set without code and without regular expressions; each takes time in proportion to its
 * text (`docs/mapping.md`, "Transforms").
 *
 * Every transform is total: it takes any text and gives a text, perhaps an empty one. Only a date that fits no format, a
 * text that holds no e-mail address, and one that would outgrow a cell are refused.
 */
import { z } from 'zod';
import { invariant } from '#src/errors.ts';
import { bad, type Flaw, isPlaceholder, type RejectionCode, trimWhole } from './cell.ts';
import { compileDateFormat, formatFlaw, type ReadDate } from './date-format.ts';
import { emailLeftOut, readEmail, splitEmails } from './email-cell.ts';
import { closestName } from './header.ts';
import { splitPersonName } from './person-name.ts';

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
  | 'withoutQuotes'
  | 'salesforceId'
  | 'emailAddress';

const plain: Readonly<Record<PlainName, (text: string) => string | TransformResult>> = {
  lowerCase: (text) => text.toLowerCase(),
  upperCase: (text) => text.toUpperCase(),
  titleCase,
  trim: (text) => text,
  digits: (text) => text.replace(/[０-９]/g, (wide) => String(wide.charCodeAt(0) - 0xff10)).replace(/\D/g, ''),
  givenNames: (text) => splitPersonName(text).given,
  familyName: (text) => splitPersonName(text).family,
  withoutQuotes,
  salesforceId,
  emailAddress,
};
const plainNames = Object.keys(plain) as readonly PlainName[];

/** The transforms that take something, and what each may have with it. */
const companions: Readonly<Record<string, readonly string[]>> = {
  before: [],
  after: [],
  withoutPrefix: [],
  withoutSuffix: [],
  replace: ['with'],
  values: ['otherwise'],
  date: [],
};
const argumentNames = Object.keys(companions);

const textLengthMax = 200;
const valuesMax = 1_000;
const formatsMax = 20;
const transformsMax = 20;
/** A cell's limit (`docs/bad-inputs.md`, "CSV"): no chain of replacements makes it longer. */
const resultLengthMax = 65_536;

const literal = z.string().min(1, 'a text is needed').max(textLengthMax, `at most ${textLengthMax} characters`);
const replacement = z.string().max(textLengthMax, `at most ${textLengthMax} characters`);
/** YAML reads `Yes: true` and `VIP: 1` as what they look like; an empty value is blank. */
const mapped = z
  .union([replacement, z.number(), z.boolean(), z.null()], { error: 'expected a text, a number, true or false' })
  .transform((value) => (value === null ? '' : String(value)));

const dateFormat = z.string().superRefine((format, context) => {
  const flaw = formatFlaw(format);
  if (flaw !== null) context.addIssue({ code: 'custom', message: `"${format}" ${flaw}` });
});

const withArgument = z
  .strictObject({
    before: literal
      .optional()
      .describe('What is before the first occurrence of this text; all of it where there is none.'),
    after: literal
      .optional()
      .describe('What is after the first occurrence of this text; all of it where there is none.'),
    withoutPrefix: literal.optional().describe('Without this text at the beginning.'),
    withoutSuffix: literal.optional().describe('Without this text at the end.'),
    replace: literal.optional().describe('Replaces each occurrence of this text.'),
    with: replacement.optional().describe('What replace writes instead; empty removes the text.'),
    values: z
      .record(z.string().max(textLengthMax), mapped)
      .refine((map) => Object.keys(map).length <= valuesMax, `at most ${valuesMax} values`)
      .refine(
        (map) => new Set(Object.keys(map).map(comparedForm)).size === Object.keys(map).length,
        'a value occurs twice',
      )
      .optional()
      .describe('Texts and what each becomes; case and spaces around them make no difference.'),
    otherwise: replacement
      .optional()
      .describe('What becomes of a text that values lacks: keep (the default), blank, or a text of your own.'),
    date: z
      .union(
        [
          dateFormat,
          z
            .array(dateFormat)
            .min(1, 'a date format is needed')
            .max(formatsMax, `at most ${formatsMax} formats are allowed`),
        ],
        'a date format is a text such as DD.MM.YYYY, or a list of them',
      )
      .optional()
      .describe(
        'Reads a date in this format, such as DD.MM.YYYY, or the first of several that it fits; the result is an ISO date. ' +
          'A date that fits none is invalid.',
      ),
  })
  .superRefine((transform, context) => {
    const given = Object.keys(transform).filter((name) => transform[name as keyof typeof transform] !== undefined);
    const [name, second] = given.filter((one) => argumentNames.includes(one));
    const message =
      name === undefined
        ? `expected one of ${argumentNames.join(', ')}`
        : second !== undefined
          ? `write "${name}" and "${second}" as two transforms, one after the other`
          : foreignCompanion(name, given);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

function foreignCompanion(name: string, given: readonly string[]): string | null {
  if (name === 'replace' && !given.includes('with')) return 'replace needs "with"; with: "" removes the text';
  const foreign = given.find((one) => one !== name && companions[name]?.includes(one) !== true);
  return foreign === undefined ? null : `"${foreign}" does not go with "${name}"`;
}

function unknownTransform(input: unknown): string {
  const close = typeof input === 'string' ? closestName(input, [...plainNames, ...argumentNames]) : null;
  if (close === null)
    return `not a transform: use ${plainNames.join(', ')}, or { ${argumentNames.join(': … }, { ')}: … }`;
  return argumentNames.includes(close)
    ? `${close} takes a value: write { ${close}: … }`
    : `not a transform; did you mean "${close}"?`;
}

/** One transform: a word, or an object with what it takes. */
export const transformSchema = z.union([
  z.enum(plainNames, { error: ({ input }) => unknownTransform(input) }),
  withArgument,
]);
export type Transform = z.infer<typeof transformSchema>;

/** The transforms of a value, in order. */
export const transformsSchema = z
  .array(transformSchema)
  .max(transformsMax, `at most ${transformsMax} transforms`)
  .describe('What is done to the text, in order, before it is read.');

/** The keys of a transform that is an object, for "did you mean". */
export const transformKeys: readonly string[] = Object.keys(withArgument.shape);

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

function comparedForm(text: string): string {
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

/** The first address of a cell, as e-mails are read: `Bo <bo@example.com>; x@example.com` → `bo@example.com`. Words for "none" stay. */
function emailAddress(text: string): string | TransformResult {
  if (text === '' || isPlaceholder(text, 'item')) return text;
  const readings = splitEmails(text)
    .filter((part) => emailLeftOut(part) === null && !isPlaceholder(part, 'item'))
    .map(readEmail);
  const [first] = readings;
  const address = readings.find((reading) => reading.ok);
  if (address?.ok === true) return address.value;
  return first === undefined || first.ok ? '' : { ok: false, flaw: first.flaw };
}
