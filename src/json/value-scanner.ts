/**
 * Finds where a JSON value ends, in bytes that come in chunks, by its strings and its nesting. Whether the value is JSON at
 * all is left to `JSON.parse` (`record-value.ts`).
 *
 * A value that certainly is no JSON, because a bracket does not match or a string holds a line end, ends there: the parser
 * then refuses it and its place can be reported, where otherwise the rest of the file would be taken for a part of it.
 */
import { JsonError, type Place, type PlaceCounter, syntaxError } from './place.ts';

// The bytes of JSON's own characters. All are ASCII: in UTF-8 none of them is a part of another character.
export const [lineFeed, quote, backslash, comma, colon] = [0x0a, 0x22, 0x5c, 0x2c, 0x3a];
export const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** White space between values. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === lineFeed || byte === 0x0d || byte === 0x09;
}

export interface ScannedValue {
  readonly place: Place;
  /** Valid until the scanner gets the next chunk. Empty where they were not kept. */
  readonly bytes: Uint8Array;
  /** How many members its objects have, also where two of one object have the same name. */
  readonly memberCount: number;
  /** The value was longer than the limit, and was to be dropped in that case. */
  readonly isDropped: boolean;
}

export interface ValueUse {
  /** `drop` and `refuse` say what becomes of a value that is too long; a `skip` value is not kept at all. */
  readonly keep: 'refuse' | 'drop' | 'skip';
  /** Lists and objects inside each other, the value itself included. */
  readonly depthMax: number;
}

interface ValueScanner {
  /** A value begins with this byte; `take` must begin there too. */
  readonly begin: (bytes: Uint8Array, index: number, use: ValueUse) => void;
  /** A value began and has not ended. */
  readonly isOpen: () => boolean;
  /** The open value is a number or a word, which ends where the text does. */
  readonly isScalar: () => boolean;
  /** Continues inside the value; returns the index behind what it took. @throws JsonError `tooLong`, `tooDeep`, `syntax`. */
  readonly take: (bytes: Uint8Array, start: number) => number;
  /** The value that ended last, or what there is of the open one; once. */
  readonly value: () => ScannedValue;
}

/** Notes the line ends inside values. `bytesMax` is for one value. */
export function createValueScanner(places: PlaceCounter, bytesMax: number): ValueScanner {
  const nesting = createNesting(places);
  let kind: 'none' | 'nested' | 'scalar' = 'none';
  let place: Place = { line: 1, column: 1 };
  let use: ValueUse = { keep: 'skip', depthMax: 1 };
  let isDropped = false;
  // What was taken of the value, in this chunk and in those before.
  let held: Uint8Array[] = [];
  let takenBytes = 0;
  return {
    begin: (bytes, index, wanted) => {
      const byte = bytes[index];
      // A string is nested in its quotes, at depth 0.
      kind = byte === quote || byte === openObject || byte === openList ? 'nested' : 'scalar';
      place = places.at(index);
      use = wanted;
      isDropped = false;
      held = [];
      takenBytes = 0;
      nesting.begin(use.depthMax);
    },
    isOpen: () => kind !== 'none',
    isScalar: () => kind === 'scalar',
    take: (bytes, start) => {
      const end = kind === 'nested' ? nesting.end(bytes, start) : scalarEnd(bytes, start);
      const piece = bytes.subarray(start, end ?? bytes.length);
      takenBytes += piece.length;
      if (takenBytes > bytesMax && use.keep === 'refuse') {
        throw new JsonError('tooLong', `a value is longer than ${bytesMax} bytes`, place);
      }
      isDropped ||= takenBytes > bytesMax && use.keep === 'drop';
      if (isDropped) held = [];
      else if (use.keep !== 'skip') held.push(piece);
      if (end !== null) {
        if (nesting.isBroken() && (isDropped || use.keep === 'skip')) {
          throw syntaxError(String.fromCharCode(bytes[end - 1] ?? 0), null, places.at(end - 1));
        }
        kind = 'none';
      }
      return end ?? bytes.length;
    },
    value: () => {
      const [first] = held;
      const bytes = held.length === 1 && first !== undefined ? first : Buffer.concat(held);
      held = [];
      kind = 'none';
      return { place, bytes, memberCount: nesting.memberCount(), isDropped };
    },
  };
}

