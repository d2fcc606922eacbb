/** The hosts on a ledger that several machines share: what each does, what waits for one that is away, and how one is given up. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import { feedNameOf } from '#src/feeds/feeds.ts';
import { isEngineRunning } from '#src/ledger/engine-presence.ts';
import type { HostRecord } from '#src/ledger/hosts.ts';
import { hostSilentMaxMs, isAtWork, needsItsHost } from '#src/ledger/rules/hosts.ts';
import { activeRunStates, type RunRecord } from '#src/ledger/runs.ts';
import { actOf } from './acts.ts';

type HostsHome = Pick<Home, 'ledger' | 'clock' | 'host'>;

/** A run that only its host can go on with. */
export interface WaitingRun {
  readonly run: string;
  readonly feed: string;
  readonly file: string;
  /** Its file has not been read to its end. Otherwise every row has its outcome, and report and archive are to be written. */
  readonly isUnread: boolean;
}

/** One host, as `status --json` and `hosts ls --json` show it. */
export interface HostDocument {
  readonly host: string;
  readonly name: string;
  /** `leads` and `works`: its engine is at work. `stopped`: it has stopped as it should. `away`: it is silent. */
  readonly state: 'leads' | 'works' | 'stopped' | 'away';
  readonly isThis: boolean;
  readonly seenAt: string;
  /** What waits for it; empty while it works. */
  readonly waiting: readonly WaitingRun[];
}

const waitingRunsMax = 1_000;

/** By id; none where the ledger is a file. */
export async function readHosts({ ledger, clock, host: own }: HostsHome): Promise<readonly HostDocument[]> {
  const [hosts, nowMs] = [await ledger.hosts.list(), await ledger.nowMs(clock)];
  const documents: HostDocument[] = [];
  const leader = leaderOf(hosts, nowMs);
  for (const host of hosts) {
    const state = stateOf(host, nowMs, leader);
    const isUp = state === 'leads' || state === 'works';
    const waiting = isUp ? [] : await waitingFor({ ledger }, host.id);
    const { id, name, seenAtMs } = host;
    documents.push({ host: id, name, state, isThis: id === own?.id, seenAt: isoInstant(seenAtMs), waiting });
  }
  return documents;
}

/** Of each host its feeds alone are looked at. */
interface FeedsHome {
  readonly ledger: { readonly hosts: { list(): Promise<readonly Pick<HostRecord, 'feeds'>[]> } };
  readonly feeds: Pick<Home['feeds'], 'exists'>;
}

/** Whether a feed is configured here, or has a folder here or on any host now: what a plan shows is then what a run does. */
export async function feedsOfAllHosts({ ledger, feeds }: FeedsHome): Promise<(feed: string) => boolean> {
  const seen = new Set((await ledger.hosts.list()).flatMap((host) => host.feeds));
  return (feed) => feeds.exists(feed) || seen.has(feedNameOf(feed));
}

/** Whether an engine runs on this data folder, or on another host of the ledger. */
export async function anyEngineRuns(home: HostsHome & Pick<Home, 'folders'>): Promise<boolean> {
  return isEngineRunning(home) || (await anyOtherHostWorks(home));
}

/** Whether an engine runs on another host of the ledger; false where it is a file. */
export async function anyOtherHostWorks({ ledger, clock, host: own }: HostsHome): Promise<boolean> {
  const nowMs = await ledger.nowMs(clock);
  return (await ledger.hosts.list()).some((host) => host.id !== own?.id && isAtWork(host, nowMs));
}

/**
 * Whether the engine of this data folder runs, which alone takes the files of its import folder, and the names of other hosts that are at work on
 * the ledger, by id.
 */
export async function readEngine(
  home: HostsHome & Pick<Home, 'folders'>,
): Promise<{ readonly runs: boolean; readonly elsewhere: readonly string[] }> {
  const { ledger, clock, host: own } = home;
  const nowMs = await ledger.nowMs(clock);
  const atWork = (await ledger.hosts.list()).filter((host) => host.id !== own?.id && isAtWork(host, nowMs));
  return { runs: isEngineRunning(home), elsewhere: atWork.map(({ name }) => name) };
}

