/**
 * The embedded queue: a Valkey server inside this process, for use without a Redis.
 *
 * Any Redis client of the same user can connect to it. It holds nothing that the ledger does not hold (`docs/design.md`,
 * decision 1), so a kill may lose its last seconds. The *thread* (`valkey-thread.ts`) runs the server; its *death* is any end
 * other than `stop`. Invariant: a folder has one owner, since the caller holds the data folder's lock.
 */
import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { timedOut, within } from '#src/clock.ts';
import { invariant, messageOf, PatchbayError, unreachable } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { startThread } from '#src/threads/start-thread.ts';
import { makeFolderNow } from '#src/whole-file.ts';
import { chooseListenPlace, type ListenAt, type ListenPlace } from './listening.ts';

export interface EmbeddedValkeyOptions {
  /** Its own folder, for `dump.rdb`, `valkey.log` and the socket. Created with mode 0700 if missing. */
  readonly folder: string;
  readonly log: Logger;
  /** By default a unix socket in the folder, if the system has them. */
  readonly listen?: { readonly kind: 'socket' } | { readonly kind: 'port' };
  /** The shortest time between two saves. A kill loses the changes since the last one. */
  readonly saveEveryMs?: number;
  /** How long a stop may take; after that the thread is terminated without its last save. */
  readonly stopTimeoutMs?: number;
}

/** Options for a Redis client. */
export type EmbeddedConnection = { readonly path: string } | { readonly host: string; readonly port: number };

export interface EmbeddedValkey {
  readonly connection: EmbeddedConnection;
  /** For people: what it is and where it listens. */
  describe(): string;
  /**
   * Saves, disconnects all clients, ends the thread and removes the socket. Never rejects; done within `stopTimeoutMs`.
   * Clients should be closed before, or they keep reconnecting.
   */
  stop(): Promise<void>;
  /** Called once, with a PatchbayError `unreachable` `embeddedQueueDied`; at once if the server is dead already. */
  onDeath(listener: (error: Error) => void): void;
}

const saveEveryMsDefault = 2_000;
/** A large dump takes a while to load. */
const startTimeoutMs = 30_000;
const stopTimeoutMsDefault = 5_000;

/**
 * Starts the server and resolves when clients can connect.
 *
 * @throws PatchbayError `usage` `embeddedQueueFolder` when the folder can't be used, `unreachable`
 *   `embeddedQueueStart` when the server can't start.
 */
