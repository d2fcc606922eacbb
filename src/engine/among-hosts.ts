/**
 * An engine among others on one ledger (`docs/operations.md`, "Many machines"): it enters its host, shares the queue, stands for the lead, and
 * looks after what is its own. Nothing of this exists over a ledger in a file.
 */
import type { Home } from '#src/app.ts';
import { messageOf, type PatchbayError } from '#src/errors.ts';
import type { Candidacy } from '#src/ledger/lead.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { FileOnHost } from '#src/notices/feed-condition.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import { noteStopped, type StopParts } from '#src/runs/stop-run.ts';
import type { Closers } from './closers.ts';
import type { Health } from './health.ts';
import { enterHost, type HostPresence } from './host-presence.ts';
import type { LedWork } from './led-work.ts';
import type { PeriodicTask } from './periodic-tasks.ts';
import { nameQueue, renameQueue, requireQueue } from './queue-identity.ts';

/** Null where the ledger belongs to this data folder alone. @throws what `enterHost` throws. */
export async function enterAmongHosts(
  home: Home,
  { runsSchedules }: { readonly runsSchedules: boolean },
  onTaken: (cause: PatchbayError) => void,
  closers: Closers,
): Promise<HostPresence | null> {
  if (home.host === null) return null;
  const presence = await enterHost(home, home.host, { runsSchedules, onTaken });
  closers.add(() => presence.leave());
  return presence;
}

/** @throws PatchbayError `usage` `otherQueue`. */
export async function shareQueue({ ledger }: Home, server: QueueServer, presence: HostPresence): Promise<void> {
  if (server.place.kind !== 'redis') return;
  if (presence.namesQueue) return await nameQueue(server.producer, ledger.id, presence.queueId);
  const who = presence.others[0]?.name ?? 'the other hosts';
  await requireQueue(server.producer, ledger.id, () => ledger.hosts.queueId(), who);
}

/** After this the next leader begins anew what was cut off. */
const leadStopMsMax = 5_000;

export function standAmongHosts(
  { ledger, log }: Home,
  presence: HostPresence,
  led: LedWork,
  { runsSchedules, wake }: { readonly runsSchedules: boolean; readonly wake: () => void },
): Candidacy {
  const begin = async (): Promise<void> => {
    try {
      await led.begin();
      wake();
    } catch (error) {
      // The next sweep goes on.
      log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'led work not begun');
    }
  };
  return ledger.standForLead({
    mayLead: () => runsSchedules || !presence.othersRunSchedules(),
    onLead: (lost) => {
      log.info({ host: presence.id }, 'this engine leads');
      presence.setLeads(true);
      lost.addEventListener('abort', () => {
        log.info({ host: presence.id }, 'this engine leads no longer');
        presence.setLeads(false);
        void led.end(leadStopMsMax);
      });
      void begin();
    },
  });
}

/** What each host does at a sweep for itself. */
export function hostTasks(
  home: Home,
  server: QueueServer,
  { health, runs }: { readonly health: Health; readonly runs: StopParts },
): readonly PeriodicTask[] {
  const { ledger } = home;
  const checkQueue = async (): Promise<void> => {
    if (server.place.kind !== 'redis') return;
    const queueId = await ledger.hosts.queueId();
    if (queueId === null) return;
    const startedAt = performance.now();
    // A host that has nothing to add learns by this write whether the queue takes any.
    try {
      const isSame = await renameQueue(server.producer, ledger.id, queueId);
      if (isSame === null) return;
      health.queueEnded(null, performance.now() - startedAt);
      health.queueShared(isSame);
    } catch (error) {
      health.queueEnded(error instanceof Error ? error : new Error(String(error)), performance.now() - startedAt);
    }
  };
  const noted = new Map<string, number | null>();
  return [
    { everySweeps: 1, run: checkQueue },
    { everySweeps: 1, run: () => noteStopped(runs, noted) },
  ];
}

const filesAwayMax = 100;

/** The oldest file of each feed that only a host can read that is away. */
export async function filesAway(
  { ledger, clock }: Home,
  presence: HostPresence,
): Promise<ReadonlyMap<string, FileOnHost>> {
  const { away } = presence.line(await ledger.nowMs(clock), true);
  if (away.length === 0) return new Map();
  const runs = await ledger.runs.list({ states: ['queued', 'staging'], hosts: away, limit: filesAwayMax });
  // The newest come first: of each feed the last one stays.
  return new Map(
    runs.map((run) => [run.feed, { runId: run.id, file: run.fileName, host: presence.nameOf(run.host ?? '') }]),
  );
}
