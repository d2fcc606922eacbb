/**
 * What a server sends on a connection beyond the length that it declared. A `Content-Length` that counts characters instead of bytes ends the
 * body a little before its end: the HTTP client stops there, and the last values of the file would be cut. Only the connection shows it.
 *
 * It is found as far as it was read together with the end of the body, which a server commonly sends in one piece. White space is no surplus: some
 * servers end every body with a line break of their own.
 */
import type { Socket } from 'node:net';

/** Counts what one connection brings, from the time when it is open. */
export interface BytesSeen {
  /** Whether more than white space has come behind the body of the one answer. @param bodyBytes its declared length. */
  hasSurplus(bodyBytes: number): boolean;
}

/** More than the headers that the client accepts. */
const headBytesMax = 64 * 1_024;
/** What is kept of the end: a surplus may be longer. */
const tailBytesMax = 4 * 1_024;
const headEnd = '\r\n\r\n';

/** Sees each chunk that is read from the socket; one that is put back and read again counts once. */
export function watchBytes(socket: Socket): BytesSeen {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  /** Where the client reads, and how far it has read: in bytes from the start. */
  let [at, seen] = [0, 0];
  const see = (chunk: Buffer): void => {
    at += chunk.length;
    if (at <= seen) return;
    const fresh = chunk.subarray(chunk.length - (at - seen));
    seen = at;
    if (head.length < headBytesMax) head = Buffer.concat([head, fresh.subarray(0, headBytesMax - head.length)]);
    tail = Buffer.from(Buffer.concat([tail, fresh.subarray(-tailBytesMax)]).subarray(-tailBytesMax));
  };
  const [read, unshift] = [socket.read.bind(socket), socket.unshift.bind(socket)];
  socket.read = (size?: number) => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk)) see(chunk);
    return chunk;
  };
  socket.unshift = (chunk: Buffer, encoding?: BufferEncoding) => {
    at -= chunk.length;
    unshift(chunk, encoding);
  };
  return {
    hasSurplus: (bodyBytes) => {
      const headBytes = headBytesOf(head);
      const surplus = headBytes === null ? 0 : seen - headBytes - bodyBytes;
      return surplus > 0 && tail.subarray(-surplus).some((byte) => byte > 0x20);
    },
  };
}

/** The length of the headers, with those of answers that only announce the one (`103 Early Hints`); null where their end is not known. */
function headBytesOf(head: Buffer): number | null {
  let from = 0;
  // Ends: each turn begins behind the headers of the one before.
  for (;;) {
    const end = head.indexOf(headEnd, from);
    if (end < 0) return null;
    const isInterim = /^HTTP\/1\.\d 1\d\d/.test(head.subarray(from, end).toString('latin1'));
    from = end + headEnd.length;
    if (!isInterim) return from;
  }
}
