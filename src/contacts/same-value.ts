/**
 * Equality of field values.
 *
 * Invariant: an empty text and an empty choice are no value, like null, whichever of them the service returns.
 * Text differs when its case or its spaces differ; only its Unicode form is free.
 */
import type { CustomFieldValue } from '#src/wire/contact.ts';

/** Text as it is compared and kept: an empty text is null. */
export function textOrNull(text: string | null): string | null {
  return text === '' ? null : text;
}

export function sameText(left: string | null, right: string | null): boolean {
  return (textOrNull(left)?.normalize('NFC') ?? null) === (textOrNull(right)?.normalize('NFC') ?? null);
}

/** Equal but for case, spaces and Unicode form: as a service may store what it was sent. */
export function alikeValue(type: string | null, left: CustomFieldValue, right: CustomFieldValue): boolean {
  return sameCustomValue(type, foldedValue(left), foldedValue(right));
}

function foldedValue(value: CustomFieldValue): CustomFieldValue {
  if (Array.isArray(value)) return value.map(foldedText);
  return typeof value === 'string' ? foldedText(value) : value;
}

function foldedText(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** A custom field's value: an empty text or an empty choice is null. */
export function customValueOrNull(value: CustomFieldValue): CustomFieldValue {
  return value === '' || (Array.isArray(value) && value.length === 0) ? null : value;
}

/**
 * Equality by type (`facts.md`, "Custom fields"): choices as a multiset, dates by instant, numbers by figure.
 * `type` is the service's word for the field; null where nobody said, and then the values' own shape decides.
 */
export function sameCustomValue(type: string | null, left: CustomFieldValue, right: CustomFieldValue): boolean {
  const one = customValueOrNull(left);
  const other = customValueOrNull(right);
  if (one === null || other === null) return one === other;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && sameChoices(one, other);
  }
  if (type === 'number' && numberOf(one) !== null) return numberOf(one) === numberOf(other);
  if (typeof one !== 'string' || typeof other !== 'string') return one === other;
  if (type === 'date' || type === null) {
    const instantMs = instantMsOf(one);
    if (instantMs !== null && instantMs === instantMsOf(other)) return true;
  }
  return sameText(one, other);
}

function sameChoices(left: readonly string[], right: readonly string[]): boolean {
  const sorted = (choices: readonly string[]) => choices.map((choice) => choice.normalize('NFC')).sort();
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
}

/** A number, also where a service spells it as text. */
function numberOf(value: string | number | boolean): number | null {
  if (typeof value === 'boolean' || (typeof value === 'string' && value.trim() === '')) return null;
  const figure = Number(value);
  return Number.isNaN(figure) ? null : figure;
}

const isoInstant = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** The instant of an ISO 8601 date or date-time. Without a zone it is UTC: the machine's own zone must not matter. */
function instantMsOf(text: string): number | null {
  const [whole, date, time = '00:00', zone = 'Z'] = isoInstant.exec(text) ?? [];
  if (whole === undefined) return null;
  const instantMs = Date.parse(`${date}T${time}${zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`);
  return Number.isNaN(instantMs) ? null : instantMs;
}
