/**
 * Finds the records of a workspace file in its bytes, in one pass and in memory that holds one record.
 *
 * It follows the JSON only as far as it must: the names of the sections, and where a record begins and ends. What is
 * between goes to `JSON.parse`, so that any layout is read alike, and nothing that is not JSON passes.
 * `section-grammar.ts` knows what may stand between values, `value-scanner.ts` where a value ends.
 */
import { isSpace, lf } from './json-bytes.ts';
import { createPlaceCounter, type Place } from './place.ts';
import { ScanError } from './scan-error.ts';
import {
  afterValue,
  type Expected,
  earlyEnd,
  isNameExpected,
  misfit,
  type SectionShape,
  step,
} from './section-grammar.ts';
import { createValueScanner, type ScannedValue } from './value-scanner.ts';

/** Its bytes are valid only during the call. */
export interface ScannedRecord extends ScannedValue {
  /** Counted from 0; null for a section that is one object. */
  readonly index: number | null;
}

export interface SectionPlan {
  readonly shape: SectionShape;
  /** Records of a section that is not taken are passed over, unread. */
  readonly taken: boolean;
}

export interface ScanHandlers {
  /** Called when a section begins. Throws to refuse it. */
  readonly onSection: (name: string, place: Place) => SectionPlan;
  readonly onRecord: (record: ScannedRecord) => void;
}

export interface RecordScanner {
  /** The memory must not be used again before the next value ends. Throws `ScanError`, and what the handlers throw. */
  readonly write: (bytes: Uint8Array) => void;
  /** Throws `ScanError` where the text ends too early. */
  readonly end: () => void;
}

export function createRecordScanner({ onSection, onRecord }: ScanHandlers): RecordScanner {
  const places = createPlaceCounter();
  const scanner = createValueScanner(places);
  let expected: Expected = 'root';
  let plan: SectionPlan = { shape: 'list', taken: false };
  let itemIndex = 0;

  const finish = (value: ScannedValue) => {
    if (isNameExpected(expected)) {
      plan = onSection(parseName(value), value.place);
      itemIndex = 0;
    } else {
      if (plan.taken) onRecord({ ...value, index: plan.shape === 'list' ? itemIndex : null });
      itemIndex += 1;
    }
    expected = afterValue(expected, plan.shape);
  };

  /** One byte between values. Answers whether a value begins with it. */
  const pass = (byte: number, index: number): boolean => {
    const next = step(expected, byte, plan.shape);
    if (next === null) throw new ScanError(misfit(expected, byte, plan.shape), places.at(index));
    if (next === 'value') return true;
    expected = next;
    return false;
  };

  return {
    write: (bytes) => {
      let index = 0;
      // Ends: each turn takes at least one byte, or begins or ends a value and then takes the byte after it.
      while (index < bytes.length) {
        if (scanner.isOpen()) {
          index = scanner.take(bytes, index);
          if (!scanner.isOpen()) finish(scanner.value());
          continue;
        }
        const byte = bytes[index] ?? 0;
        if (isSpace(byte)) {
          if (byte === lf) places.newLine(index);
        } else if (pass(byte, index)) {
          scanner.begin(bytes, index, plan.taken || isNameExpected(expected));
          continue;
        }
        index += 1;
      }
      places.nextChunk(bytes.length);
    },
    end: () => {
      const problem = earlyEnd(expected);
      if (problem !== null) throw new ScanError(problem, places.at(0));
    },
  };
}

function parseName({ bytes, place }: ScannedValue): string {
  try {
    return String(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    throw new ScanError('the name of a section is not a JSON text', place);
  }
}
