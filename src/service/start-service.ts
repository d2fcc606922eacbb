/**
 * Starts the workspace service on a port: opens the store, fills a new one, listens.
 *
 * What is opened here is closed here, in the opposite order.
 */
import { listen } from './http/listen.ts';
import { workspaceSeed } from './seed/seed-workspace.ts';
import { createServiceApp } from './service-app.ts';
import type { ServiceOptions } from './service-options.ts';
import { openStore } from './store/open-store.ts';

export interface RunningService {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  readonly origin: string;
  readonly port: number;
  /** Requests since the start, one entry per operation; refused ones count. */
  readonly counts: () => Record<string, number>;
  /** Ends open connections, commits what was accepted, closes the store. May be called again. */
  readonly close: () => Promise<void>;
}

/**
 * Throws `usage` errors: `portTaken`, `portRefused`, `storeUnreadable`, `storeNewer`, `seedTooLarge`, `keyMissing`,
 * `limitMalformed`.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { host = '127.0.0.1', log } = options;
  const store = openStore(options.store, workspaceSeed(options, options.clock));
  try {
    const service = createServiceApp(options, store);
    const listening = await listen(service.app.fetch, host, options.port);
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
