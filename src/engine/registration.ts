/**
 * How worker processes find the engine of their data folder, and how people see the workers: registrations in the ledger.
 *
 * Whether there is an engine at all is decided by its lock alone, since a killed engine leaves its registration behind.
 */
import { randomUUID } from 'node:crypto';
import { isAbsolute, relative, resolve } from 'node:path';
import type { Home } from '#src/app.ts';
import { sleepUnlessCut } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import {
  type EngineRegistration,
  isEngineRunning,
  liveWorkers,
  type QueuePlace,
  workerSignEveryMs,
} from '#src/ledger/engine-presence.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';

/**
 * Registers the engine for worker processes, and removes registrations of dead workers. It is the last step of an engine's
 * start, so that a worker which sees the registration finds everything ready. @returns a function that removes it.
 */
export async function registerEngine(
  home: Home,
  serviceOrigin: string,
  queue: QueuePlace,
): Promise<() => Promise<void>> {
  const { ledger, clock, identity, folders } = home;
  const workers = (await ledger.registrations()).workers;
  const live = liveWorkers(workers, await ledger.nowMs(clock), identity.isDead);
  for (const one of workers) if (!live.includes(one)) await ledger.unregister('worker', one.identity);
  const mine = `${identity.name}#${randomUUID().slice(0, 8)}`;
  await ledger.register('engine', {
    identity: mine,
    serviceOrigin,
    queue: placeSeenFrom(folders.root, queue),
    startedAtMs: clock.nowMs(),
  });
  return () => ledger.unregister('engine', mine);
}

/** Relative for a socket in the data folder: another process may see the folder under another path. */
function placeSeenFrom(root: string, place: QueuePlace): QueuePlace {
  if (place.kind !== 'socket') return place;
  const path = relative(root, place.path);
  return path.startsWith('..') || isAbsolute(path) ? place : { kind: 'socket', path };
}

/** Where the engine's queue is, seen from this process. */
export function queueOf({ folders }: Pick<Home, 'folders'>, { queue }: EngineRegistration): QueuePlace {
  return queue.kind === 'socket' ? { kind: 'socket', path: resolve(folders.root, queue.path) } : queue;
}

/** How soon a worker sees that its engine is gone, or that there is one. */
const lookEveryMs = 250;

/** How long an engine that is just starting is waited for. */
const startingMs = 5_000;

/**
 * The lock tells for certain, whatever notices were left behind. It is given back at once.
 * @throws PatchbayError `usage` `noEngine`.
 */
export async function requireEngine({ folders, clock }: Home, signal: AbortSignal): Promise<void> {
  const untilMs = clock.monotonicMs() + startingMs;
  // Ends with an engine, with the signal, or when the time is over.
  while (!signal.aborted) {
    if (isEngineRunning({ folders })) return;
    if (clock.monotonicMs() >= untilMs) break;
    await sleepUnlessCut(clock, lookEveryMs, signal);
  }
  if (signal.aborted) return;
  throw new PatchbayError('usage', 'noEngine', `no engine runs on ${folders.root}`, {
    hint: 'Run `patchbay start` on this data folder first: a worker takes its batches from the queue of that engine.',
  });
}

/** Whether that engine has stopped, has died, or was replaced by another one. */
export async function isGone({ ledger, identity }: Home, engine: EngineRegistration): Promise<boolean> {
  const now = (await ledger.registrations()).engine;
  return now?.identity !== engine.identity || identity.isDead(engine.identity);
}

/** Waits for a live engine; null if the signal fired first. */
export async function nextEngine(home: Home, signal: AbortSignal): Promise<EngineRegistration | null> {
  // Ends with the signal, or with a live engine.
  while (!signal.aborted) {
    const found = (await home.ledger.registrations()).engine;
    if (found !== null && !home.identity.isDead(found.identity)) return found;
    await sleepUnlessCut(home.clock, lookEveryMs, signal);
  }
  return null;
}

/** Calls `onGone` once the engine is gone, or the ledger damaged. @returns a function that stops watching. */
export function watchEngine(home: Home, engine: EngineRegistration, onGone: () => void): () => void {
  const look = async (): Promise<void> => {
    await home.ledger.requireSound();
    if (await isGone(home, engine)) onGone();
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => {
      // Problems of the ledger's file are reported once, by `health.ts`.
      const level = isLedgerTrouble(error) ? 'debug' : 'warn';
      home.log[level]({ reason: messageOf(error) }, 'ledger not readable');
    });
  }, lookEveryMs);
  return () => clearInterval(timer);
}

/** Registers this worker process, and renews that again and again. @returns a function that removes it. */
export async function registerWorker({ ledger, clock, log, identity }: Home): Promise<() => Promise<void>> {
  const startedAtMs = clock.nowMs();
  const sign = async (): Promise<void> =>
    ledger.register('worker', { identity: identity.name, startedAtMs, seenAtMs: await ledger.nowMs(clock) });
  await sign();
  const timer = setInterval(() => {
    sign().catch((error: unknown) => {
      log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'no sign of life');
    });
  }, workerSignEveryMs);
  return async () => {
    clearInterval(timer);
    await ledger.unregister('worker', identity.name);
  };
}
