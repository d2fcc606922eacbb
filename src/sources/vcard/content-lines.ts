/**
 * vCard text to *content lines*: one property each, put together from the physical lines over which it is folded.
 *
 * A physical line that begins with a space or tab continues the line before it. In quoted-printable text, a `=` at the
 * end of a physical line does the same. Photos, logos, sounds and keys are skipped as they come, as is all in base64 that is no
 * text of a contact: of each only its beginning is kept, however long it is.
 *
 * Invariants: the content lines are the same however the text is cut into chunks. At most one content line is held back,
 * and never more of it than `recordBytesMax`.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { isLongerThan } from '#src/sources/row.ts';

export interface ContentLine {
  /** The physical lines without their line ends. All but the first keep the space or tab that folds them. */
  readonly parts: readonly string[];
  /** The physical line on which it begins, from 1. */
  readonly line: number;
  /** Its value was not kept. */
  readonly isSkipped: boolean;
}

interface ContentLines {
  /** Takes the next piece of text; yields the content lines that it completes. @throws PatchbayError `file` `recordTooLong`. */
  push(text: string): Generator<ContentLine>;
  /** The text has ended; yields the last content lines. @throws PatchbayError `file` `recordTooLong`. */
  end(): Generator<ContentLine>;
}

/** The beginning of a line decides whether it is skipped. */
const beginningChars = 4096;

const skippedName = /^(?:[\w-]+\.)?(?:PHOTO|LOGO|SOUND|KEY|AGENT)(?=[;:])/i;
export const base64Encoding = /^[^:]*;(?:ENCODING="?(?:B|BASE64)"?|BASE64)(?=[;:])/i;
/** Some programs write these in base64, where they have letters beyond ASCII. Others that do, such as notes, are left out as photos are: no contact has them. */
const textName = /^(?:[\w-]+\.)?(?:N|FN|ORG|TITLE|ROLE|NICKNAME|ADR|TEL|EMAIL|UID|X-ABLABEL)(?=[;:])/i;
const quotedPrintable = /^[^:]*;(?:ENCODING=)?"?QUOTED-PRINTABLE"?(?=[;:])/i;
/** The label of its owner's, as Android writes it: it is folded as a value in quoted-printable is. */
export const quotedPrintableLabel = /;(?:TYPE=)?"?X-CUSTOM\((?:CHARSET=[^,:;]*,)?ENCODING=QUOTED-PRINTABLE,/i;
/** vCard 2.1 does not always fold base64. A property has a colon, so it is never taken for base64. */
const base64Line = /^[A-Za-z0-9+/=]+$/;
const cardEnd = /^\s*END:VCARD\s*$/i;

interface OpenLine extends ContentLine {
  readonly parts: string[];
  readonly isQuotedPrintable: boolean;
  readonly isBase64: boolean;
  bytes: number;
}

export function createContentLines(name: string, recordBytesMax: number): ContentLines {
  let open: OpenLine | null = null;
  let lineNumber = 1;
  /** The beginning of the open physical line, from earlier chunks. */
  let held = '';
  /** More of the open physical line was skipped than is held. */
  let isCut = false;
  let afterReturn = false;

  const takeLine = function* (text: string): Generator<ContentLine> {
    if (open !== null && continues(open, text)) {
      if (!open.isSkipped) {
        open.parts.push(text);
        open.bytes += Buffer.byteLength(text);
        if (open.bytes > recordBytesMax) throw recordTooLong(name, open.line, recordBytesMax);
      }
      return;
    }
    if (open !== null) yield open;
    open = null;
    if (text === '') return;
    const isSkipped = isSkippedLine(text);
    if (!isSkipped && isLongerThan(text, recordBytesMax)) throw recordTooLong(name, lineNumber, recordBytesMax);
    open = {
      line: lineNumber,
      parts: [isSkipped ? text.slice(0, beginningChars) : text],
      isSkipped,
      isQuotedPrintable: [quotedPrintable, quotedPrintableLabel].some((one) => one.test(text.slice(0, beginningChars))),
      isBase64: base64Encoding.test(text.slice(0, beginningChars)),
      bytes: Buffer.byteLength(text),
    };
  };

  /** Adds to the open physical line what a chunk holds of it; keeps no more than is needed. */
  const hold = (text: string): void => {
    if (isCut) return;
    held += text;
    if (held.length <= beginningChars) return;
    if (open !== null && continues(open, held) ? open.isSkipped : isSkippedLine(held)) {
      held = held.slice(0, beginningChars);
      isCut = true;
    } else if (held.length > recordBytesMax) {
      throw recordTooLong(name, open !== null && continues(open, held) ? open.line : lineNumber, recordBytesMax);
    }
  };

  return {
    push: function* (text) {
      let start = afterReturn && text.startsWith('\n') ? 1 : 0;
      if (text !== '') afterReturn = text.endsWith('\r');
      // Each turn takes one physical line of the text.
      for (let end = lineEndFrom(text, start); end >= 0; end = lineEndFrom(text, start)) {
        hold(text.slice(start, end));
        const line = held;
        held = '';
        isCut = false;
        yield* takeLine(line);
        lineNumber += 1;
        start = text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1;
      }
      hold(text.slice(start));
    },
    end: function* () {
      yield* takeLine(held);
      if (open !== null) yield open;
    },
  };
}

