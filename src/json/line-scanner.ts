/** Cuts bytes into lines (LF, CR, CRLF, in any mixture), for JSON with one value per line, where a line end is never data. */
import { JsonError } from './place.ts';
import { lineFeed } from './value-scanner.ts';

const carriageReturn = 0x0d;

interface LineScanner {
  /** The memory must not change before the next line has ended. @throws JsonError `tooLong`, and what `onLine` throws. */
  readonly write: (bytes: Uint8Array) => void;
  /** Gives the last line where no line end closes it. */
  readonly end: () => void;
}

/** `onLine` gets each line without its end; lines count from 1. */
export function createLineScanner(
  onLine: (bytes: Uint8Array, line: number) => void,
  lineBytesMax: number,
): LineScanner {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let line = 1;
  let afterReturn = false;

  const hold = (piece: Uint8Array): void => {
    heldBytes += piece.length;
    if (heldBytes > lineBytesMax) {
      throw new JsonError('tooLong', `a line is longer than ${lineBytesMax} bytes`, { line, column: 1 });
    }
    held.push(piece);
  };
  const give = (): void => {
    const [first] = held;
    const bytes = held.length === 1 && first !== undefined ? first : Buffer.concat(held);
    held = [];
    heldBytes = 0;
    onLine(bytes, line);
    line += 1;
  };
  return {
    write: (bytes) => {
      let start = 0;
      // Ends with the chunk: each turn goes past one line end.
      while (start < bytes.length) {
        const end = lineEnd(bytes, start);
        const byte = bytes[end];
        // An LF right behind a CR belongs to it.
        const isSecondHalf = byte === lineFeed && end === start && afterReturn;
        afterReturn = byte === carriageReturn;
        if (end > start || byte === undefined) hold(bytes.subarray(start, end));
        if (byte !== undefined && !isSecondHalf) give();
        start = end + 1;
      }
    },
    end: () => {
      if (heldBytes > 0) give();
    },
  };
}

/** The index of the next line end, or the length where there is none. */
function lineEnd(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let index = start;
  for (; index < length; index += 1) {
    const byte = bytes[index];
    if (byte === lineFeed || byte === carriageReturn) break;
  }
  return index;
}