export async function startEmbeddedValkey(options: EmbeddedValkeyOptions): Promise<EmbeddedValkey> {
  const folder = resolve(options.folder);
  makePrivateFolder(folder);
  const place = chooseListenPlace(folder, options.listen?.kind ?? 'socket');
  const threadOptions: ThreadOptions = {
    folder,
    listenAt: place.at,
    saveEveryMs: options.saveEveryMs ?? saveEveryMsDefault,
  };
  const thread = startThread(new URL('./valkey-thread.ts', import.meta.url), threadOptions, {
    // The data is in the server's own memory; JavaScript holds bytes in transit only.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
    name: 'embedded queue',
    // The thread needs no environment, and the environment may hold the API key.
    env: {},
    // WASI is experimental in Node.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const life = followThread(thread, options.log);
  const startedAtMs = performance.now();
  const ready = await within(startTimeoutMs, Promise.race([life.ready, life.ended]));
  if (typeof ready !== 'object') {
    const reason = ready === timedOut ? `no answer in ${startTimeoutMs / 1000} s` : ready;
    await thread.terminate();
    place.tidyUp();
    throw new PatchbayError('unreachable', 'embeddedQueueStart', `the embedded queue did not start: ${reason}`, {
      facts: { folder },
      hint: `See ${join(folder, 'valkey.log')}, or set REDIS_URL to use another Redis.`,
    });
  }
  const connection = connectionOf(place, ready.port);
  warnOfDamage(options.log, ready.damagedDump);
  options.log.debug({ ...connection, startMs: Math.round(performance.now() - startedAtMs) }, 'embedded queue started');
  const { log, stopTimeoutMs = stopTimeoutMsDefault } = options;
  return superviseThread({ thread, ended: life.ended, place, connection, log, stopTimeoutMs });
}

interface Supervised {
  readonly thread: Worker;
  readonly ended: Promise<string>;
  readonly place: ListenPlace;
  readonly connection: EmbeddedConnection;
  readonly log: Logger;
  readonly stopTimeoutMs: number;
}

/** The handle of a running thread. */
function superviseThread({ thread, ended, place, connection, log, stopTimeoutMs }: Supervised): EmbeddedValkey {
  const deathListeners: ((error: Error) => void)[] = [];
  let death: Error | null = null;
  let stopping: Promise<void> | null = null;

  // Once, at the end of the thread: later the socket may belong to a successor.
  void ended.then((reason) => {
    place.tidyUp();
    if (stopping !== null) return;
    death = new PatchbayError('unreachable', 'embeddedQueueDied', `the embedded queue died: ${reason}`);
    for (const listener of deathListeners.splice(0)) listener(death);
  });

  const stop = async () => {
    const ask: ToThread = { kind: 'stop' };
    thread.postMessage(ask);
    const reason = await within(stopTimeoutMs, ended);
    if (reason === timedOut) {
      log.warn({ stopTimeoutMs }, 'embedded queue did not stop in time; its last save is lost');
      await thread.terminate();
      await ended;
    }
  };

  return {
    connection,
    describe: () =>
      `embedded Valkey at ${'path' in connection ? connection.path : `${connection.host}:${connection.port}`}`,
    stop() {
      stopping ??= stop();
      return stopping;
    },
    onDeath(listener) {
      if (death === null) deathListeners.push(listener);
      else listener(death);
    },
  };
}

function connectionOf(place: ListenPlace, port: number | null): EmbeddedConnection {
  if (place.at.kind === 'socket') return { path: place.at.path };
  invariant(port !== null, 'a port listener has a port');
  return { host: place.at.host, port };
}

function warnOfDamage(log: Logger, damagedDump: string | null): void {
  if (damagedDump === null) return;
  log.warn({ damagedDump }, 'embedded queue started empty: its saved data was damaged and is set aside');
}

function makePrivateFolder(folder: string): void {
  try {
    makeFolderNow(folder);
    chmodSync(folder, 0o700);
  } catch (error) {
    throw new PatchbayError('usage', 'embeddedQueueFolder', `the embedded queue cannot use the folder ${folder}`, {
      facts: { folder },
      hint: 'Choose a data folder that you own.',
      cause: error,
    });
  }
}

/** The start data of the thread. */
export interface ThreadOptions {
  readonly folder: string;
  readonly listenAt: ListenAt;
  readonly saveEveryMs: number;
}

/** Messages to the thread. */
export type ToThread = { readonly kind: 'stop' };

/** Messages from the thread. */
export type FromThread =
  /** Clients may connect. `port` is null on a socket; `damagedDump` is the file a damaged dump was moved to. */
  | { readonly kind: 'ready'; readonly port: number | null; readonly damagedDump: string | null }
  /** Saving began to fail. Not repeated until a save has succeeded. */
  | { readonly kind: 'saveFailed'; readonly message: string }
  /** Everything is closed; the thread ends. `saved` is false if the last save failed. */
  | { readonly kind: 'stopped'; readonly saved: boolean }
  /** The server failed, or could not start; the thread ends. */
  | { readonly kind: 'died'; readonly message: string };

type Ready = Extract<FromThread, { kind: 'ready' }>;

interface ThreadLife {
  /** Never settles if the thread ends first. */
  readonly ready: Promise<Ready>;
  /** Resolves with the reason when the thread has ended: its own message, an uncaught error, or a termination. */
  readonly ended: Promise<string>;
}

/** Must be called in the same turn as the thread is created, before its first message. */
function followThread(thread: Worker, log: Logger): ThreadLife {
  const ready = Promise.withResolvers<Ready>();
  const ended = Promise.withResolvers<string>();
  let reason = 'its thread ended';
  thread.on('message', (message: FromThread) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve(message);
      case 'saveFailed':
        return log.warn({ reason: message.message }, 'embedded queue could not save; will try again');
      case 'stopped':
        if (!message.saved) log.warn('embedded queue stopped without its last save');
        return;
      case 'died':
        reason = message.message;
        return;
      default:
        unreachable(message);
    }
  });
  thread.on('error', (error) => {
    reason = messageOf(error);
  });
  thread.once('exit', () => ended.resolve(reason));
  return { ready: ready.promise, ended: ended.promise };
}
