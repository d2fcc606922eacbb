/**
 * Starts the workspace service on a port: opens the store, fills a new one, listens.
 *
 * What is opened here is closed here, in the opposite order.
 */
import { listen } from './http/listen.ts';
import { checkKeys } from './keys/settle-keys.ts';
import { workspaceSeed } from './seed/seed-workspace.ts';
import { createServiceApp } from './service-app.ts';
import type { ServiceOptions } from './service-options.ts';
import { openStore, type Store } from './store/open-store.ts';
import { openLoadedStore } from './workspace-file/open-loaded-store.ts';
import type { SectionCounts } from './workspace-file/sections.ts';

export interface RunningService {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  readonly origin: string;
  readonly port: number;
  /** The random key that a start without given keys made; null where keys were given. */
  readonly printedKey: string | null;
  /** How many records were loaded; null where nothing was to be loaded. */
  readonly loaded: SectionCounts | null;
  /** Requests since the start, one entry per operation; refused ones count. */
  readonly counts: () => Record<string, number>;
  /** Ends open connections, commits what was accepted, closes the store. May be called again. */
  readonly close: () => Promise<void>;
}

/**
 * Throws `usage` errors: `portTaken`, `portRefused`, `storeUnreadable`, `storeNewer`, `seedTooLarge`, `keyMalformed`,
 * `tooManyKeys`, `limitMalformed`; with a file to load also those of `openLoadedStore`.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { host = '127.0.0.1', log } = options;
  // Before the store, which may take long to fill.
  checkKeys(options.apiKeys);
  const { store, loaded } = await openFilledStore(options);
  try {
    const service = createServiceApp(options, store);
    const { port, socketLimits } = options;
    const listening = await listen({ fetch: service.app.fetch, host, port, limits: socketLimits, log });
    try {
      // Not before the port is ours: a start that fails changes no key.
      store.apiKeys.replace(service.keys.known);
    } catch (error) {
      await listening.close();
      throw error;
    }
    const origin = `http://${host.includes(':') ? `[${host}]` : host}:${listening.port}`;
    log.info({ origin, patchMode: options.patchMode }, 'service listens');
    let closed: Promise<void> | undefined;
    const closeAll = async () => {
      await Promise.all([listening.close(), service.close()]);
      store.close();
    };
    return {
      origin,
      port: listening.port,
      printedKey: service.keys.printedKey,
      loaded,
      counts: service.counts,
      close: () => {
        closed ??= closeAll();
        return closed;
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** A store that is there, or a new one with what the options ask for. */
async function openFilledStore(options: ServiceOptions): Promise<{ store: Store; loaded: SectionCounts | null }> {
  if (options.load !== undefined) return await openLoadedStore(options.store, options.load, options.clock);
  return { store: openStore(options.store, workspaceSeed(options, options.clock)), loaded: null };
}
