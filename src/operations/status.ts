/** The state of a data folder: what runs, what waits, and what needs a person. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { type FeedTrouble, troublesSinceMs } from '#src/ledger/deliveries.ts';
import { isEngineRunning, liveWorkers } from '#src/ledger/engine-presence.ts';
import type { DeadLetterGroup } from '#src/ledger/letters.ts';
import { hasLedger, type LedgerPlace, ledgerBytes, nameOfPlace } from '#src/ledger/place.ts';
import type { Pause } from '#src/ledger/port.ts';
import { activeRunStates, finalRunStates } from '#src/ledger/runs.ts';
import { readDeadNotices } from './dead-notices.ts';
import { besideEngine } from './engine-here.ts';
import { readFailingAddressees } from './failing-addressees.ts';
import { heldByFeed } from './held-fields.ts';
import { feedsOfAllHosts, type HostDocument, readHosts, standstillOfHost } from './hosts.ts';
import { readJobFailures } from './job-failures.ts';
import { letterDocument } from './letter-document.ts';
import { listRuns, type RunHome, type RunView } from './runs.ts';
import { expectedDocument, expectedFeeds } from './schedules.ts';
import { readStandingSchedules } from './standing-schedules.ts';

/** What a process can see of its surroundings. */
export interface Surroundings {
  /** Null where the file system does not say. */
  readonly diskFreeBytes: number | null;
  /** Null for the embedded queue: only its engine can use it. */
  readonly queueAnswers: boolean | null;
  /** Sentences; empty where all is well. */
  readonly troubles: readonly string[];
}

/** Of those that are running, and of those that are stopped. */
const runsShownMax = 50;
const auditsShownMax = 1_000;

/**
 * The runs that have not ended: the oldest of each, since they continue in that order, and a person who decides begins with what has
 * waited longest; and how many there are.
 */
export interface OpenRuns {
  readonly active: readonly RunView[];
  readonly activeCount: number;
  /** Stopped by a guard: they wait for a person. */
  readonly stopped: readonly RunView[];
  readonly stoppedCount: number;
}

async function readOpenRuns(home: RunHome): Promise<OpenRuns> {
  const { runs } = home.ledger;
  const [active, stopped] = [{ states: activeRunStates }, { states: ['stopped'] }] as const;
  const oldest = { limit: runsShownMax, oldestFirst: true };
  return {
    active: await listRuns(home, { ...active, ...oldest }),
    activeCount: await runs.count(active),
    stopped: await listRuns(home, { ...stopped, ...oldest }),
    stoppedCount: await runs.count(stopped),
  };
}

/** What reading the state needs of a data folder. */
export type StatusHome = RunHome & Pick<Home, 'config' | 'ledgerPlace' | 'folders' | 'identity' | 'host' | 'feeds'>;

export type Status = Awaited<ReturnType<typeof readStatus>>;

/** `status --json`. */
export async function readStatus(home: StatusHome, { diskFreeBytes, queueAnswers, troubles }: Surroundings) {
  const { ledger, ledgerPlace, folders, clock, identity } = home;
  const pause = await ledger.pause();
  const failures = await readJobFailures(home);
  const { active, activeCount, stopped, stoppedCount } = await readOpenRuns(home);
  const [last] = await listRuns(home, { states: finalRunStates, limit: 1 });
  const counts = await ledger.counts();
  const { hosts, feeds, missing, duplicates } = await readConcerns(home);
  return {
    service: home.serviceName,
    data: folders.root,
    importFolder: folders.watched.at(-1) ?? null,
    ledger: await ledgerState(ledgerPlace),
    // Of this data folder: what other hosts do is in `hosts`.
    engine: isEngineRunning(home) ? 'running' : 'not running',
    notFollowed: (await besideEngine(home))(),
    hosts,
    workers: liveWorkers((await ledger.registrations()).workers, await ledger.nowMs(clock), identity.isDead).length,
    paused: pause === null ? null : pauseDocument(pause),
    surroundings: { diskFreeBytes, queueAnswers, troubles: [...troubles, ...failures] },
    active: active.map(({ summary }) => summary),
    activeCount,
    stopped: stopped.map(({ summary }) => summary),
    stoppedCount,
    last: last?.summary ?? null,
    feeds,
    schedules: await readStandingSchedules(home),
    expected: (await expectedFeeds(home)).map(expectedDocument),
    missing,
    heldFields: await ledger.contacts.heldCount({}),
    heldByFeed: await heldByFeed(home),
    deadLetters: counts.openLetters,
    notices: {
      waiting: counts.waitingDeliveries,
      dead: counts.deadDeliveries,
      codes: (await readDeadNotices(home)).codes,
      failing: await readFailingAddressees(home),
    },
    audits: { waiting: counts.waitingAudits, duplicates },
  };
}

