/**
 * Finds the records of a JSON document in its bytes, in one pass and in memory that holds one value: the items of a list,
 * which is the root or a member of the root object.
 *
 * The scanner follows the JSON only as far as it must: the members of the root, and where a value begins and ends. What is
 * between goes to `JSON.parse`, so that any layout is read alike, and nothing that is not JSON becomes a record. A member
 * that is skipped, or dropped for its length, is not parsed; only its brackets and strings are followed.
 */
import { unreachable } from '#src/errors.ts';
import { createPlaceCounter, type Place, syntaxError } from './place.ts';
import { parseText, textOf } from './record-value.ts';
import {
  closeList,
  closeObject,
  colon,
  comma,
  createValueScanner,
  isSpace,
  openList,
  openObject,
  quote,
  type ScannedValue,
  type ValueUse,
} from './value-scanner.ts';

type ValueKind = 'list' | 'object' | 'scalar';

export interface MemberStart {
  readonly name: string;
  readonly namePlace: Place;
  readonly kind: ValueKind;
  readonly place: Place;
}

/** `records` is for lists: each item is given to `onRecord`. A `value` is given to `onValue` as a whole. */
export interface MemberPlan {
  readonly as: 'records' | 'value';
  /** What becomes of a value that is too long; a record that is too long is always refused. `skip`: none is given. */
  readonly keep: ValueUse['keep'];
}

export interface DocumentHandlers {
  /** What the root is. Throws to refuse it. A scalar is given to `onValue` afterwards. */
  readonly onRoot: (kind: ValueKind, place: Place) => void;
  /** A member of the root object begins. Throws to refuse it. */
  readonly onMember: (member: MemberStart) => MemberPlan;
  /** `index` counts from 0 in its list. */
  readonly onRecord: (record: ScannedValue, index: number) => void;
  /** The value of the member that began last, or the root. */
  readonly onValue: (value: ScannedValue) => void;
  /** The root has ended. */
  readonly onEnd?: () => void;
}

interface ScanLimits {
  /** Of one record, name or other value. */
  readonly valueBytesMax: number;
  /** Lists and objects inside each other, the root included. */
  readonly depthMax: number;
}

export interface DocumentScanner {
  /** The memory must not change before the next value has ended. @throws JsonError, and what the handlers throw. */
  readonly write: (bytes: Uint8Array) => void;
  /** `empty` where there is nothing but white space. @throws JsonError where the text ends too early, and as `write` does. */
  readonly end: () => 'empty' | 'complete';
}

/** What may come next between values. */
type Expected =
  | 'root'
  | 'nameOrEnd'
  | 'name'
  | 'colon'
  | 'member'
  | 'itemOrEnd'
  | 'item'
  | 'commaOrListEnd'
  | 'commaOrEnd'
  | 'nothing';

const expectedWords: Readonly<Record<Expected, string>> = {
  root: 'a list or an object',
  nameOrEnd: 'a member name or }',
  name: 'a member name',
  colon: 'a colon',
  member: 'a value',
  itemOrEnd: 'a record or ]',
  item: 'a record',
  commaOrListEnd: 'a comma or ]',
  commaOrEnd: 'a comma or }',
  nothing: 'nothing more',
};

