/** The engine's notice in the ledger, by which worker processes find it. */
import { randomUUID } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import type { Home } from '#src/app.ts';
import { sleepUnlessCut } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { type EngineNotice, liveWorkers, type QueuePlace, takeEngineLock } from '#src/ledger/engine-presence.ts';

/**
 * Tells worker processes where everything is, and forgets those that died. Comes last in an engine's start: a worker that
 * sees the notice finds all of it. @returns what takes the notice back.
 */
export async function announceEngine(
  home: Home,
  serviceOrigin: string,
  queue: QueuePlace,
): Promise<() => Promise<void>> {
  const { ledger, clock, identity, folders } = home;
  const notices = await ledger.workerNotices();
  const live = liveWorkers(notices, await ledger.nowMs(clock), identity.isDead);
  for (const one of notices) if (!live.includes(one)) await ledger.clearWorkerNotice(one.identity);
  const mine = `${identity.name}#${randomUUID().slice(0, 8)}`;
  await ledger.setEngineNotice({
    identity: mine,
    serviceOrigin,
    queue: placeSeenFrom(folders.root, queue),
    startedAtMs: clock.nowMs(),
  });
  return () => ledger.clearEngineNotice(mine);
}

/** A socket in the data folder is told relative to it: another process may see the folder at another path. */
function placeSeenFrom(root: string, place: QueuePlace): QueuePlace {
  if (place.kind !== 'socket') return place;
  const path = relative(root, place.path);
  return path.startsWith('..') || isAbsolute(path) ? place : { kind: 'socket', path };
}

// How a worker process finds the engine that it works for: by the lock and by the notice in the ledger.

/** How soon a worker sees that its engine is gone, or that there is one. */
export const lookEveryMs = 250;

/** An engine that is just being started, or started again, is waited for so long. */
const startingMs = 5_000;

/** Whether any process is the engine of this data folder: the lock tells, and is given back at once. */
export function isEngineRunning({ folders }: Pick<Home, 'folders'>): boolean {
  const lock = takeEngineLock(folders.lockFile);
  lock?.release();
  return lock === null;
}

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
  throw new PatchbayError('usage', 'noEngine', `no engine runs on ${folders.root} that a worker could work for`, {
    hint: 'Run `patchbay start` on this data folder first: it holds the queue and takes the files.',
  });
}

/** Whether that engine has stopped, is dead, or was followed by another one. */
export async function isGone({ ledger, identity }: Home, engine: EngineNotice): Promise<boolean> {
  const now = await ledger.engineNotice();
  return now?.identity !== engine.identity || identity.isDead(engine.identity);
}

/** Null when the signal fired. Ends with it, or with an engine that lives. */
export async function nextEngine(home: Home, signal: AbortSignal): Promise<EngineNotice | null> {
  while (!signal.aborted) {
    const notice = await home.ledger.engineNotice();
    if (notice !== null && !home.identity.isDead(notice.identity)) return notice;
    await sleepUnlessCut(home.clock, lookEveryMs, signal);
  }
  return null;
}
