/** Gives the page a port: the listening server, with limits in place of Node's generous defaults. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { isLoopback } from '#src/config/forms.ts';
import { invariant, messageOf, PatchbayError } from '#src/errors.ts';
import { createDashboard } from './dashboard-app.ts';
import type { DashboardParts } from './parts.ts';

/** When no port was chosen: the first of these that is free. */
const firstPort = 8_080;
const lastPort = 8_099;

/** Where a page listens. */
export interface PageAddress {
  /** An address or a host name. Off loopback a token is needed. */
  readonly host: string;
  /** Null takes 8080 or the next free one, up to 8099; 0 takes any free one. */
  readonly port: number | null;
}

export interface RunningPage {
  /** For people, as in `http://127.0.0.1:8080`. */
  readonly address: string;
  readonly port: number;
  /** Ends at once, also with clients still connected. */
  close(): Promise<void>;
}

/**
 * Starts to listen; the caller closes it.
 * @throws PatchbayError `usage`: `tokenNeeded`, `portTaken`, `portRefused` for any other reason.
 */
export async function startPage(parts: DashboardParts, at: PageAddress): Promise<RunningPage> {
  return await openPage(createDashboard(parts).fetch, { ...at, token: parts.token });
}

/** Gives pages a port, as `startPage` does. Throws the same. */
export async function openPage(
  fetch: Fetch,
  { host, port, token }: PageAddress & Pick<DashboardParts, 'token'>,
): Promise<RunningPage> {
  if (token === null && !isLoopback(host)) {
    throw new PatchbayError('usage', 'tokenNeeded', `the page on ${host} can be reached by others and has no token`, {
      facts: { host },
      hint: 'Set PATCHBAY_TOKEN, or HOST to 127.0.0.1.',
    });
  }
  const server = port === null ? await firstFree(fetch, host) : await listenOn(fetch, host, port);
  return { address: addressOf(host, server.port), port: server.port, close: server.close };
}

type Fetch = Parameters<typeof listenForPages>[0];

/** Ends at the last port of the range. */
async function firstFree(fetch: Fetch, host: string): Promise<PageServer> {
  for (let port = firstPort; port <= lastPort; port += 1) {
    try {
      return await listenOn(fetch, host, port);
    } catch (error) {
      if (!(error instanceof PatchbayError) || error.code !== 'portTaken') throw error;
    }
  }
  throw new PatchbayError('usage', 'portTaken', `the ports ${firstPort} to ${lastPort} on ${host} are all in use`, {
    facts: { host, firstPort, lastPort },
    hint: 'Set PORT to another one, or to 0 for any free one.',
  });
}

async function listenOn(fetch: Fetch, host: string, port: number): Promise<PageServer> {
  try {
    return await listenForPages(fetch, host, port);
  } catch (cause) {
    const facts = { host, port };
    if (cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE') {
      throw new PatchbayError('usage', 'portTaken', `port ${port} on ${host} is in use by another program`, {
        facts,
        hint: 'Set PORT to another one, or leave it unset for the next free one.',
        cause,
      });
    }
    throw new PatchbayError('usage', 'portRefused', `the page cannot listen on ${host}:${port}: ${messageOf(cause)}`, {
      facts,
      hint: 'Set PORT above 1023 and HOST to an address of this machine.',
      cause,
    });
  }
}

/** A page on all addresses is named by the one that always works here. */
function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** `close` ends idle and hanging connections alike. */
const limits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  connectionCheckMs: 1_000,
  keepAliveMs: 5_000,
  headerBytesMax: 16 * 1024,
  connectionsMax: 200,
} as const;

interface PageServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

type FetchCallback = Parameters<typeof getRequestListener>[0];

/** Throws the system's errors, such as EADDRINUSE. */
async function listenForPages(fetch: FetchCallback, host: string, port: number): Promise<PageServer> {
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
      if (hostCountOf(incoming) > 1) refuse(outgoing, 'More than one Host header.');
      else if (!URL.canParse(`http://${incoming.headers.host ?? ''}`))
        refuse(outgoing, 'The Host header names no host.');
      else if (namesAnotherHost(incoming)) refuse(outgoing, 'The request and its Host header name different hosts.');
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

/** A request may hold a whole address, as in `GET http://host/runs`: its host is the one that is meant (RFC 9112, section 3.2.2). The Host header is a host. */
function namesAnotherHost({ url = '', headers: { host = '' } }: IncomingMessage): boolean {
  if (!URL.canParse(url)) return false;
  const asked = new URL(url).host;
  return new URL(`http://${host}`).host !== asked;
}

function refuse(outgoing: ServerResponse, sentence: string): void {
  outgoing.writeHead(400, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  outgoing.end(`${sentence}\n`);
}
