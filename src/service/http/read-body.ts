/**
 * Reads a request's body: its bytes under a limit that is counted while reading, then JSON of limited depth.
 *
 * Requests with a body use application/json (section 4). What is answered otherwise is not shown in section 7:
 * 415 for another type or encoding, 413 for too many bytes, 400 for text that is not JSON.
 */
import { badRequest, Refusal } from './refusal.ts';

/** The deepest body of the interface has five levels. */
const depthMax = 32;

/** Throws `Refusal` 413 or 415. */
export async function readBodyBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  requireJsonType(request);
  const tooLarge = () =>
    // What is left of the body is not worth reading, so the connection is not kept.
    new Refusal(413, `The body is larger than ${bytesMax} bytes.`, { headers: { connection: 'close' } });
  const announced = request.headers.get('content-length');
  if (announced !== null && Number(announced) > bytesMax) throw tooLarge();
  try {
    // The HTTP parser holds a body to its announced length: it can be read in one piece.
    if (announced !== null) return new Uint8Array(await request.arrayBuffer());
    return await readCounted(request, bytesMax, tooLarge);
  } catch (error) {
    // A client that leaves in the middle of its body is no failure of the service.
    throw error instanceof Refusal ? error : new Refusal(400, 'The body broke off.');
  }
}

async function readCounted(request: Request, bytesMax: number, tooLarge: () => Refusal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  const reader = request.body?.getReader();
  // Ends with the body, or at the limit.
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    byteCount += value.byteLength;
    if (byteCount > bytesMax) throw tooLarge();
    chunks.push(value);
  }
  return Buffer.concat(chunks, byteCount);
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

/** Throws `Refusal` 400 for bytes that are not UTF-8, text that is not JSON, and nesting beyond the limit. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (depthOf(text) > depthMax) {
    throw badRequest([{ path: '', message: `nested deeper than ${depthMax} levels`, type: 'object' }]);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest([{ path: '', message: 'not JSON', type: 'object' }]);
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest([{ path: '', message: 'not UTF-8', type: 'object' }]);
  }
}

/** The deepest nesting of brackets outside of strings. Exact for JSON; for anything else the parser decides. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}
