/**
 * What to answer where the HTTP parser gave up, or its time ran out (section 7: not shown). Node's own answers have
 * no body; these have the flat shape.
 */
import { Refusal } from './refusal.ts';

export interface ParserError extends Error {
  readonly code?: string;
  /** What came in the piece that could not be read. */
  readonly rawPacket?: Uint8Array;
  /** How much of it could be read. */
  readonly bytesParsed?: number;
}

/** Null: nobody is there any more to be answered. */
export function refusalOfParserError(error: ParserError): Refusal | null {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ECONNABORTED':
      return null;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal(408, 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(431, 'The request line and its headers are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Refusal(413, 'The extensions of a chunk are too large.');
    case 'HPE_INVALID_VERSION':
      return unspokenVersion();
    case 'HPE_INVALID_METHOD':
      return namesMethod(error) ? new Refusal(501, 'There is no such method.') : new Refusal(400, 'This is not HTTP.');
    default:
      return new Refusal(400, 'The request is not well-formed HTTP.');
  }
}

/** The parser lets a few versions pass that nobody speaks on a plain socket, as 2.0. */
export function unspokenVersion(): Refusal {
  return new Refusal(505, 'This version of HTTP is not spoken here. Use HTTP/1.1.');
}

/** Whether it is a request line at all, with a method that the parser does not know. */
function namesMethod({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const methodBytesMax = 32;
  const lineBytesMax = 1024;
  // Further in, what the piece begins with is not what could not be read.
  if (rawPacket === undefined || bytesParsed > methodBytesMax) return false;
  const start = Buffer.from(rawPacket.subarray(0, lineBytesMax)).toString('latin1');
  return /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]\r?\n/.test(start);
}
