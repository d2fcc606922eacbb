/**
 * Values of custom fields, by the type that the service defines (`facts.md`, "Custom fields").
 *
 * Where the definitions are not known, a value travels as it is and `;` separates nothing.
 */
import { unreachable } from '#src/errors.ts';
import type { JsonValue } from '#src/sources/row.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import { type CustomFieldDefinition, type CustomFieldType, customFieldTypes } from '#src/wire/custom-field.ts';
import { readCell } from './cell.ts';
import { bad, type DeadCode, type Flaw, good, type Reading } from './flaw.ts';
import { readIsoDate } from './iso-date.ts';
import { readHttpUri } from './source-url-cell.ts';
import { readLongText } from './text-cell.ts';

/** `asIs`: no definitions are known. `undefined`: they are known, and this key is not among them. */
export type CustomFieldKind = CustomFieldType | 'asIs' | 'undefined';

export const customFieldUnknown: Flaw<DeadCode> = {
  code: 'customFieldUnknown',
  message: 'the workspace has no custom field with this key',
  hint: 'Take the column out, correct its key, or create the custom field in the workspace first.',
};

type KnownKind = Exclude<CustomFieldKind, 'undefined'>;

const choicesMax = 200;
const trueWords: ReadonlySet<string> = new Set(['true', 'yes', '1']);
const falseWords: ReadonlySet<string> = new Set(['false', 'no', '0']);

/** What the definitions say about a key. A type that we do not know is read as text. */
export function customFieldKind(key: string, definitions: readonly CustomFieldDefinition[] | null): CustomFieldKind {
  if (definitions === null) return 'asIs';
  const definition = definitions.find((one) => one.key === key);
  if (definition === undefined) return 'undefined';
  return customFieldTypes.find((type) => type === definition.type) ?? 'string';
}

/** Reads a value that is neither blank nor to be cleared, nor guarded any more. An empty JSON list clears: null. */
export function readCustomValue(raw: JsonValue, kind: CustomFieldKind): Reading<CustomFieldValue> {
  if (kind === 'undefined') return { ok: false, flaw: customFieldUnknown };
  if (Array.isArray(raw)) return readChoices(raw, kind);
  if (kind === 'asIs' && (typeof raw === 'boolean' || typeof raw === 'number')) return good(raw);
  if (typeof raw === 'boolean') return kind === 'boolean' ? good(raw) : wrongType(kind);
  if (typeof raw === 'number' && kind === 'number') return good(raw);
  const cell = readCell(raw, 'json');
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
      return readHttpUri(text) === null ? wrongType(kind) : good(text);
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
      return readChoices(text.split(';'), kind);
    default:
      return unreachable(kind);
  }
}

/** A dot for decimals, no thousands, no exponent: `1.234` and `1,234` mean different numbers in different countries. */
function readNumber(text: string): Reading<CustomFieldValue> {
  if (!/^[+-]?\d+(?:\.\d+)?$/.test(text)) return wrongType('number');
  const number = Number(text);
  const digitCount = text.replace(/^\D*0*/, '').replace(/\D/g, '').length;
  if (digitCount > 15 && !Number.isSafeInteger(number)) {
    return bad('precisionLost', 'the number is too long to keep all its digits', 'Use a text field for long numbers.');
  }
  return good(number === 0 ? 0 : number);
}

/** Choices: trimmed, NFC, each once, blank ones left out. */
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

function wrongType(kind: KnownKind): ReturnType<typeof bad> {
  const name = kind === 'asIs' ? 'a custom field' : `a custom field of the type ${kind}`;
  return bad('customFieldType', `the value does not fit ${name}`, `Write ${expectations[kind]}.`);
}
