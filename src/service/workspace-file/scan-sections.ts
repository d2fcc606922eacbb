/**
 * Finds the records of a workspace file: one JSON object whose members are the sections, each a list of records or one
 * object. Stricter than `src/json` in what a record may hold, since a dump must come back as it was written.
 */
import { unreachable } from '#src/errors.ts';
import { createDocumentScanner, type DocumentScanner } from '#src/json/document-scanner.ts';
import { JsonError, type Place } from '#src/json/place.ts';
import { recordValue, textOf } from '#src/json/record-value.ts';
import type { ScannedValue } from '#src/json/value-scanner.ts';
import { walkJson } from '#src/json/walk-json.ts';

const recordMebibytesMax = 32;
/** The bytes of one record. */
export const recordBytesMax = recordMebibytesMax * 1024 * 1024;
/** Lists and objects inside each other in a record. */
const recordDepthMax = 32;

/** How a section is written. */
type SectionShape = 'list' | 'object';

export interface SectionPlan {
  readonly shape: SectionShape;
  /** Records of a section that is not taken are skipped, unparsed. */
  readonly taken: boolean;
}

/** Its bytes are valid only during the call. */
export interface ScannedRecord extends ScannedValue {
  /** Counted from 0; null for a section that is one object. */
  readonly index: number | null;
}

interface SectionHandlers {
  /** Called when a section begins. Throws to refuse it. */
  readonly onSection: (name: string, place: Place) => SectionPlan;
  readonly onRecord: (record: ScannedRecord) => void;
}

interface SectionScanner {
  /** The memory must not change before the next value has ended. @throws JsonError, and what the handlers throw. */
  readonly write: (bytes: Uint8Array) => void;
  /** @throws JsonError where the text ends too early. */
  readonly end: () => void;
}

export function createSectionScanner({ onSection, onRecord }: SectionHandlers): SectionScanner {
  let taken = false;
  const scanner = createDocumentScanner(
    {
      onRoot: (kind, place) => {
        if (kind !== 'object') throw refused('a workspace file must be an object, {…}', place);
      },
      onMember: ({ name, namePlace, kind, place }) => {
        const { shape, ...plan } = onSection(name, namePlace);
        const wanted = shape === 'object' ? 'an object, {…}' : 'a list, […]';
        if (kind !== shape) throw refused(`this section must be ${wanted}`, place);
        taken = plan.taken;
        return { as: shape === 'list' ? 'records' : 'value', keep: taken ? 'refuse' : 'skip' };
      },
      onRecord: (record, index) => onRecord({ ...record, index }),
      onValue: (value) => {
        if (taken) onRecord({ ...value, index: null });
      },
    },
    // The root and the list around a record come on top of its own depth.
    { valueBytesMax: recordBytesMax, depthMax: recordDepthMax + 2 },
  );
  return {
    write: (bytes) => inWords(() => scanner.write(bytes)),
    end: () => inWords(() => refuseEmpty(scanner)),
  };
}

/** The text is JSON, but no workspace file. */
export function refused(message: string, place: Place): JsonError {
  return new JsonError('refused', message, place);
}

function refuseEmpty(scanner: DocumentScanner): void {
  if (scanner.end() === 'empty') throw refused('it is empty', { line: 1, column: 1 });
}

function inWords(scan: () => void): void {
  try {
    scan();
  } catch (error) {
    throw error instanceof JsonError ? new JsonError(error.kind, wordsOf(error), error.place, error.found) : error;
  }
}

function wordsOf({ kind, message, found }: JsonError): string {
  switch (kind) {
    case 'tooLong':
      return `a record is larger than ${recordMebibytesMax} MiB`;
    case 'tooDeep':
      return `nested deeper than ${recordDepthMax} levels`;
    case 'notUtf8':
      return 'it is not UTF-8; save the file as UTF-8';
    case 'syntax':
      return found === null ? 'the text ends in the middle; a part is missing' : message;
    case 'refused':
      return message;
    default:
      return unreachable(kind);
  }
}

type SectionValue =
  | { readonly kind: 'value'; readonly value: unknown }
  /** A whole number beyond 2^53 that would come back as another one. */
  | { readonly kind: 'tooPrecise'; readonly digits: string }
  | { readonly kind: 'repeated'; readonly name: string };

/** @throws JsonError for a record that is not JSON or not UTF-8. */
export function sectionValue(record: ScannedRecord): SectionValue {
  const text = textOf(record);
  let digits: string | null = null;
  const { value, hasRepeatedNames } = recordValue(text, record.memberCount, record.place, (source, number) => {
    if (losesDigits(source, number)) digits ??= source;
    return number;
  });
  if (digits !== null) return { kind: 'tooPrecise', digits };
  return hasRepeatedNames ? { kind: 'repeated', name: repeatedName(text) } : { kind: 'value', value };
}

/** A number that a dump wrote comes back as it was written, though it may stand for many more digits. */
function losesDigits(source: string, value: number): boolean {
  if (!/^-?\d{16,}$/.test(source) || String(value) === source) return false;
  return !Number.isFinite(value) || BigInt(source) !== BigInt(value);
}

/** `JSON.parse` keeps the last of two members of the same name, and the value of the other would be lost without an error. */
function repeatedName(text: string): string {
  let repeated: string | null = null;
  walkJson(text, {
    onName: (name, _spot, isRepeated) => {
      if (isRepeated) repeated ??= name;
    },
  });
  return repeated ?? '';
}
