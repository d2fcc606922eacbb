/** Where something is in JSON text, and the error that says what is wrong there. */

/** Both from 1; columns count UTF-8 bytes. CR, LF and CRLF each end one line. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * - `syntax`: the text is not JSON.
 * - `notUtf8`: the bytes are not UTF-8.
 * - `tooLong`, `tooDeep`: a limit of the scanner is exceeded. The place of `tooLong` is where the value begins.
 * - `refused`: the text is JSON, but the caller cannot use what it holds.
 */
type JsonErrorKind = 'syntax' | 'notUtf8' | 'tooLong' | 'tooDeep' | 'refused';

/** For the caller alone, who adds the name of the file and decides whether one record is broken or the whole file. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly kind: JsonErrorKind;
  readonly place: Place;
  /** The character that JSON does not allow there, or `NaN` or `Infinity`; null where the text ends, and for other kinds of error. */
  readonly found: string | null;

  constructor(kind: JsonErrorKind, message: string, place: Place, found: string | null = null) {
    super(message);
    this.kind = kind;
    this.place = place;
    this.found = found;
  }
}

/** `found` is null where the text ends; `expected` is null inside a string, a number or a word. */
export function syntaxError(found: string | null, expected: string | null, place: Place): JsonError {
  if (found === null) return new JsonError('syntax', 'the text ends in the middle of a value', place);
  const shown = JSON.stringify(found);
  const message = expected === null ? `unexpected ${shown}` : `expected ${expected}, found ${shown}`;
  return new JsonError('syntax', message, place, found);
}

/** The place of a character of `text`, which begins at `start`. */
export function placeIn(text: string, index: number, start: Place): Place {
  const before = text.slice(0, index);
  const lines = before.split(/\r\n|\r|\n/);
  const bytes = Buffer.byteLength(lines.at(-1) ?? '');
  const isFirst = lines.length === 1;
  return { line: start.line + lines.length - 1, column: (isFirst ? start.column : 1) + bytes };
}

export interface PlaceCounter {
  /** The place of a byte of this chunk. All line ends before it must have been noted. */
  readonly at: (index: number) => Place;
  /** Notes that the byte there, in this chunk, is a CR or an LF. Other bytes are ignored. */
  readonly note: (byte: number, index: number) => void;
  readonly nextChunk: (bytesOfThis: number) => void;
}

export function createPlaceCounter(): PlaceCounter {
  let line = 1;
  /** The bytes before this chunk, and those before the first byte of this line. */
  let base = 0;
  let lineStart = 0;
  /** Behind the last CR: an LF there belongs to it. */
  let afterReturn = -1;
  return {
    at: (index) => ({ line, column: base + index - lineStart + 1 }),
    note: (byte, index) => {
      const at = base + index;
      if (byte !== 0x0a && byte !== 0x0d) return;
      if (byte === 0x0d || at !== afterReturn) line += 1;
      if (byte === 0x0d) afterReturn = at + 1;
      lineStart = at + 1;
    },
    nextChunk: (bytesOfThis) => {
      base += bytesOfThis;
    },
  };
}