export interface Measured {
  /** How many members the objects of the text have; 0 where it is nested too deep. */
  readonly memberCount: number;
  readonly isTooDeep: boolean;
}

/** For texts that come whole, such as lines. */
export function createMeasure(depthMax: number): (bytes: Uint8Array) => Measured {
  const nesting = createNesting(null);
  return (bytes) => {
    nesting.begin(depthMax);
    try {
      nesting.end(bytes, 0);
    } catch (error) {
      if (error instanceof JsonError && error.kind === 'tooDeep') return { memberCount: 0, isTooDeep: true };
      throw error;
    }
    return { memberCount: nesting.memberCount(), isTooDeep: false };
  };
}

/** The index behind a number or a word; null where this chunk does not hold its end. */
function scalarEnd(bytes: Uint8Array, start: number): number | null {
  for (let index = start; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isSpace(byte) || byte === comma || byte === closeList || byte === closeObject) return index;
  }
  return null;
}

interface Nesting {
  readonly begin: (depthMax: number) => void;
  /** The index behind an object, a list or a string; null where this chunk does not hold its end. @throws JsonError `tooDeep`. */
  readonly end: (bytes: Uint8Array, start: number) => number | null;
  readonly memberCount: () => number;
  /** The value ended where no JSON can: `JSON.parse` will refuse it. */
  readonly isBroken: () => boolean;
}

function createNesting(places: PlaceCounter | null): Nesting {
  let closers: number[] = [];
  let depthMax = 0;
  let memberCount = 0;
  let inString = false;
  let escaped = false;
  let isBroken = false;

  const open = (closer: number, index: number): void => {
    closers.push(closer);
    if (closers.length <= depthMax) return;
    const place = places?.at(index) ?? { line: 1, column: index + 1 };
    throw new JsonError('tooDeep', `lists and objects inside each other more than ${depthMax} deep`, place);
  };

  /** The index behind the string; null where this chunk does not hold its end. */
  const endString = (bytes: Uint8Array, start: number): number | null => {
    let index = start;
    // Ends: each turn goes past one escape, or leaves.
    for (;;) {
      if (escaped && index < bytes.length) {
        escaped = false;
        index += 1;
      }
      index = plainEnd(bytes, index);
      if (index >= bytes.length) return null;
      const byte = bytes[index];
      index += 1;
      if (byte === backslash) {
        escaped = true;
        continue;
      }
      inString = false;
      isBroken = byte !== quote;
      return index;
    }
  };

  return {
    begin: (max) => {
      closers = [];
      depthMax = max;
      memberCount = 0;
      inString = false;
      escaped = false;
      isBroken = false;
    },
    end: (bytes, start) => {
      let index = start;
      // Ends: each turn takes at least one byte.
      while (index < bytes.length) {
        if (inString) {
          const end = endString(bytes, index);
          if (end === null) return null;
          index = end;
          if (isBroken || closers.length === 0) return index;
          continue;
        }
        const byte = bytes[index] ?? 0;
        if (byte === quote) inString = true;
        // Outside of strings a colon follows the name of a member, and occurs nowhere else.
        else if (byte === colon) memberCount += 1;
        else if (byte === openObject) open(closeObject, index);
        else if (byte === openList) open(closeList, index);
        else if (byte === closeObject || byte === closeList) {
          isBroken = closers.pop() !== byte;
          if (isBroken || closers.length === 0) return index + 1;
        } else if (byte < 0x20) places?.note(byte, index);
        index += 1;
      }
      return null;
    },
    memberCount: () => memberCount,
    isBroken: () => isBroken,
  };
}

/** The index of the next quote, backslash or control character. The hot loop of all reading. */
function plainEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let index = start;
  for (; index < length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === quote || byte === backslash || byte < 0x20) break;
  }
  return index;
}
