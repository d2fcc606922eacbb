/**
 * An engine among others on one ledger (`docs/operations.md`, "Many machines"): it enters its host, shares the queue, stands for the lead, and
 * looks after what is its own. Nothing of this exists over a ledger in a file.
 */
import type { Home } from '#src/app.ts';
import { messageOf } from '#src/errors.ts';
import type { HostIdentity } from '#src/ledger/host-identity.ts';
import type { Candidacy } from '#src/ledger/lead.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import { followedSettings } from '#src/operations/followed-settings.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import { jobsOfHost } from '#src/queue/job-definition.ts';
import { noteStopped } from '#src/runs/stop-run.ts';
import type { Closers } from './closers.ts';
import { enterHost, type HostPresence, type PresenceOptions } from './host-presence.ts';
import type { LedWork } from './led-work.ts';
import type { PeriodicTask } from './periodic-tasks.ts';
import { nameQueue, renameQueue, requireQueue } from './queue-identity.ts';
import { placeSeenFrom, removeDeadWorkers } from './registration.ts';
import type { HostTaskParts, Standing } from './standing.ts';

/** @throws what `enterHost` throws. */
export async function amongHosts(
  home: Home,
  host: HostIdentity,
  options: PresenceOptions,
  closers: Closers,
): Promise<Standing> {
  const presence = await enterHost(home, host, options);
  closers.add(() => presence.leave());
  let candidacy: Candidacy | null = null;
  const leads = (): boolean => candidacy?.isLeading() ?? false;
  return {
    shareQueue: (server) => shareQueue(home, server, presence),
    hasFeedElsewhere: presence.hasFeed,
    isBesideOthers: presence.others.length > 0,
    leads,
    scope: (nowMs) => {
      const isLeading = leads();
      return { line: presence.line(nowMs, isLeading), leads: isLeading };
    },
    hostsAway: async () => presence.line(await home.ledger.nowMs(home.clock), true).away,
    hostNameOf: presence.nameOf,
    tasks: (server, parts) => hostTasks(home, server, parts),
    ownJobs: jobsOfHost,
    giveUpLead: async () => candidacy?.close(),
    // The others have gone on meanwhile: no run was stopped, and a failure may be of their jobs.
    beforeWork: async () => undefined,
    // It begins with the lead.
    beginLed: async () => undefined,
    sweepsByItself: true,
    announce: async ({ led, wake, serviceOrigin, queue }) => {
      candidacy = standForLead(home, presence, led, { runsSchedules: options.runsSchedules, wake });
      await removeDeadWorkers(home);
      const place = placeSeenFrom(home.folders.root, queue);
      await presence.ready({ serviceOrigin, queue: place, followed: followedSettings(home.config) });
    },
    sign: presence.sign,
  };
}

/** @throws PatchbayError `usage` `otherQueue`. */
async function shareQueue({ ledger }: Home, server: QueueServer, presence: HostPresence): Promise<void> {
  if (server.place.kind !== 'redis') return;
  if (presence.namesQueue) return await nameQueue(server, ledger.id, presence.queueId);
  const who = presence.others[0]?.name ?? 'the other hosts';
  await requireQueue(server.producer, ledger.id, () => ledger.hosts.queueId(), who);
}

/** After this the next leader begins anew what was cut off. */
const leadStopMsMax = 5_000;

function standForLead(
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
function hostTasks(home: Home, server: QueueServer, { health, runs }: HostTaskParts): readonly PeriodicTask[] {
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
