/**
 * JSON text to tokens, with the physical line of each, over the streaming tokenizer of @streamparser/json.
 *
 * Only its tokenizer is used: what the tokens mean is decided in json-value.ts, where numbers keep their digits and
 * objects have no prototype.
 */
import { Tokenizer, TokenType } from '@streamparser/json';
import { messageOf, PatchbayError } from '#src/errors.ts';

export { TokenType };

export interface JsonToken {
  readonly type: TokenType;
  readonly value: string | number | boolean | null;
  /** For a number: as the file writes it. */
  readonly source: string;
  readonly line: number;
  /** Where it begins, in UTF-8 bytes from the start of the text. */
  readonly offset: number;
}

/** The text is not JSON. Internal: becomes a broken row or a file error. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export function unexpectedEnd(line: number): JsonSyntaxError {
  return new JsonSyntaxError('the text ends in the middle of a value', line);
}

export interface JsonTokens {
  /** Calls `onToken` for each token that is complete. Throws JsonSyntaxError, and what `onToken` throws. */
  write(text: string): void;
  /** Throws JsonSyntaxError where the text ends inside a token. */
  end(): void;
  /** UTF-8 bytes taken so far. */
  byteCount(): number;
  /** The physical line of the last byte taken. */
  line(): number;
}

/** `firstLine` is the line of the file on which the text begins. */
export function createJsonTokens(onToken: (token: JsonToken) => void, firstLine = 1): JsonTokens {
  const tokenizer = new NumberKeepingTokenizer();
  const encoder = new TextEncoder();
  const lines = createLineFinder(firstLine);
  let byteCount = 0;
  tokenizer.onToken = ({ token, value, offset }) => {
    onToken({ type: token, value, source: tokenizer.numberSource, line: lines.lineAt(offset), offset });
  };
  const explained = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (error instanceof PatchbayError || error instanceof JsonSyntaxError) throw error;
      throw syntaxError(error, lines, byteCount);
    }
  };
  return {
    write: (text) => {
      const bytes = encoder.encode(text);
      lines.begin(bytes, byteCount);
      byteCount += bytes.length;
      explained(() => tokenizer.write(bytes));
      lines.lineAt(byteCount);
    },
    end: () => explained(() => tokenizer.end()),
    byteCount: () => byteCount,
    line: () => lines.lineAt(byteCount),
  };
}

/** Keeps the digits of the last number, which a JavaScript number cannot hold, and every U+FEFF inside strings. */
class NumberKeepingTokenizer extends Tokenizer {
  numberSource = '';

  constructor() {
    super();
    // The tokenizer decodes strings piece by piece and takes a U+FEFF that begins a piece for a BOM: it would vanish
    // from the data. Its own decoder is not to be set from outside otherwise; a test in read-json.test.ts watches this.
    const strings: unknown = Reflect.get(this, 'bufferedString');
    if (strings instanceof Object)
      Reflect.set(strings, 'decoder', new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }));
  }

  protected override parseNumber(text: string): number {
    this.numberSource = text;
    return Number(text);
  }
}

/** The tokenizer names the byte at which it stumbled; people want line and column. */
function syntaxError(error: unknown, lines: LineFinder, byteCount: number): JsonSyntaxError {
  const message = messageOf(error);
  const stumble = /^Unexpected "(.*?)" at .*absolute position "(\d+)"/s.exec(message);
  const character = stumble?.[1] ?? '';
  if (stumble === null) return unexpectedEnd(lines.lineAt(byteCount));
  const offset = Number(stumble[2]);
  const line = lines.lineAt(offset);
  // It names a byte: of a character beyond ASCII that would be a wrong one.
  const shown = character < '\u0080' ? JSON.stringify(character) : 'character';
  return new JsonSyntaxError(`unexpected ${shown} at column ${lines.columnAt(offset)}`, line);
}

interface LineFinder {
  /** A new piece of the text, which begins at byte `offset`. */
  begin(bytes: Uint8Array, offset: number): void;
  /** The line of a byte of this piece. Offsets may only grow. */
  lineAt(offset: number): number;
  columnAt(offset: number): number;
}

/** Counts LF, CR and CRLF as one line end each. Each byte is looked at once. */
function createLineFinder(firstLine: number): LineFinder {
  let bytes: Uint8Array = new Uint8Array(0);
  let base = 0;
  let position = 0;
  let line = firstLine;
  let lineStart = 0;
  let afterReturn = false;
  return {
    begin: (piece, offset) => {
      bytes = piece;
      base = offset;
      position = offset;
    },
    lineAt: (offset) => {
      const end = Math.min(offset, base + bytes.length);
      for (; position < end; position++) {
        const byte = bytes[position - base];
        if (byte === 0x0d || (byte === 0x0a && !afterReturn)) line++;
        if (byte === 0x0d || byte === 0x0a) lineStart = position + 1;
        afterReturn = byte === 0x0d;
      }
      return line;
    },
    columnAt: (offset) => offset - lineStart + 1,
  };
}
