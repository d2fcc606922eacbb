/**
 * Reads the bytes of a request's body, under limits that are counted while reading.
 *
 * Requests with a body use application/json (section 4). What is answered otherwise is not shown in section 7:
 * 415 for another type or encoding, 413 for too many bytes.
 */
import type { IncomingMessage } from 'node:http';
import { badRequest, Refusal } from './refusal.ts';

export interface BodySource {
  readonly request: Request;
  /** The message behind the request; undefined where the app is called without a port. */
  readonly incoming: IncomingMessage | undefined;
}

/** Transfer chunks, as they come from the connection. A byte that comes alone costs five hundred: thousands of them mean no good. */
const chunksMax = 16_384;

/** Throws `Refusal` 413 or 415, and 400 where the client leaves in the middle. */
export async function readBodyBytes({ request, incoming }: BodySource, bytesMax: number): Promise<Uint8Array> {
  requireJsonType(request);
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > bytesMax) throw tooLarge(bytesMax);
  if (incoming !== undefined) return collect(incoming, bytesMax);
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
  return bytes;
}

/** Straight from the message: a stream of the web's around it costs more than the rest of a write. */
function collect(incoming: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.allocUnsafe(Math.min(bytesMax, 4096));
    let byteCount = 0;
    let chunkCount = 0;
    const settle = (act: () => void) => {
      incoming.off('data', take).off('end', finish).off('error', leave).off('close', leave);
      // What is left of the body is read and dropped until the connection ends.
      incoming.on('error', () => undefined).resume();
      act();
    };
    const take = (chunk: Buffer) => {
      chunkCount += 1;
      const total = byteCount + chunk.byteLength;
      if (total > bytesMax) return settle(() => reject(tooLarge(bytesMax)));
      if (chunkCount > chunksMax) return settle(() => reject(tooManyChunks()));
      if (total > bytes.byteLength) {
        const grown = Buffer.allocUnsafe(Math.min(bytesMax, Math.max(total, bytes.byteLength * 2)));
        bytes.copy(grown, 0, 0, byteCount);
        bytes = grown;
      }
      chunk.copy(bytes, byteCount);
      byteCount = total;
    };
    const finish = () => settle(() => resolve(bytes.subarray(0, byteCount)));
    // A client that leaves in the middle of its body is no failure of the service.
    const leave = () => settle(() => reject(new Refusal(400, 'The body broke off.')));
    incoming.on('data', take).once('end', finish).once('error', leave).once('close', leave);
  });
}

/** What is left of the body is not worth reading, so the connection is not kept. */
function tooLarge(bytesMax: number): Refusal {
  return new Refusal(413, `The body is larger than ${bytesMax} bytes.`, { headers: { connection: 'close' } });
}

function tooManyChunks(): Refusal {
  const message = `The body comes in more than ${chunksMax} transfer chunks. Send it in fewer, larger ones.`;
  return new Refusal(413, message, { headers: { connection: 'close' } });
}

function requireJsonType(request: Request): void {
  const contentType = request.headers.get('content-type') ?? '';
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const foreignCharset = parameters.some((one) => one.startsWith('charset=') && !/^charset="?utf-?8"?$/.test(one));
  if (type !== 'application/json' || foreignCharset) {
    throw new Refusal(415, 'The content type must be application/json in UTF-8.');
  }
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') throw new Refusal(415, 'The body must not be compressed.');
}

// Makes JSON of a body's bytes. Section 7, bodies that are no JSON: not shown. 400, also for JSON that is nested deeper
// than anything of the interface.

/** The deepest body of the interface has five levels. */
const depthMax = 32;

/** Throws `Refusal` 400 for bytes that are not UTF-8, text that is not JSON, and nesting beyond the limit. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (mayBeDeep(text) && depthOf(text) > depthMax) {
    throw badRequest([{ path: '', message: `The body is nested deeper than ${depthMax} levels.`, type: 'object' }]);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest([{ path: '', message: 'The body is not JSON.', type: 'object' }]);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest([{ path: '', message: 'The body is not UTF-8.', type: 'object' }]);
  }
}

/** Few brackets cannot nest deeply: most bodies need not be walked through. */
function mayBeDeep(text: string): boolean {
  let left = depthMax;
  for (const bracket of '{[') {
    // Ends: each turn finds a further bracket, or none.
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

const [quote, backslash, openObject, closeObject, openList, closeList] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

/** The deepest nesting of brackets outside of strings. Exact for JSON; for anything else the parser decides. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === backslash) at += 1;
      else if (character === quote) inString = false;
    } else if (character === quote) inString = true;
    else if (character === openObject || character === openList) deepest = Math.max(deepest, ++depth);
    else if (character === closeObject || character === closeList) depth -= 1;
  }
  return deepest;
}
