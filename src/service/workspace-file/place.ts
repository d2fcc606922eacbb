/** Where something stands in a text that comes in chunks. */

/** Counted from 1, columns in bytes. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface PlaceCounter {
  /** The place of a byte of this chunk. */
  readonly at: (index: number) => Place;
  /** The byte there ends a line. */
  readonly newLine: (index: number) => void;
  /** The next chunk comes. */
  readonly nextChunk: (bytesOfThis: number) => void;
}

export function createPlaceCounter(): PlaceCounter {
  let line = 1;
  /** Bytes before this chunk, and those before the first byte of this line. */
  let base = 0;
  let lineStart = 0;
  return {
    at: (index) => ({ line, column: base + index - lineStart + 1 }),
    newLine: (index) => {
      line += 1;
      lineStart = base + index + 1;
    },
    nextChunk: (bytesOfThis) => {
      base += bytesOfThis;
    },
  };
}
