import type { Socket } from 'node:net';

/**
 * Endpoints: connections as the server inside the wasm sees them, which it reads, writes and closes by a descriptor.
 *
 * There are two kinds: the socket of a client, below, and an internal command that never leaves the thread
 * (`server-loop.ts`). Invariant: no method waits, and none calls back into the server.
 */
export interface Endpoint {
  /** Whether `read` would return bytes or the end. */
  readable(): boolean;
  /** Whether `write` would take at least one byte. */
  writable(): boolean;
  /** Fills `target` as far as possible. @returns the count of bytes; 0 at the end of the stream; `wouldBlock` without data yet. */
  read(target: Uint8Array): number;
  /** Copies all of `bytes`, or nothing. @returns their count, or `wouldBlock` while too much is unsent. */
  write(bytes: Uint8Array): number;
  /** Bytes written before are still delivered. */
  close(): void;
}

/** The return value for "not now": the server calls again once `poll` reports it as ready. */
export const wouldBlock = -1;

/** A socket with more unread bytes than this is paused. */
const unreadBytesMax = 1024 * 1024;
/** With more unsent bytes than this, the server keeps its replies to itself. */
const unsentBytesMax = 1024 * 1024;
/** How long a closed connection may take to receive its last reply. */
const lastReplyTimeoutMs = 5_000;

/**
 * A client's socket. Unread bytes are bounded by pausing it, unsent bytes by refusing more. A dead socket never blocks the
 * server: it reads as ended and discards what is written, so that the server closes it in its own time.
 *
 * @param wake called when the server may have something to do.
 */
export function socketEndpoint(socket: Socket, wake: () => void): Endpoint {
  const chunks: Buffer[] = [];
  let unreadBytes = 0;
  let headOffset = 0;
  let peerEnded = false;
  // `destroyed` is true before the event `close`.
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
