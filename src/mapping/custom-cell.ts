/**
 * Values of custom fields, read by the type that the service defines (`docs/facts.md`, "Custom fields"). Where the definitions
 * are unknown, a value is sent as it is, and `;` does not separate choices.
 */
import { unreachable } from '#src/errors.ts';
import type { JsonValue } from '#src/sources/row.ts';
import type { CustomFieldType, CustomFieldValue } from '#src/wire/contact.ts';
import {
  bad,
  type Flaw,
  good,
  holdsHtmlCode,
  linkEscapeHint,
  type Reading,
  type RejectionCode,
  readCell,
  readHttpUri,
  readLongText,
  type WarningCode,
} from './cell.ts';
import { withOpenId } from './wrapped-value.ts';

/** `asIs`: no definitions are known. `undefined`: they are known, and this key is not among them. */
export type CustomFieldKind = CustomFieldType | 'asIs' | 'undefined';

export const customFieldUnknown: Flaw<RejectionCode> = {
  code: 'customFieldUnknown',
  message: 'the workspace has no custom field with this key',
  hint: 'Remove the column, correct its key, or create the custom field in the workspace first.',
};

type KnownKind = Exclude<CustomFieldKind, 'undefined'>;

const choicesMax = 200;
const trueWords: ReadonlySet<string> = new Set(['true', 'yes', '1', 't']);
const falseWords: ReadonlySet<string> = new Set(['false', 'no', '0', 'f']);

/** Reads a value that is neither blank nor to be cleared, and without its guard. An empty JSON list clears the field: null. */
export function readCustomValue(raw: JsonValue, kind: CustomFieldKind): Reading<CustomFieldValue> {
  if (kind === 'undefined') return { ok: false, flaw: customFieldUnknown };
  if (Array.isArray(raw)) return readChoices(raw, kind);
  if (kind === 'asIs' && (typeof raw === 'boolean' || typeof raw === 'number')) return good(raw);
  if (typeof raw === 'boolean') return kind === 'boolean' ? good(raw) : wrongType(kind);
  if (typeof raw === 'number' && kind === 'number') return good(raw);
  const cell = readCell(withOpenId(raw), 'json');
  if (cell.kind === 'wrong')
    return cell.flaw.code === 'precisionLost' ? { ok: false, flaw: cell.flaw } : wrongType(kind);
  return cell.kind === 'text' ? readTextAs(cell.text, kind) : wrongType(kind);
}

function readTextAs(raw: string, kind: KnownKind): Reading<CustomFieldValue> {
  const reading = readLongText(raw);
  if (!reading.ok) return reading;
  const text = reading.value;
  switch (kind) {
    case 'asIs':
    case 'string':
    case 'address':
      return good(text);
    case 'url':
      return readHttpUri(text) === null ? wrongType(kind, linkEscapeHint(text)) : good(text);
    case 'number':
      return readNumber(text);
    case 'boolean':
      if (trueWords.has(text.toLowerCase())) return good(true);
      return falseWords.has(text.toLowerCase()) ? good(false) : wrongType(kind);
    case 'date': {
      const date = readIsoDate(text);
      return date === null ? wrongType(kind) : good(date);
    }
    case 'multi-select':
      return withWarning(readChoices(text.split(';'), kind), warningOfChoices(text));
    default:
      return unreachable(kind);
  }
}

/** A dot for decimals, no thousands, no exponent: since `1.234` and `1,234` differ from country to country. */
function readNumber(text: string): Reading<CustomFieldValue> {
  if (!/^[+-]?\d+(?:\.\d+)?$/.test(text)) return wrongType('number');
  const number = Number(text);
  const digitCount = text.replace(/^\D*0*/, '').replace(/\D/g, '').length;
  if (digitCount > 15 && !Number.isSafeInteger(number)) {
    return bad('precisionLost', 'the number is too long to keep all its digits', 'Use a text field for long numbers.');
  }
  const read = good(number === 0 ? 0 : number);
  return likeThousands.test(text) ? withWarning(read, numberInDoubt) : read;
}

/** Reported where the rows of the file speak for it (`number-notation.ts`). */
/** One to three digits, a point, and three digits. No thousands begin with 0. */
const likeThousands = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

const numberInDoubt: Flaw<WarningCode> = {
  code: 'numberInDoubt',
  message: 'the point of the number was read as that before decimals',
  hint: 'Where it separates thousands, take it out in a mapping: transform: [{ replace: ".", with: "" }, { replace: ",", with: "." }].',
};

function withWarning(reading: Reading<CustomFieldValue>, warning: Flaw<WarningCode> | null): Reading<CustomFieldValue> {
  return reading.ok && warning !== null ? { ...reading, warnings: [...reading.warnings, warning] } : reading;
}

/** What may stand between choices in place of `;`, as it is written in a mapping. A choice may hold each of them. */
const otherSeparators: readonly (readonly [found: RegExp, written: string])[] = [
  [/\|/, '"|"'],
  [/\n/, '"\\n"'],
  [/, \S|\p{L},\p{L}/u, '","'],
];

