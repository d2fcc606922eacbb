/** From a record's bytes to its value. */
import type { Place } from './place.ts';
import type { ScannedRecord } from './record-scanner.ts';
import { memberCountOf, repeatedMember } from './repeated-member.ts';
import { ScanError } from './scan-error.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A run of digits that a number might not hold. Most records have none, and are parsed once. */
const longDigits = /\d{16}/;

export type RecordValue =
  | { readonly kind: 'value'; readonly value: unknown }
  /** A whole number beyond 2^53 that would come back as another one. */
  | { readonly kind: 'tooPrecise'; readonly digits: string }
  | { readonly kind: 'repeated'; readonly name: string };

/** Throws `ScanError` for what is not JSON or not UTF-8. */
export function recordValue({ bytes, place, memberCount }: ScannedRecord): RecordValue {
  const text = decode(bytes, place);
  const found = parse(text, place);
  if (found.kind !== 'value' || memberCountOf(found.value) === memberCount) return found;
  const name = repeatedMember(text);
  return name === null ? found : { kind: 'repeated', name };
}

function parse(text: string, place: Place): RecordValue {
  try {
    if (!longDigits.test(text)) return { kind: 'value', value: JSON.parse(text) };
    return parseWithDigits(text);
  } catch (error) {
    throw syntaxError(error, place);
  }
}

function decode(bytes: Uint8Array, place: Place): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ScanError('it is not UTF-8; save the file as UTF-8', place);
  }
}

function parseWithDigits(text: string): RecordValue {
  let digits: string | null = null;
  const keepWatch = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const source = context?.source ?? '';
    if (typeof value === 'number' && /^-?\d{16,}$/.test(source) && losesDigits(source, value)) digits ??= source;
    return value;
  };
  const value: unknown = JSON.parse(text, keepWatch);
  return digits === null ? { kind: 'value', value } : { kind: 'tooPrecise', digits };
}

/** A number that a dump wrote comes back as it was written, though it may stand for many more digits. */
function losesDigits(source: string, value: number): boolean {
  return String(value) !== source && (!Number.isFinite(value) || BigInt(source) !== BigInt(value));
}

/** The parser counts lines and columns inside the record. */
function syntaxError(error: unknown, place: Place): ScanError {
  const message = error instanceof Error ? error.message : '';
  const found = /^(.*?) in JSON at position \d+ \(line (\d+) column (\d+)\)$/s.exec(message);
  if (found === null) return new ScanError('this record is not JSON', place);
  const [, reason = '', line = '1', column = '1'] = found;
  const isFirstLine = line === '1';
  const at = {
    line: place.line + Number(line) - 1,
    column: isFirstLine ? place.column + Number(column) - 1 : Number(column),
  };
  return new ScanError(reason, at);
}
