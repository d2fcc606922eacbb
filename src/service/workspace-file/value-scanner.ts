/**
 * Takes up the bytes of one value at a time, wherever chunks cut it: finds its end by its texts and its nesting, and
 * leaves all else to `JSON.parse`.
 */
import {
  backslash,
  closeList,
  closeObject,
  colon,
  comma,
  isSpace,
  lf,
  openList,
  openObject,
  quote,
} from './json-bytes.ts';
import type { Place, PlaceCounter } from './place.ts';
import { ScanError } from './scan-error.ts';

export const recordBytesMax = 32 * 1024 * 1024;
export const recordDepthMax = 32;

export interface ScannedValue {
  readonly place: Place;
  /** Empty where they were not kept. */
  readonly bytes: Uint8Array;
  /** How many members its objects have, also where two of one object have the same name. */
  readonly memberCount: number;
}

export interface ValueScanner {
  /** A value begins with this byte. `isKept`: its bytes are wanted. */
  readonly begin: (bytes: Uint8Array, index: number, isKept: boolean) => void;
  /** A value began and has not ended. */
  readonly isOpen: () => boolean;
  /** Goes on inside it; answers the index after what it took. Throws `ScanError` above the limits. */
  readonly take: (bytes: Uint8Array, start: number) => number;
  /** The value that ended last, once. */
  readonly value: () => ScannedValue;
}

/** Counts the lines inside of values. */
export function createValueScanner(places: PlaceCounter): ValueScanner {
  const nesting = createNesting(places);
  let kind: 'none' | 'nested' | 'scalar' = 'none';
  let place: Place = { line: 1, column: 1 };
  let isKept = false;
  // What was taken up of it, in this chunk and in those before.
  let held: Uint8Array[] = [];
  let takenBytes = 0;
  return {
    begin: (bytes, index, isWanted) => {
      const byte = bytes[index];
      // A text is taken up as something nested whose depth is 0 outside of its quotes.
      kind = byte === quote || byte === openObject || byte === openList ? 'nested' : 'scalar';
      place = places.at(index);
      isKept = isWanted;
      held = [];
      takenBytes = 0;
      nesting.begin();
    },
    isOpen: () => kind !== 'none',
    take: (bytes, start) => {
      const end = kind === 'nested' ? nesting.end(bytes, start) : scalarEnd(bytes, start);
      const piece = bytes.subarray(start, end ?? bytes.length);
      takenBytes += piece.length;
      if (takenBytes > recordBytesMax) {
        throw new ScanError(`a record is larger than ${recordBytesMax / 1024 / 1024} MiB`, place);
      }
      if (isKept) held.push(piece);
      if (end !== null) kind = 'none';
      return end ?? bytes.length;
    },
    value: () => {
      const [first] = held;
      const bytes = held.length === 1 && first !== undefined ? first : Buffer.concat(held);
      held = [];
      return { place, bytes, memberCount: nesting.memberCount() };
    },
  };
}

/** The index after a number or a word; null where this chunk has no end of it. */
function scalarEnd(bytes: Uint8Array, start: number): number | null {
  for (let index = start; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (isSpace(byte) || byte === comma || byte === closeList || byte === closeObject) return index;
  }
  return null;
}

interface Nesting {
  readonly begin: () => void;
  /** The index after an object, a list or a text; null where this chunk has no end of it. Throws `ScanError`. */
  readonly end: (bytes: Uint8Array, start: number) => number | null;
  readonly memberCount: () => number;
}

function createNesting(places: PlaceCounter): Nesting {
  let memberCount = 0;
  let depth = 0;
  let inString = false;
  let escaped = false;
  return {
    begin: () => {
      memberCount = 0;
      depth = 0;
      inString = false;
      escaped = false;
    },
    // The hot loop: one look at each byte.
    end: (bytes, start) => {
      for (let index = start; index < bytes.length; index += 1) {
        const byte = bytes[index];
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === backslash) escaped = true;
          else if (byte === quote) {
            inString = false;
            if (depth === 0) return index + 1;
          }
        } else if (byte === quote) inString = true;
        else if (byte === openObject || byte === openList) {
          depth += 1;
          if (depth > recordDepthMax)
            throw new ScanError(`nested deeper than ${recordDepthMax} levels`, places.at(index));
        } else if (byte === closeObject || byte === closeList) {
          depth -= 1;
          if (depth <= 0) return index + 1;
        } else if (byte === lf) places.newLine(index);
        // Outside of texts a colon stands behind the name of a member, and nowhere else.
        else if (byte === colon) memberCount += 1;
      }
      return null;
    },
    memberCount: () => memberCount,
  };
}
