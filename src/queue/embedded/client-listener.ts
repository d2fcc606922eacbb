/**
 * The real listening: a unix socket or a loopback port, and every connection that came in by it.
 *
 * Invariant: after `close` no connection is open, not even one whose last reply was still on its way.
 */
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { ListenAt } from './thread-messages.ts';

export interface ClientListener {
  /** The port that was taken, or null on a socket. */
  readonly port: number | null;
  /** Whether any client is connected. */
  busy(): boolean;
  /** Takes no new connections and drops all there are. Node removes the socket's file. */
  close(): void;
}

/** Connections that may wait for the thread while it is busy. */
const backlogMax = 4_096;

/** Resolves when clients can connect, rejects when the address can't be taken. `accept` is called for each client. */
export async function listenForClients(at: ListenAt, accept: (socket: Socket) => void): Promise<ClientListener> {
  const sockets = new Set<Socket>();
  // Half-open: a client that has ended its side still gets its replies.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    accept(socket);
  });
  await listening(server, at);
  // Once it listens, an error concerns one connection that could not be accepted; that client sees it itself.
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
