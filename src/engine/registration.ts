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
import { feedNameOf } from '#src/feeds/feeds.ts';
import {
  type EngineRegistration,
  isEngineRunning,
  liveWorkers,
  type QueuePlace,
  signEveryMs,
} from '#src/ledger/engine-presence.ts';
import { isAtWork } from '#src/ledger/rules/hosts.ts';
import { activeRunStates } from '#src/ledger/runs.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import { engineHere, type HomeBesideEngine } from '#src/operations/engine-here.ts';
import { followedSettings } from '#src/operations/followed-settings.ts';
import { every, type Repeated } from '#src/repeat.ts';

/**
 * Registers the engine for worker processes, and removes registrations of dead workers. It is the last step of an engine's
 * start, so that a worker which sees the registration finds everything ready. While runs are at work it is renewed, so that after a kill
 * their pause is known (`standing.ts`). @returns a function that removes it.
 */
export async function registerEngine(
  home: Home,
  serviceOrigin: string,
  queue: QueuePlace,
): Promise<() => Promise<void>> {
  const { ledger, clock, identity, folders, config } = home;
  await removeDeadWorkers(home);
  const mine = `${identity.name}#${randomUUID().slice(0, 8)}`;
  const place = placeSeenFrom(folders.root, queue);
  const startedAtMs = clock.nowMs();
  const registration = { identity: mine, serviceOrigin, queue: place, startedAtMs, followed: followedSettings(config) };
  const sign = (): Promise<void> => ledger.register('engine', { ...registration, seenAtMs: clock.nowMs() });
  await sign();
  const signIfAtWork = async (): Promise<void> => {
    if ((await ledger.runs.list({ states: activeRunStates, limit: 1 })).length > 0) await sign();
  };
  const signing = signAgainAndAgain(home, signIfAtWork);
  return async () => {
    await signing.stop();
    await ledger.unregister('engine', mine);
  };
}

function signAgainAndAgain({ log }: Pick<Home, 'log'>, sign: () => Promise<void>): Repeated {
  return every(signEveryMs, sign, (error) => {
    log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'no sign of life');
  });
}

/** Removes registrations of workers that have died. */
export async function removeDeadWorkers({ ledger, clock, identity }: Home): Promise<void> {
  const { workers } = await ledger.registrations();
  const live = liveWorkers(workers, await ledger.nowMs(clock), identity.isDead);
  for (const one of workers) if (!live.includes(one)) await ledger.unregister('worker', one.identity);
}

/** Relative for a socket in the data folder: another process may see the folder under another path. */
export function placeSeenFrom(root: string, place: QueuePlace): QueuePlace {
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

/** The engine that a worker works for, as it registered; null where there is none. Of several hosts it is any that is at work, this one first. */
export async function findEngine(home: Home): Promise<EngineRegistration | null> {
  const { ledger, clock, ledgerPlace, host } = home;
  if (ledgerPlace.kind === 'file') return (await ledger.registrations()).engine;
  const nowMs = await ledger.nowMs(clock);
  const atWork = (await ledger.hosts.list()).filter((one) => one.engine !== null && isAtWork(one, nowMs));
  const found = atWork.find(({ id }) => id === host?.id) ?? atWork[0];
  if (found === undefined || found.engine === null) return null;
  // If one of them dies, the worker goes on for the others.
  return { identity: sharedEngines, ...found.engine, startedAtMs: Math.min(...atWork.map((one) => one.startedAtMs)) };
}

/** Whether the engine of this data folder has come up. The lock tells whether there is one: it may be starting, or be another command that reads. */
export async function isEngineUp(home: HomeBesideEngine): Promise<boolean> {
  return (await engineHere(home)) !== null;
}

/** The engines of all hosts, as one that dies with the last of them. */
const sharedEngines = 'hosts';

/**
 * The lock tells for certain, whatever notices were left behind. It is given back at once. Of several hosts the ledger tells.
 * @throws PatchbayError `usage` `noEngine`.
 */
export async function requireEngine(home: Home, signal: AbortSignal): Promise<void> {
  const { folders, clock, ledgerPlace } = home;
  const isThere = async (): Promise<boolean> =>
    ledgerPlace.kind === 'file' ? isEngineRunning({ folders }) : (await findEngine(home)) !== null;
  const untilMs = clock.monotonicMs() + startingMs;
  // Ends with an engine, with the signal, or when the time is over.
  while (!signal.aborted) {
    if (await isThere()) return;
    if (clock.monotonicMs() >= untilMs) break;
    await sleepUnlessCut(clock, lookEveryMs, signal);
  }
  if (signal.aborted) return;
  const where = ledgerPlace.kind === 'file' ? folders.root : 'this ledger, on no host';
  throw new PatchbayError('usage', 'noEngine', `no engine runs on ${where}`, {
    hint:
      ledgerPlace.kind === 'file'
        ? 'Run `patchbay start` on this data folder first: a worker takes its batches from the queue of that engine.'
        : 'Run `patchbay start` on a host first, with the same DATABASE_URL and REDIS_URL: a worker takes its batches from that queue.',
  });
}

/** Whether that engine has stopped, has died, or was replaced by another one. */
export async function isGone(home: Home, engine: EngineRegistration): Promise<boolean> {
  const now = await findEngine(home);
  return now?.identity !== engine.identity || home.identity.isDead(engine.identity);
}

/** Waits for a live engine; null if the signal fired first. */
export async function nextEngine(home: Home, signal: AbortSignal): Promise<EngineRegistration | null> {
  // Ends with the signal, or with a live engine.
  while (!signal.aborted) {
    const found = await findEngine(home);
    if (found !== null && !home.identity.isDead(found.identity)) return found;
    await sleepUnlessCut(home.clock, lookEveryMs, signal);
  }
  return null;
}

/** Which feeds have a folder on any host, as seen at the last look. */
export interface SeenFeeds {
  readonly has: (feed: string) => boolean;
  look(): Promise<void>;
}

export function seeFeeds({ ledger, ledgerPlace }: Pick<Home, 'ledger' | 'ledgerPlace'>): SeenFeeds {
  let seen: ReadonlySet<string> = new Set();
  return {
    has: (feed) => seen.has(feedNameOf(feed)),
    look: async () => {
      if (ledgerPlace.kind === 'file') return;
      seen = new Set((await ledger.hosts.list()).flatMap(({ feeds }) => feeds));
    },
  };
}

/** Calls `onGone` once the engine is gone, or the ledger damaged. */
export function watchEngine(
  home: Home,
  engine: EngineRegistration,
  feeds: SeenFeeds,
  onGone: () => void,
): Pick<Repeated, 'stop'> {
  const look = async (): Promise<void> => {
    await home.ledger.requireSound();
    await feeds.look();
    if (await isGone(home, engine)) onGone();
  };
  return every(lookEveryMs, look, (error) => {
    // Problems of the ledger's file are reported once, by `health.ts`.
    const level = isLedgerTrouble(error) ? 'debug' : 'warn';
    home.log[level]({ reason: messageOf(error) }, 'ledger not readable');
  });
}

/** Registers this worker process, and renews that again and again. @returns a function that removes it. */
export async function registerWorker(home: Home): Promise<() => Promise<void>> {
  const { ledger, clock, identity } = home;
  const startedAtMs = clock.nowMs();
  const sign = async (): Promise<void> =>
    ledger.register('worker', { identity: identity.name, startedAtMs, seenAtMs: await ledger.nowMs(clock) });
  await sign();
  const signing = signAgainAndAgain(home, sign);
  return async () => {
    await signing.stop();
    await ledger.unregister('worker', identity.name);
  };
}
