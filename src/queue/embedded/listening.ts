/**
 * Where the embedded queue listens, and the listening itself.
 *
 * A unix socket in the data folder is protected by the rights of that folder. The kernel limits its path to about 104 bytes,
 * so for a long path the socket is in a private folder in the system's temporary folder. On Windows it is a loopback port.
 * Invariant: after `close` no connection is open, not even one whose last reply was being sent.
 */
import { chmodSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PatchbayError } from '#src/errors.ts';

/** Where the thread listens. Port 0 is any free port. */
export type ListenAt =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'port'; readonly host: string };

/** The longest path a socket may have, in bytes; macOS allows 103, Linux 107. */
const socketPathBytesMax = 100;

const socketFile = 'valkey.sock';
const loopback = '127.0.0.1';

export interface ListenPlace {
  readonly at: ListenAt;
  /** Removes the socket and its private folder. */
  tidyUp(): void;
}

/**
 * Chooses the place, and removes the socket that a killed process left there: no process listens on it, since the caller
 * holds the data folder's lock.
 * @throws PatchbayError `usage` `embeddedQueueFolder` if there is another file in its place.
 */
export function chooseListenPlace(folder: string, wanted: 'socket' | 'port'): ListenPlace {
  const port: ListenPlace = { at: { kind: 'port', host: loopback }, tidyUp: () => undefined };
  if (wanted === 'port' || process.platform === 'win32') return port;

  const path = join(folder, socketFile);
  if (fits(path)) {
    removeStaleSocket(path);
    return { at: { kind: 'socket', path }, tidyUp: () => rmSync(path, { force: true }) };
  }
  const privateFolder = join(tmpdir(), 'patchbay-');
  if (!fits(join(`${privateFolder}XXXXXX`, socketFile))) return port;
  const made = mkdtempSync(privateFolder); // Made with 0700.
  return {
    at: { kind: 'socket', path: join(made, socketFile) },
    tidyUp: () => rmSync(made, { recursive: true, force: true }),
  };
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= socketPathBytesMax;
}

function removeStaleSocket(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return;
  if (!entry.isSocket()) {
    throw new PatchbayError('usage', 'embeddedQueueFolder', `${path} is in the way of the embedded queue`, {
      facts: { path },
      hint: 'Move this file to another folder, and start again.',
    });
  }
  rmSync(path);
}

export interface ClientListener {
  /** The port in use; null on a socket. */
  readonly port: number | null;
  /** Whether any client is connected. */
  busy(): boolean;
  /** Closes the listener and all connections. Node removes the socket's file. */
  close(): void;
}

/** Connections that may wait while the thread is busy. */
const backlogMax = 4_096;

/** Resolves when clients can connect; rejects if the address cannot be used. `accept` is called for each client. */
export async function listenForClients(at: ListenAt, accept: (socket: Socket) => void): Promise<ClientListener> {
  const sockets = new Set<Socket>();
  // A client that has ended its side still gets its replies.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    accept(socket);
  });
  await listening(server, at);
  // From now on an error concerns one connection that could not be accepted; that client sees it itself.
  server.on('error', () => undefined);
  if (at.kind === 'socket') chmodSync(at.path, 0o600);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : null,
    busy: () => sockets.size > 0,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listening(server: Server, at: ListenAt): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(
      at.kind === 'socket'
        ? { path: at.path, backlog: backlogMax }
        : { host: at.host, port: 0, backlog: backlogMax, exclusive: true },
      () => {
        server.off('error', reject);
        resolve();
      },
    );
  });
}
