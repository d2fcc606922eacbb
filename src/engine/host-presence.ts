/**
 * This data folder as one of several hosts on a ledger: its entry, which is renewed again and again, and what it sees of the others.
 *
 * Invariant: an engine that finds its entry to be another engine's stops working.
 */
import { randomUUID } from 'node:crypto';
import type { Home } from '#src/app.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { feedNameOf } from '#src/feeds/feeds.ts';
import type { HostIdentity } from '#src/ledger/host-identity.ts';
import { type HostEntry, type HostRecord, hostSignEveryMs } from '#src/ledger/hosts.ts';
import { hostSilentMaxMs, isAtWork, isAway } from '#src/ledger/rules/hosts.ts';
import type { LineOfHosts } from '#src/ledger/runs.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import { feedFolders } from '#src/operations/feed-names.ts';
import { every } from '#src/repeat.ts';
import { queueNotShared } from './queue-identity.ts';

export interface HostPresence {
  readonly id: string;
  /** Hosts that were at work when this one entered. */
  readonly others: readonly HostRecord[];
  readonly queueId: string;
  /** Whether this host gives the queue its identity. */
  readonly namesQueue: boolean;
  /** Its engine is up: workers may join. */
  ready(engine: NonNullable<HostRecord['engine']>): Promise<void>;
  /** Whose runs this engine handles, and who is away, by the ledger's clock. */
  line(nowMs: number, leads: boolean): LineOfHosts;
  /** Whether any host has a folder of that feed. */
  hasFeed(name: string): boolean;
  /** For people. */
  nameOf(host: string): string;
  /** Whether another host at work runs schedules: a one-shot leaves the lead to it. */
  othersRunSchedules(): boolean;
  setLeads(leads: boolean): void;
  /** Renews the entry now, since something may have changed. Never rejects. */
  sign(): Promise<void>;
  leave(): Promise<void>;
}

export interface PresenceOptions {
  readonly runsSchedules: boolean;
  /** The entry is another engine's by now. */
  readonly onTaken: (cause: PatchbayError) => void;
}

/** Longer than an engine that was killed is taken for one at work. */
const takenMsMax = hostSilentMaxMs + hostSignEveryMs;
/** Folders are listed anew at every tenth sign. */
const foldersEverySigns = 10;