/** One that is known to be damaged is not opened: opening it throws. One that is not there is made by the first command that works. */
async function ledgerState(place: LedgerPlace) {
  const file = await nameOfPlace(place);
  return (await hasLedger(place))
    ? { file, bytes: await ledgerBytes(place), state: 'noDamageKnown' as const }
    : { file, bytes: 0, state: 'noneYet' as const };
}

/** What needs a person beside runs that stopped and rows that were rejected. */
export interface Concerns {
  /** By id; none where the ledger is a file. */
  readonly hosts: readonly HostDocument[];
  /** Those in trouble. */
  readonly feeds: readonly {
    readonly feed: string;
    readonly troubles: readonly FeedTrouble[];
    readonly since: string;
  }[];
  /** Feeds that are there, with people whom their newest full file lacks, and how many. */
  readonly missing: readonly { readonly feed: string; readonly count: number }[];
  /** Runs whose newest audit found keys with more than one contact; newest first. */
  readonly duplicates: readonly { readonly run: string; readonly keys: number }[];
}

async function readConcerns(home: Pick<Home, 'ledger' | 'clock' | 'host' | 'feeds'>): Promise<Concerns> {
  const { ledger } = home;
  const conditions = await ledger.deliveries.conditions();
  const standing = await ledger.audits.standing(auditsShownMax);
  return {
    hosts: await readHosts(home),
    feeds: conditions
      .filter(({ troubles }) => troubles.length > 0)
      .map((one) => ({ feed: one.feed, troubles: one.troubles, since: isoInstant(troublesSinceMs(one)) })),
    missing: await missingOf(home),
    duplicates: standing.map(({ runId, duplicates }) => ({ run: runId, keys: duplicates })),
  };
}

/** A feed that is gone has no file any more that anyone could be missing from. */
async function missingOf(home: Pick<Home, 'ledger' | 'feeds'>) {
  const { deliveries, missing } = home.ledger;
  const exists = await feedsOfAllHosts(home);
  const counted: { readonly feed: string; readonly count: number }[] = [];
  for (const { feed } of await deliveries.standings()) {
    const count = exists(feed) ? await missing.count(feed) : 0;
    if (count > 0) counted.push({ feed, count });
  }
  return counted;
}

/** What the first page shows of a data folder. */
export interface Overview extends OpenRuns {
  readonly pause: Pause | null;
  /** Newest first, whatever their state. */
  readonly last: readonly RunView[];
  readonly openLetterCount: number;
  /** Open dead letters by reason, most frequent first. */
  readonly groups: readonly DeadLetterGroup[];
  readonly concerns: Concerns;
  /** Of the active runs that only a host that is not at work can go on with: why they stand still. By the run's id. */
  readonly standstills: ReadonlyMap<string, HostStandstill>;
}

type HostStandstill = NonNullable<Awaited<ReturnType<typeof standstillOfHost>>>;

const lastShownMax = 20;
const groupsShownMax = 50;

export async function readOverview(home: RunHome & Pick<Home, 'host' | 'feeds'>): Promise<Overview> {
  const { ledger } = home;
  const open = await readOpenRuns(home);
  const concerns = await readConcerns(home);
  const waiting = new Set(concerns.hosts.flatMap((host) => host.waiting.map(({ run }) => run)));
  const standstills = new Map<string, HostStandstill>();
  for (const { record } of open.active) {
    const standstill = waiting.has(record.id) ? await standstillOfHost(home, record) : null;
    if (standstill !== null) standstills.set(record.id, standstill);
  }
  return {
    ...open,
    concerns,
    standstills,
    pause: await ledger.pause(),
    last: await listRuns(home, { limit: lastShownMax }),
    openLetterCount: (await ledger.counts()).openLetters,
    groups: await ledger.deadLetters.groups(groupsShownMax),
  };
}

/**
 * The JSON twin of the first page, without what only the process knows: `status --json`, `runs`, which are those of "Last runs", and the
 * open dead letters by reason.
 */
export async function readOverviewDocument(home: StatusHome, surroundings: Surroundings): Promise<object> {
  const last = await listRuns(home, { limit: lastShownMax });
  const groups = await home.ledger.deadLetters.groups(groupsShownMax);
  return {
    ...(await readStatus(home, surroundings)),
    runs: last.map(({ summary }) => summary),
    deadLetterGroups: groups.map(({ class: reasonClass, code, field, count, example }) => ({
      ...{ class: reasonClass, code, field, count },
      hint: example.hint,
      example: letterDocument(example),
    })),
  };
}

/** `scope`: `all`, or `writes` alone. */
function pauseDocument({ code, scope = 'all', message, sinceMs }: Pause) {
  return { code, scope, message, since: isoInstant(sinceMs) };
}
