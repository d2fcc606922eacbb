import type { Socket } from 'node:net';

/**
 * One connection as the server inside the wasm sees it: a thing with a descriptor that it reads, writes and closes.
 *
 * Two kinds exist: a socket of a real client (`socket-endpoint.ts`) and a command of our own that never leaves the
 * thread (`control-command.ts`). Invariant: no method ever waits and no method calls back into the server.
 */
export interface Endpoint {
  /** Whether `read` would return bytes or the end. */
  readable(): boolean;
  /** Whether `write` would take at least one byte. */
  writable(): boolean;
  /** Fills `target` as far as it can. The count of bytes, 0 at the end of the stream, `wouldBlock` with nothing there yet. */
  read(target: Uint8Array): number;
  /** Takes a copy of `bytes`, whole or not at all. Their count, or `wouldBlock` while too much is unsent. */
  write(bytes: Uint8Array): number;
  /** The server is done with it. Bytes taken before are still delivered. */
  close(): void;
}

/** What a host function returns for "not now": the server asks again once `poll` says it is ready. */
export const wouldBlock = -1;

// A real client's socket as an endpoint, with limits in both directions.
//
// Bytes that the server has not read yet are bounded by pausing the socket; bytes that the client has not fetched yet
// are bounded by refusing to take more. Invariant: a dead socket never blocks the server; it reads as ended and
// swallows what is written, so the server closes it in its own time.

/** A socket with more unread bytes than this is paused. */
const unreadBytesMax = 1024 * 1024;
/** With more unsent bytes than this, the server keeps its replies to itself. */
const unsentBytesMax = 1024 * 1024;
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