/** For people, of a data folder without an engine. @param elsewhere names of other hosts at work. */
export function noEngineText(elsewhere: readonly string[]): string {
  if (elsewhere.length === 0) return 'not running: patchbay start';
  return `not running on this data folder, whose files wait (running elsewhere: ${elsewhere.join(', ')}): patchbay start`;
}

/** One that was killed keeps what it said of itself until it counts as away: who has said later that it leads has taken over. */
function leaderOf(hosts: readonly HostRecord[], nowMs: number): HostRecord | null {
  const leading = hosts.filter((host) => host.leads && isAtWork(host, nowMs));
  return leading.toSorted((a, b) => b.seenAtMs - a.seenAtMs)[0] ?? null;
}

function stateOf(host: HostRecord, nowMs: number, leader: HostRecord | null): HostDocument['state'] {
  if (isAtWork(host, nowMs)) return host === leader ? 'leads' : 'works';
  return host.hasLeft ? 'stopped' : 'away';
}

async function waitingFor({ ledger }: Pick<Home, 'ledger'>, host: string): Promise<readonly WaitingRun[]> {
  const runs = await ledger.runs.list({
    states: activeRunStates,
    hosts: [host],
    limit: waitingRunsMax,
    oldestFirst: true,
  });
  return runs.filter(needsItsHost).map(waitingOf);
}

/** Why a run stands still that only its host can go on with, and that host is not at work; null of any other run. */
export async function standstillOfHost(
  { ledger, clock }: Pick<Home, 'ledger' | 'clock'>,
  run: RunRecord,
): Promise<{ readonly code: 'hostAway'; readonly message: string; readonly hint: string } | null> {
  if (run.host === null || !needsItsHost(run)) return null;
  const host = (await ledger.hosts.list()).find(({ id }) => id === run.host);
  if (host === undefined || isAtWork(host, await ledger.nowMs(clock))) return null;
  const what = waitingOf(run).isUnread
    ? 'its file is there, unread'
    : 'every row has its outcome, and its report and archive are to be written there';
  const since = `${isoInstant(host.seenAtMs).slice(0, 19).replace('T', ' ')}Z`;
  return {
    code: 'hostAway',
    message: `the run waits for the host ${host.name}, which has been ${host.hasLeft ? 'stopped' : 'silent'} since ${since}: ${what}`,
    hint: `Nothing is lost. Start that host again: it goes on with the run by itself. If it is gone for good, on another host: patchbay hosts forget ${host.id}`,
  };
}

function waitingOf({ id, feed, fileName, state }: RunRecord): WaitingRun {
  return { run: id, feed, file: fileName, isUnread: state === 'queued' || state === 'staging' };
}

export interface ForgottenHost {
  readonly host: string;
  readonly name: string;
  /** How many runs went over to this host. */
  readonly runs: number;
}

/**
 * Gives up a host that does not come back: its open runs become this host's, which writes their results; what it had not read is cancelled.
 * @param named its id, or its name.
 * @throws PatchbayError `usage`: `noSuchHost`, `hostAtWork`, `hostNotKnownHere`.
 */
export async function forgetHost(home: HostsHome & Pick<Home, 'actor'>, named: string): Promise<ForgottenHost> {
  const { ledger, clock, host: heir } = home;
  const hosts = await ledger.hosts.list();
  const found = hosts.find(({ id, name }) => id === named || name === named);
  if (found === undefined) {
    throw new PatchbayError('usage', 'noSuchHost', `there is no host ${named}`, {
      hint: 'List the hosts with: patchbay hosts ls. Only ledgers in PostgreSQL have hosts.',
    });
  }
  if (isAtWork(found, await ledger.nowMs(clock))) {
    throw new PatchbayError('usage', 'hostAtWork', `the host ${found.name} is running`, {
      hint: `Stop its engine first. One that was killed counts as gone after ${hostSilentMaxMs / 1_000} seconds.`,
    });
  }
  if (heir === null || heir.id === found.id) {
    const message = `this data folder ${heir === null ? 'is no host yet' : 'is that host'}: it cannot take over those runs`;
    throw new PatchbayError('usage', 'hostNotKnownHere', message, {
      hint: 'Run the command on another host, with its data folder (--data DIR).',
    });
  }
  const runs = await ledger.hosts.forget(found.id, heir.id, clock.nowMs(), await actOf(home, 'hostForget'));
  return { host: found.id, name: found.name, runs };
}
