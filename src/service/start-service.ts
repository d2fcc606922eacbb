/**
 * Starts the workspace service on a port: opens the store, fills a new one, listens.
 *
 * What is opened here is closed here, in the opposite order.
 */
import { invariant } from '#src/errors.ts';
import { type Listening, listen } from './http/listen.ts';
import { createReplyOutside } from './http/replies.ts';
import { workspaceSeed } from './seed/seed-workspace.ts';
import { createServiceApp, type ServiceApp } from './service-app.ts';
import { checkBehaviour, defaultErrorDocs, type ServiceOptions } from './service-options.ts';
import { discardBuiltStore } from './store/build-store.ts';
import { isOfDatabase, openStore, type Store } from './store/open-store.ts';
import { takeStoreLock, unreadable } from './store/store-lock.ts';
import { openLoadedStore } from './workspace-file/load-workspace.ts';
import type { SectionCounts } from './workspace-file/sections.ts';

const defaultHost = '127.0.0.1';

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
 * Throws `usage` errors: `portTaken`, `portRefused`, `storeInUse`, `storeUnreadable`, `storeNewer`, `seedTooLarge`,
 * `keyMalformed`, `tooManyKeys`, `limitMalformed`; with a file to load also those of `openLoadedStore`. A start that
 * fails changes no key and keeps nothing of what it loaded.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { log } = options;
  // Before the store, which may take long to fill.
  checkBehaviour(options);
  const undo: (() => void | Promise<void>)[] = [];
  try {
    const lock = takeStoreLock(options.store);
    undo.push(lock.release);
    const { listening, store, service, loaded } = await openAll(options, undo);
    store.apiKeys.replace(service.keys.known);
    const origin = originOf(options, listening.port);
    log.info({ origin, patchMode: options.patchMode }, 'service listens');
    let closed: Promise<void> | undefined;
    const closeAll = async () => {
      await Promise.all([listening.close(), service.close()]);
      store.close();
      lock.release();
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
    for (const step of undo.reverse()) await step();
    throw isOfDatabase(error) ? unreadable(options.store, error) : error;
  }
}

interface Opened {
  readonly listening: Listening;
  readonly store: Store;
  readonly service: ServiceApp;
  readonly loaded: SectionCounts | null;
}

/**
 * First the port, then the store: a port that is taken costs no store. Nothing can come in between, as no other turn of
 * the event loop does. `undo` gets what closes that which was opened.
 */
async function openAll(options: ServiceOptions, undo: (() => void | Promise<void>)[]): Promise<Opened> {
  const { host = defaultHost, port, socketLimits: limits, errorDocs = defaultErrorDocs, log } = options;
  const opened: { listening?: Listening; service?: ServiceApp } = {};
  const openPort = async () => {
    opened.listening = await listen({
      fetch: (...request) => opened.service?.app.fetch(...request),
      host,
      port,
      limits,
      replyOutside: createReplyOutside(log, errorDocs),
      log,
    });
    undo.push(opened.listening.close);
  };
  const { store, loaded } = await openFilledStore(options, openPort);
  undo.push(() => {
    store.close();
    if (loaded !== null) discardBuiltStore(options.store);
  });
  const service = createServiceApp(options, store);
  opened.service = service;
  const { listening } = opened;
  invariant(listening !== undefined, 'the port is open when the store is');
  return { listening, store, service, loaded };
}

/** A store that is there, or a new one with what the options ask for. */
async function openFilledStore(
  options: ServiceOptions,
  openPort: () => Promise<void>,
): Promise<{ readonly store: Store; readonly loaded: SectionCounts | null }> {
  const { store, load, clock } = options;
  if (load !== undefined) return await openLoadedStore(store, load, clock, openPort);
  const seed = workspaceSeed(options, clock);
  await openPort();
  return { store: openStore(store, seed), loaded: null };
}

function originOf({ host = defaultHost }: ServiceOptions, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
