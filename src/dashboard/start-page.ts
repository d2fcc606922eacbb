/** Gives the page a port. */
import { isLoopback } from '#src/config/private-host.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { createDashboard } from './dashboard-app.ts';
import { listenForPages, type PageServer } from './page-server.ts';
import type { DashboardParts } from './parts.ts';

/** Where no port was chosen: the first of these that is free. */
const firstPort = 8_080;
const lastPort = 8_099;

export interface StartPageOptions extends DashboardParts {
  /** An address or a host name. Off loopback a token is needed. */
  readonly host: string;
  /** Null takes 8080 or the next free one, up to 8099; 0 takes any free one. */
  readonly port: number | null;
}

export interface RunningPage {
  /** For people, as in `http://127.0.0.1:8080`. */
  readonly address: string;
  readonly port: number;
  /** Ends at once, also where somebody is still connected. */
  close(): Promise<void>;
}

/**
 * Starts to listen; whoever starts, closes.
 * @throws PatchbayError `usage`: `tokenNeeded`, `portTaken`, `portRefused` for any other reason.
 */
export async function startPage(options: StartPageOptions): Promise<RunningPage> {
  const { host, port, token } = options;
  if (token === null && !isLoopback(host)) {
    throw new PatchbayError('usage', 'tokenNeeded', `the page on ${host} can be reached by others and has no token`, {
      facts: { host },
      hint: 'Set PATCHBAY_TOKEN, or HOST to 127.0.0.1.',
    });
  }
  const app = createDashboard(options);
  const server = port === null ? await firstFree(app.fetch, host) : await listenOn(app.fetch, host, port);
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
