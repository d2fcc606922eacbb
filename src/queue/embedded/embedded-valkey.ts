/**
 * The embedded queue: a Valkey server inside this process, for everybody who has no Redis at hand.
 *
 * Any Redis client of this machine's user can talk to it. It holds nothing that the ledger doesn't hold
 * (design.md, decision 1), so a kill may lose the last seconds of it. Terms: the *thread* runs the server; its *death*
 * is any end that nobody asked for. Invariant: one owner for a folder; the caller holds the data folder's lock.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { timedOut, within } from '#src/clock.ts';
import { invariant, messageOf, PatchbayError, unreachable } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';
import { chooseListenPlace, type ListenAt, type ListenPlace } from './listening.ts';

export interface EmbeddedValkeyOptions {
  /** Its own folder, for `dump.rdb`, `valkey.log` and the socket. Created with mode 0700 if missing. */
  readonly folder: string;
  readonly log: Logger;
  /** By default a unix socket in the folder, where the system has them. */
  readonly listen?: { readonly kind: 'socket' } | { readonly kind: 'port' };
  /** The shortest time between two saves. What changed since the last save is lost by a kill. */
  readonly saveEveryMs?: number;
  /** How long a stop may take; a server that is busy for longer loses its last save. */
  readonly stopTimeoutMs?: number;
}

/** Options for a Redis client. */
export type EmbeddedConnection = { readonly path: string } | { readonly host: string; readonly port: number };

export interface EmbeddedValkey {
  readonly connection: EmbeddedConnection;
  /** For people: what it is and where it listens. */
  describe(): string;
  /**
   * Saves, drops all clients, ends the thread and removes the socket. Never rejects; done within `stopTimeoutMs`.
   * Clients should be closed before; one that is not keeps trying to connect again.
   */
  stop(): Promise<void>;
  /** Called once with a PatchbayError `unreachable` `embeddedQueueDied`; at once if it is dead already. */
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
  const thread = new Worker(new URL('./valkey-thread.ts', import.meta.url), {
    // The data lies in the server's own memory; what JavaScript holds are bytes on their way.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
    name: 'embedded queue',
    workerData: threadOptions,
    // The thread needs no environment, and the environment may hold the API key.
    env: {},
    // WASI calls itself experimental; the design knows.
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
      hint: `See ${join(folder, 'valkey.log')}, or set REDIS_URL to use a Redis of your own.`,
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

  // Tidied up once, at the end of the thread: later the place may belong to a successor.
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

/** The one warning about data that was set aside. */
function warnOfDamage(log: Logger, damagedDump: string | null): void {
  if (damagedDump === null) return;
  log.warn({ damagedDump }, 'embedded queue started empty: its saved data was damaged and is set aside');
}

function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    throw new PatchbayError('usage', 'embeddedQueueFolder', `the embedded queue can't use the folder ${folder}`, {
      facts: { folder },
      hint: 'Choose a data folder that belongs to you.',
      cause: error,
    });
  }
}

// What the thread of the embedded queue and its owner tell each other.

/** What the thread is started with. */
export interface ThreadOptions {
  readonly folder: string;
  readonly listenAt: ListenAt;
  readonly saveEveryMs: number;
}

export type ToThread = { readonly kind: 'stop' };

export type FromThread =
  /** Clients may connect. `port` is null on a socket; `damagedDump` is the file a damaged dump was moved to. */
  | { readonly kind: 'ready'; readonly port: number | null; readonly damagedDump: string | null }
  /** Saving began to fail. Said once until a save works again. */
  | { readonly kind: 'saveFailed'; readonly message: string }
  /** All is closed; the thread ends. `saved` is false when the last save failed. */
  | { readonly kind: 'stopped'; readonly saved: boolean }
  /** The server can't go on, or could not begin; the thread ends. */
  | { readonly kind: 'died'; readonly message: string };

/**
 * Follows the thread of the embedded queue by what it says, from its start to its end.
 *
 * Invariant: `ended` resolves once, whatever ended the thread: its own word, an error that nobody caught, or a
 * termination.
 */
type Ready = Extract<FromThread, { kind: 'ready' }>;

interface ThreadLife {
  /** Never settles when the thread ends first. */
  readonly ready: Promise<Ready>;
  /** Resolves with the reason once the thread has ended, whatever ended it. */
  readonly ended: Promise<string>;
}

/** Must be called before the thread can have said anything: in the same turn in which it was made. */
function followThread(thread: Worker, log: Logger): ThreadLife {
  const ready = Promise.withResolvers<Ready>();
  const ended = Promise.withResolvers<string>();
  let reason = 'its thread ended';
  thread.on('message', (message: FromThread) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve(message);
      case 'saveFailed':
        return log.warn({ reason: message.message }, 'embedded queue could not save; trying on');
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
