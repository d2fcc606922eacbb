/** The engine's notice in the ledger, by which worker processes find it. */
import { randomUUID } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import type { Home } from '#src/app.ts';
import { liveWorkers, type QueuePlace } from '#src/ledger/engine-presence.ts';

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
