/**
 * A real client's socket as an endpoint, with limits in both directions.
 *
 * Bytes that the server has not read yet are bounded by pausing the socket; bytes that the client has not fetched yet
 * are bounded by refusing to take more. Invariant: a dead socket never blocks the server; it reads as ended and
 * swallows what is written, so the server closes it in its own time.
 */
import type { Socket } from 'node:net';
import { type Endpoint, wouldBlock } from './endpoint.ts';

/** A socket with more unread bytes than this is paused. */
export const unreadBytesMax = 1024 * 1024;
/** With more unsent bytes than this, the server keeps its replies to itself. */
export const unsentBytesMax = 1024 * 1024;
/** How long a closed connection may take to fetch its last reply. */
const lastReplyTimeoutMs = 5_000;

/** Wraps a socket that was just accepted. `wake` is called whenever the server may have something to do. */
export function socketEndpoint(socket: Socket, wake: () => void): Endpoint {
  const chunks: Buffer[] = [];
  let unreadBytes = 0;
  let headOffset = 0;
  let peerEnded = false;
  // `destroyed` is true before its event comes.
  const over = () => peerEnded || socket.destroyed;

  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    unreadBytes += chunk.length;
    if (unreadBytes > unreadBytesMax) socket.pause();
    wake();
  });
  const end = () => {
    peerEnded = true;
    wake();
  };
  socket.on('end', end);
  socket.on('close', end);
  // An error is always followed by `close`; without a listener it would end the thread.
  socket.on('error', end);
  socket.on('drain', wake);
  socket.setNoDelay(true);

  return {
    readable: () => chunks.length > 0 || over(),
    writable: () => socket.destroyed || socket.writableLength < unsentBytesMax,
    read(target) {
      let filled = 0;
      // Ends: each turn fills the target or uses up a chunk.
      while (filled < target.length) {
        const head = chunks[0];
        if (head === undefined) break;
        const count = head.copy(target, filled, headOffset);
        filled += count;
        headOffset += count;
        if (headOffset === head.length) {
          chunks.shift();
          headOffset = 0;
        }
      }
      unreadBytes -= filled;
      if (socket.isPaused() && unreadBytes <= unreadBytesMax / 2) socket.resume();
      if (filled > 0) return filled;
      return over() ? 0 : wouldBlock;
    },
    write(bytes) {
      if (socket.destroyed) return bytes.length;
      if (socket.writableLength >= unsentBytesMax) return wouldBlock;
      // A copy: the memory of the wasm is reused as soon as this returns.
      socket.write(Buffer.from(bytes));
      return bytes.length;
    },
    close() {
      chunks.length = 0;
      socket.setTimeout(lastReplyTimeoutMs, () => socket.destroy());
      socket.destroySoon();
    },
  };
}