export function createDocumentScanner(handlers: DocumentHandlers, limits: ScanLimits): DocumentScanner {
  const places = createPlaceCounter();
  const values = createValueScanner(places, limits.valueBytesMax);
  let expected: Expected = 'root';
  let name = '';
  let namePlace: Place = { line: 1, column: 1 };
  let recordKeep: ValueUse['keep'] = 'refuse';
  let recordIndex = 0;
  let isListRoot = false;

  const finish = (value: ScannedValue): void => {
    switch (expected) {
      case 'nameOrEnd':
      case 'name':
        name = String(parseText(textOf(value), value.place));
        namePlace = value.place;
        expected = 'colon';
        return;
      case 'itemOrEnd':
      case 'item':
        if (recordKeep !== 'skip') handlers.onRecord(value, recordIndex);
        recordIndex += 1;
        expected = 'commaOrListEnd';
        return;
      default: {
        handlers.onValue(value);
        if (expected === 'root') endRoot();
        else expected = 'commaOrEnd';
      }
    }
  };

  const endRoot = (): void => {
    expected = 'nothing';
    handlers.onEnd?.();
  };

  const beginList = (keep: ValueUse['keep']): void => {
    recordKeep = keep;
    recordIndex = 0;
    expected = 'itemOrEnd';
  };

  const endList = (): void => {
    if (isListRoot) endRoot();
    else expected = 'commaOrEnd';
  };

  const beginRoot = (byte: number, index: number): ValueUse | null => {
    const kind = kindOf(byte);
    handlers.onRoot(kind, places.at(index));
    isListRoot = kind === 'list';
    if (kind === 'list') beginList('refuse');
    else if (kind === 'object') expected = 'nameOrEnd';
    return kind === 'scalar' ? { keep: 'refuse', depthMax: limits.depthMax } : null;
  };

  const beginMember = (byte: number, index: number): ValueUse | null => {
    const { as, keep } = handlers.onMember({ name, namePlace, kind: kindOf(byte), place: places.at(index) });
    if (as === 'value') return { keep, depthMax: limits.depthMax - 1 };
    beginList(keep);
    return null;
  };

  const nameUse: ValueUse = { keep: 'refuse', depthMax: 0 };

  /** Takes one byte between values. Returns how to take the value that begins with it, or null where none does. */
  const pass = (byte: number, index: number): ValueUse | null => {
    switch (expected) {
      case 'root':
        if (isValueStart(byte)) return beginRoot(byte, index);
        break;
      case 'nameOrEnd':
      case 'name':
        if (byte === quote) return nameUse;
        if (byte === closeObject && expected === 'nameOrEnd') {
          endRoot();
          return null;
        }
        break;
      case 'colon':
        if (byte === colon) {
          expected = 'member';
          return null;
        }
        break;
      case 'member':
        if (isValueStart(byte)) return beginMember(byte, index);
        break;
      case 'itemOrEnd':
      case 'item':
        if (byte === closeList && expected === 'itemOrEnd') {
          endList();
          return null;
        }
        if (isValueStart(byte)) return { keep: recordKeep, depthMax: limits.depthMax - (isListRoot ? 1 : 2) };
        break;
      case 'commaOrListEnd':
        if (byte === comma) expected = 'item';
        else if (byte === closeList) endList();
        else break;
        return null;
      case 'commaOrEnd':
        if (byte === comma) expected = 'name';
        else if (byte === closeObject) endRoot();
        else break;
        return null;
      case 'nothing':
        break;
      default:
        return unreachable(expected);
    }
    throw syntaxError(characterOf(byte), expectedWords[expected], places.at(index));
  };

  return {
    write: (bytes) => {
      let index = 0;
      // Ends: each turn takes at least one byte, or begins or ends a value and then takes the byte behind it.
      while (index < bytes.length) {
        if (values.isOpen()) {
          index = values.take(bytes, index);
          if (!values.isOpen()) finish(values.value());
          continue;
        }
        const byte = bytes[index] ?? 0;
        if (isSpace(byte)) places.note(byte, index);
        else {
          const use = pass(byte, index);
          if (use !== null) {
            values.begin(bytes, index, use);
            continue;
          }
        }
        index += 1;
      }
      places.nextChunk(bytes.length);
    },
    end: () => {
      if (values.isOpen()) {
        const isScalar = values.isScalar();
        const value = values.value();
        // What there is of it may be wrong before its end. A value that was not kept says nothing of that.
        if (!isScalar && value.bytes.length > 0) parseText(textOf(value), value.place);
        if (!isScalar) throw syntaxError(null, null, places.at(0));
        finish(value);
      }
      if (expected === 'root') return 'empty';
      if (expected !== 'nothing') throw syntaxError(null, null, places.at(0));
      return 'complete';
    },
  };
}

function kindOf(byte: number): ValueKind {
  if (byte === openList) return 'list';
  return byte === openObject ? 'object' : 'scalar';
}

/** Whether it is a value at all is decided by `JSON.parse`. */
function isValueStart(byte: number): boolean {
  return byte !== comma && byte !== colon && byte !== closeList && byte !== closeObject;
}

/** A byte of a character beyond ASCII stands for no character by itself. */
function characterOf(byte: number): string {
  return byte < 0x80 ? String.fromCharCode(byte) : '\ufffd';
}
