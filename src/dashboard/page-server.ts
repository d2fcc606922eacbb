/**
 * The listening server of the page, with limits in place of Node's generous defaults (`toolchain.md`, "HTTP").
 *
 * Whoever listens, closes: `close` ends idle and hanging connections alike.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { invariant } from '#src/errors.ts';

const limits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  connectionCheckMs: 1_000,
  keepAliveMs: 5_000,
  headerBytesMax: 16 * 1024,
  connectionsMax: 200,
} as const;

export interface PageServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

type FetchCallback = Parameters<typeof getRequestListener>[0];

/** Throws the system's errors, such as EADDRINUSE. */
export async function listenForPages(fetch: FetchCallback, host: string, port: number): Promise<PageServer> {
  // The globals stay as they are: the process holds other servers and a client as well.
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  const address = server.address();
  invariant(address !== null && typeof address === 'object', 'a listening server has an address');
  return { port: address.port, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Node takes the first of two Host headers in silence; a proxy in front may have taken the second. */
function hostCountOf(incoming: IncomingMessage): number {
  return incoming.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
}

function refuseSecondHost(outgoing: ServerResponse): void {
  outgoing.writeHead(400, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  outgoing.end('More than one Host header.\n');
}
