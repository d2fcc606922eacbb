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
