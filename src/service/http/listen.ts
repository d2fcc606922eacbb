/**
 * The listening server, with limits in place of Node's generous defaults (`toolchain.md`, "HTTP").
 *
 * Whoever listens, closes: `close` ends idle and hanging connections alike.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { invariant, messageOf, PatchbayError } from '#src/errors.ts';

const limits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  connectionCheckMs: 1_000,
  keepAliveMs: 5_000,
  /** Twenty ids of 75 characters, percent-encoded, fit into it. */
  headerBytesMax: 32 * 1024,
  connectionsMax: 1_000,
} as const;

export interface Listening {
  readonly port: number;
  readonly close: () => Promise<void>;
}

type FetchCallback = Parameters<typeof getRequestListener>[0];

/** Throws a `usage` error: `portTaken`, or `portRefused` for any other reason. */
export async function listen(fetch: FetchCallback, host: string, port: number): Promise<Listening> {
  // The globals stay as they are: the process may hold a client as well.
  const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.connectionCheckMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.headerBytesMax,
    },
    (incoming, outgoing) => {
      if (hostCountOf(incoming) > 1) refuseSecondHost(outgoing);
      // The listener answers its own failures; its promise never rejects.
      else void answer(incoming, outgoing);
    },
  );
  server.maxConnections = limits.connectionsMax;
  await bind(server, host, port);
  const address = server.address();
  invariant(address !== null && typeof address === 'object', 'a listening server has an address');
  return { port: (address satisfies AddressInfo).port, close: () => closeServer(server) };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)));
    server.listen({ host, port }, resolve);
  });
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): PatchbayError {
  const facts = { host, port };
  if (cause.code === 'EADDRINUSE') {
    return new PatchbayError('usage', 'portTaken', `port ${port} on ${host} is in use by another program`, {
      facts,
      hint: 'Choose another port, or port 0 for a free one.',
      cause,
    });
  }
  return new PatchbayError('usage', 'portRefused', `cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
    facts,
    hint: 'Choose a port above 1023 and an address of this machine.',
    cause,
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Two Host headers are two opinions on who is meant: Node would take the first in silence. */
function hostCountOf(incoming: IncomingMessage): number {
  return incoming.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
}

function refuseSecondHost(outgoing: ServerResponse): void {
  outgoing.writeHead(400, { 'content-type': 'application/json', connection: 'close' });
  outgoing.end(
    JSON.stringify({ message: 'More than one Host header.', code: '0000400', status: 400, title: 'Bad Request' }),
  );
}