/** @throws PatchbayError `usage`: `hostTaken`, `queueNotShared`, `sandboxNotShared`; what the ledger throws. */
export async function enterHost(home: Home, host: HostIdentity, options: PresenceOptions): Promise<HostPresence> {
  const { ledger, clock, log, identity } = home;
  const now = (): Promise<number> => ledger.nowMs(clock);
  const startedAtMs = await now();
  let feeds = await feedFolders(home);
  let leads = false;
  let engine: HostRecord['engine'] = null;
  const session = `${identity.name}#${randomUUID().slice(0, 8)}`;
  const recordAt = (nowMs: number): HostRecord => ({
    ...{ id: host.id, name: host.name, session, engine, leads, feeds, startedAtMs },
    queue: home.config.queue.redisUrl === null ? 'embedded' : 'redis',
    isSandbox: home.mode === 'sandbox',
    runsSchedules: options.runsSchedules,
    seenAtMs: nowMs,
    hasLeft: false,
  });
  const freshQueueId = randomUUID().slice(0, 12);
  const entry = await entered(home, recordAt, freshQueueId);
  let hosts = await ledger.hosts.list();
  /** Since when this host has renewed its entry without a gap: others may have been able to, too. */
  let watchedSinceMs = startedAtMs;
  let signedAtMs = startedAtMs;
  let signCount = 0;

  const sign = async (): Promise<void> => {
    const nowMs = await now();
    if (!(await ledger.hosts.renew(recordAt(nowMs)))) {
      const by = (await ledger.hosts.list()).find(({ id }) => id === host.id);
      options.onTaken(hostTaken(host, by ?? null));
      return;
    }
    if (nowMs - signedAtMs >= hostSilentMaxMs) watchedSinceMs = nowMs;
    signedAtMs = nowMs;
    hosts = await ledger.hosts.list();
    signCount += 1;
    if (signCount % foldersEverySigns === 0) feeds = await feedFolders(home);
  };
  const report = (error: unknown): void => {
    log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'no sign of life of this host');
  };
  const signing = every(hostSignEveryMs, sign, report);
  const others = (): readonly HostRecord[] => hosts.filter(({ id }) => id !== host.id);

  return {
    id: host.id,
    others: entry.others,
    queueId: entry.queueId,
    namesQueue: entry.queueId === freshQueueId,
    ready: async (next) => {
      engine = next;
      await ledger.hosts.renew(recordAt(await now()));
    },
    line: (nowMs, isLeading) => ({
      hosts: isLeading ? [host.id, null] : [host.id],
      away: others().flatMap((one) => (isAway(one, nowMs, watchedSinceMs) ? [one.id] : [])),
    }),
    hasFeed: (name) => others().some((one) => one.feeds.includes(feedNameOf(name))),
    nameOf: (id) => hosts.find((one) => one.id === id)?.name ?? id,
    othersRunSchedules: () => others().some((one) => one.runsSchedules && isAtWork(one, signedAtMs)),
    setLeads: (next) => {
      if (leads === next) return;
      leads = next;
      void signing.ask();
    },
    sign: async () => {
      try {
        feeds = await feedFolders(home);
      } catch (error) {
        report(error);
      }
      await signing.ask();
    },
    leave: async () => {
      await signing.stop();
      await ledger.hosts.leave(host.id, session);
    },
  };
}

/** Where the id is another engine's, its silence is waited for: it may have been killed. */
async function entered(
  home: Home,
  recordAt: (nowMs: number) => HostRecord,
  freshQueueId: string,
): Promise<Extract<HostEntry, { readonly kind: 'entered' }>> {
  const { ledger, clock, identity } = home;
  const startedAtMs = clock.monotonicMs();
  let firstSign: { readonly session: string; readonly seenAtMs: number } | null = null;
  // Ends with an entry, with a refusal, or when the silence has lasted.
  for (;;) {
    const record = recordAt(await ledger.nowMs(clock));
    const entry = await ledger.hosts.enter(record, freshQueueId, identity.isDead);
    switch (entry.kind) {
      case 'entered':
        return entry;
      case 'queueNotShared':
        throw queueNotShared(record.queue, entry.other);
      case 'sandboxNotShared':
        throw sandboxNotShared(entry.other);
      case 'taken': {
        const { session, seenAtMs } = entry.by;
        firstSign ??= { session, seenAtMs };
        const lives = firstSign.session !== session || firstSign.seenAtMs !== seenAtMs;
        if (lives || clock.monotonicMs() - startedAtMs > takenMsMax) throw hostTaken(record, entry.by);
        await clock.sleep(1_000);
      }
    }
  }
}

function hostTaken({ name, id }: Pick<HostRecord, 'name' | 'id'>, by: HostRecord | null): PatchbayError {
  const who = by === null || by.name === name ? 'another engine' : `the engine of ${by.name}`;
  return new PatchbayError('usage', 'hostTaken', `${who} works as the host ${id} already, which ${name} is`, {
    facts: { host: id },
    hint: 'Each host needs a data folder of its own. If this one is a copy of another, delete its file host.id; nothing else of it has to change.',
  });
}

function sandboxNotShared(other: HostRecord): PatchbayError {
  const message = `the host ${other.name} works on this ledger with a sandbox of its own, which no other host can use`;
  return new PatchbayError('usage', 'sandboxNotShared', message, {
    facts: { host: other.name },
    hint: 'Several hosts need a service that all of them reach: set PATCHBAY_BASE_URL, for example to that of `patchbay serve`.',
  });
}
