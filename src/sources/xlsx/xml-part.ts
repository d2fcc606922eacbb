/**
 * One XML part of a workbook, as a stream of elements with their text.
 *
 * Invariants: no document type is accepted, so no entity of the file's own is ever expanded; depth, and the length of one text
 * or tag, are bounded, so memory stays flat whatever the part holds.
 */
import { SaxesParser } from 'saxes';
import { fileError, messageOf, PatchbayError } from '#src/errors.ts';

/** By name, prefix included; an object without a prototype. */
export type Attributes = Readonly<Record<string, string>>;

export interface PartHandler {
  /** Names of elements are without a prefix. */
  onStart(element: string, attributes: Attributes): void;
  onText(text: string): void;
  onEnd(element: string): void;
}

const depthMax = 64;
/** One text or tag. Excel allows 32,767 characters in a cell. */
const tokenCharsMax = 4 * 1024 * 1024;
/** The XML parser keeps a token together; it is given no more at once. */
const pieceChars = 64 * 1024;

/**
 * Feeds the part to the handler, chunk by chunk, and gives control back after each chunk.
 * Throws PatchbayError `file` `xlsxDamaged`, and what `bytes` throws.
 */
export async function* parsePart(
  bytes: AsyncGenerator<Buffer>,
  place: { readonly file: string; readonly part: string },
  handler: PartHandler,
): AsyncGenerator<void> {
  const parser = createParser(handler);
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  try {
    for await (const chunk of bytes) {
      decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true });
      const text = decoder.decode(chunk, { stream: true });
      for (let start = 0; start < text.length; start += pieceChars) parser.write(text.slice(start, start + pieceChars));
      yield;
    }
    parser.write(decoder?.decode() ?? '');
    parser.close();
    yield;
  } catch (error) {
    throw error instanceof PatchbayError ? error : damagedPart(place, error);
  } finally {
    await bytes.return(undefined);
  }
}

/** Reads a part to its end. */
export async function readPart(part: AsyncGenerator<void>): Promise<void> {
  for await (const _chunk of part);
}

function createParser(handler: PartHandler): { write(text: string): void; close(): void } {
  const parser = new SaxesParser<{ position: false; xmlns: false }>({ position: false, xmlns: false });
  let depth = 0;
  let sinceToken = 0;
  parser.on('opentag', ({ name, attributes }) => {
    sinceToken = 0;
    depth++;
    if (depth > depthMax) throw new Error(`elements inside each other more than ${depthMax} deep`);
    handler.onStart(withoutPrefix(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    sinceToken = 0;
    depth--;
    handler.onEnd(withoutPrefix(name));
  });
  const takeText = (text: string): void => {
    sinceToken = 0;
    handler.onText(text);
  };
  parser.on('text', takeText);
  parser.on('cdata', takeText);
  parser.on('comment', () => {
    sinceToken = 0;
  });
  parser.on('doctype', () => {
    throw new Error('it declares a document type, as no workbook does');
  });
  parser.on('error', (error) => {
    throw error;
  });
  return {
    write: (text) => {
      sinceToken += text.length;
      parser.write(text);
      if (sinceToken > tokenCharsMax) throw new Error(`a text or tag is longer than ${tokenCharsMax} characters`);
    },
    close: () => void parser.close(),
  };
}

function withoutPrefix(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

/** The part in UTF-8, for who looks for elements in its bytes; what cannot be decoded is replaced. */
export async function* inUtf8(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let encoding: string | null = null;
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  for await (const chunk of bytes) {
    encoding ??= encodingOf(chunk);
    if (encoding === 'utf-8') yield chunk;
    else {
      decoder ??= new TextDecoder(encoding);
      yield Buffer.from(decoder.decode(chunk, { stream: true }));
    }
  }
}

/** XML is UTF-8 unless its first bytes say otherwise. */
function encodingOf(start: Uint8Array): string {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  if (start[0] === 0x3c && start[1] === 0) return 'utf-16le';
  return start[0] === 0 && start[1] === 0x3c ? 'utf-16be' : 'utf-8';
}

function damagedPart({ file, part }: { file: string; part: string }, error: unknown): PatchbayError {
  const message = `${file} is a damaged workbook: ${part}: ${messageOf(error).slice(0, 200).toWellFormed()}`;
  const hint = 'Open it in the spreadsheet program, save it again, and drop the new file.';
  return fileError('xlsxDamaged', message, { file, part }, hint, error);
}