const lineEnd = /[\r\n]/g;

/** The index of the next CR or LF, or -1. */
function lineEndFrom(text: string, start: number): number {
  lineEnd.lastIndex = start;
  return lineEnd.exec(text)?.index ?? -1;
}

function continues(open: OpenLine, text: string): boolean {
  if (open.isQuotedPrintable && open.parts.at(-1)?.endsWith('=')) return !cardEnd.test(text);
  if (text.startsWith(' ') || text.startsWith('\t')) return true;
  return (open.isSkipped || open.isBase64) && base64Line.test(text.slice(0, beginningChars));
}

function isSkippedLine(text: string): boolean {
  const beginning = text.slice(0, beginningChars);
  return skippedName.test(beginning) || (base64Encoding.test(beginning) && !textName.test(beginning));
}

function recordTooLong(name: string, line: number, recordBytesMax: number): PatchbayError {
  const message = `${name}, line ${line}: the line is longer than ${recordBytesMax} bytes, with those that continue it`;
  const hint = 'Leave long texts out of the export.';
  return fileError('recordTooLong', message, { file: name, line, recordBytesMax }, hint);
}

// Some programs fold a vCard's lines after 75 bytes, in the middle of a character of UTF-8. Such a file is no valid UTF-8,
// and each of its letters beyond ASCII would be read wrong. Here the rest of the character is moved before the fold.
//
// Invariants: no byte is lost or added, lines keep their numbers, and the bytes are the same wherever they are cut.

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
/** As far as bytes around a line end are looked at: a character without its last byte, CR, LF, a space, three bytes. */
const lookedAtBytes = 9;

export async function* joinTornCharacters(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let carry: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const piece = Buffer.concat([carry, chunk]);
    join(piece);
    const cut = Math.max(0, piece.length - lookedAtBytes);
    if (cut > 0) yield piece.subarray(0, cut);
    carry = piece.subarray(cut);
  }
  if (carry.length > 0) yield carry;
}

/** What is done once is not changed by doing it again. Old Mac files have carriage returns only. */
function join(bytes: Buffer): void {
  joinAt(bytes, lineFeed);
  joinAt(bytes, carriageReturn);
}

/** Each turn goes to the next line end. A carriage return before a line feed has no space behind it. */
function joinAt(bytes: Buffer, end: typeof lineFeed | typeof carriageReturn): void {
  for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, at + 1)) {
    const after = bytes[at + 1];
    if ((after !== space && after !== tab) || !isContinuation(bytes[at + 2])) continue;
    const fold = end === lineFeed && bytes[at - 1] === carriageReturn ? at - 1 : at;
    const missing = missingBytes(bytes, fold);
    const rest = bytes.subarray(at + 2, at + 2 + missing);
    if (missing === 0 || rest.length < missing || !rest.every(isContinuation)) continue;
    bytes.set(Buffer.concat([rest, bytes.subarray(fold, at + 2)]), fold);
  }
}

/** How many bytes the character that ends before `end` still needs: 0 to 3. */
function missingBytes(bytes: Buffer, end: number): number {
  for (let back = 1; back <= Math.min(3, end); back++) {
    const byte = bytes[end - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return Math.max(0, needed - back);
  }
  return 0;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