/** Reported once for the column (`column-warnings.ts`). */
function warningOfChoices(text: string): Flaw<WarningCode> | null {
  if (holdsHtmlCode(text)) return choicesEscaped;
  if (/^[[{]/.test(text)) return listUnread;
  const other = text.includes(';') ? undefined : otherSeparators.find(([found]) => found.test(text));
  if (other === undefined) return null;
  const message = 'the cell may hold several choices, with something else than ; between them; it was read as one';
  const hint = `Say which in a mapping, in the entry of customFields: separator: ${other[1]} if they are several, separator: ";" if it is one.`;
  return { code: 'choicesInDoubt', message, hint };
}

/** A separator would leave the brackets in the choices. */
const listUnread: Flaw<WarningCode> = {
  code: 'choicesInDoubt',
  message: 'the cell may hold a list of choices that is no JSON list of texts; it was read as text',
  hint: 'Export the choices with ; between them, or as a JSON list of texts: ["tea", "maps"].',
};

const choicesEscaped: Flaw<WarningCode> = {
  code: 'textEscaped',
  message:
    'the text holds a code of HTML, such as &amp;, in place of a character, and its ; was read as the end of a choice',
  hint: 'Export the file again without such codes, or replace them in a mapping: transform: [{ replace: "&amp;", with: "&" }].',
};

/** Choices: trimmed, in NFC, each once, without blank ones. */
function readChoices(items: readonly JsonValue[], kind: KnownKind): Reading<CustomFieldValue> {
  if (kind !== 'multi-select' && kind !== 'asIs') return wrongType(kind);
  if (items.length > choicesMax) {
    return bad('tooManyItems', `the field holds more than ${choicesMax} values`, 'Split or shorten the list.');
  }
  const choices = new Set<string>();
  for (const item of items) {
    if (typeof item !== 'string' && typeof item !== 'number') return wrongType(kind);
    const reading = readLongText(String(item));
    if (!reading.ok) return reading;
    if (reading.value !== '') choices.add(reading.value);
  }
  return good(choices.size === 0 ? null : [...choices]);
}

const expectations: Readonly<Record<KnownKind, string>> = {
  asIs: 'a text, a number, true or false, or a list of texts',
  string: 'a text',
  address: 'a text',
  url: 'a link that begins with http:// or https://',
  number: 'a number like 1234.5',
  boolean: 'true, false, yes, no, 1 or 0',
  date: 'a date like 2026-03-09 or 2026-03-09T14:30:00Z',
  'multi-select': 'choices separated by ;',
};

function wrongType(kind: KnownKind, hint: string | null = null): ReturnType<typeof bad> {
  const name = kind === 'asIs' ? 'a custom field' : `a custom field of the type ${kind}`;
  return bad('customFieldType', `the value does not fit ${name}`, hint ?? `Write ${expectations[kind]}.`);
}

/** How a mapping reads a number that is written as in other countries: each form needs its own, or the number would be another. */
const numberNotations: readonly (readonly [RegExp, string])[] = [
  [
    /^[+-]?\d{1,3}(?:\.\d{3})+,\d+$/,
    'A mapping can read such numbers: transform: [{ replace: ".", with: "" }, { replace: ",", with: "." }].',
  ],
  [/^[+-]?\d+,(?!\d{3}$)\d+$/, 'A mapping can read such numbers: transform: [{ replace: ",", with: "." }].'],
  [
    /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/,
    'If the comma separates thousands, a mapping can read such numbers: transform: [{ replace: ",", with: "" }].',
  ],
  [
    /^[+-]?\d{1,3}(?:\.\d{3}){2,}$/,
    'If the points separate thousands, a mapping can read such numbers: transform: [{ replace: ".", with: "" }].',
  ],
];

/** How a mapping reads what is written as in other countries. */
const otherNotations: { readonly [Kind in CustomFieldKind]?: string } = {
  boolean: 'A mapping can read other words: transform: [{ values: { ja: true, nein: false } }].',
  date: 'A mapping can read other dates: transform: [{ date: DD.MM.YYYY }].',
};

/** Reads a value of a file, as `readCustomValue` does; the hint names what a mapping can do. */
export function readCustomCell(raw: JsonValue, kind: CustomFieldKind): Reading<CustomFieldValue> {
  const reading = readCustomValue(raw, kind);
  if (reading.ok || typeof raw !== 'string' || reading.flaw.code !== 'customFieldType') return reading;
  const ofNumber = numberNotations.find(([form]) => kind === 'number' && form.test(raw.trim()))?.[1];
  const other = ofNumber ?? otherNotations[kind];
  if (other === undefined) return reading;
  return { ok: false, flaw: { ...reading.flaw, hint: `${reading.flaw.hint} ${other}` } };
}

const isoDate =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * An ISO date or date-time as a date-time string in UTC (`docs/facts.md`, "Custom fields"). `2026-03-09` is midnight UTC; a
 * time without a zone is UTC, too. Null for any other text, and for a day that the calendar does not have.
 */
function readIsoDate(text: string): string | null {
  const match = isoDate.exec(text.trim());
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? '0');
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const millisecond = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  if (hour > 23 || minute > 59 || second > 59 || year < 1) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  date.setUTCHours(hour, minute, second, millisecond);
  const offsetMinutes = readOffsetMinutes(match[8]);
  if (offsetMinutes === null) return null;
  return new Date(date.getTime() - offsetMinutes * 60_000).toISOString();
}

/** Minutes east of UTC, of `+02:00`, `+0200` or, as PostgreSQL writes it, `+02`; null for more than 14 hours. */
function readOffsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.replace(/\D/g, '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  if (minutes > 14 * 60 || Number(digits.slice(2)) > 59) return null;
  return zone.startsWith('-') ? -minutes : minutes;
}
