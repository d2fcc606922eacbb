/**
 * What an engine does differently where its ledger is its data folder's own, in a file, and among other hosts on one ledger (`among-hosts.ts`).
 * The engine asks once which of both it is, at its start; from then on each difference is one member here.
 */
import { jobCatalog } from '#jobs/index.ts';
import type { Home } from '#src/app.ts';
import type { EngineRegistration, QueuePlace } from '#src/ledger/engine-presence.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { QueueServer } from '#src/queue/connection.ts';
import type { DispatchScope } from '#src/queue/dispatcher.ts';
import type { StopParts } from '#src/runs/stop-run.ts';
import type { Closers } from './closers.ts';
import type { Health } from './health.ts';
import { forgetJobFailures } from './job-failure-notes.ts';
import type { LedWork } from './led-work.ts';
import type { PeriodicTask } from './periodic-tasks.ts';
import { registerEngine } from './registration.ts';

/** Members are in the order in which an engine needs them, from its start to its stop. What it opens it gives to the closers. */
export interface Standing {
  /** Makes sure that all use this queue. @throws PatchbayError `usage` `otherQueue`. */
  shareQueue(server: QueueServer): Promise<void>;
  /** Whether another host has a folder of that feed. */
  hasFeedElsewhere(feed: string): boolean;
  /** Whether other hosts were at work when this engine entered: a pause may be theirs. */
  readonly isBesideOthers: boolean;
  /** Whether this engine does, at this instant, what is done once for all that share the ledger. */
  leads(): boolean;
  /** Which part of the work this engine hands out, by the ledger's clock. */
  scope(nowMs: number): Pick<DispatchScope, 'line' | 'leads'>;
  /** Ids of hosts that are away. */
  hostsAway(): Promise<readonly string[]>;
  /** Names of hosts, by id; those that are not known by their id. */
  hostNameOf(id: string): string;
  /** What this engine does at a sweep beyond what every engine does. */
  tasks(server: QueueServer, parts: HostTaskParts): readonly PeriodicTask[];
  /** Names of jobs that no other engine works on: what the queue has of them at the start of this one is an earlier one's. */
  readonly ownJobs: readonly string[];
  /** Its jobs are over: another engine may lead. */
  giveUpLead(): Promise<void>;
  /** Ends what an earlier engine left; before any run is worked on. @throws what the ledger throws. */
  beforeWork(closers: Closers): Promise<void>;
  /** Begins led work where this engine leads from its start. @throws what the ledger throws. */
  beginLed(led: LedWork): Promise<void>;
  /** Whether each sweep is a matter of this engine alone, and needs no job. */
  readonly sweepsByItself: boolean;
  /** The last step of a start: workers find the engine from now on. Among hosts it is ready to lead, too. @throws what the ledger throws. */
  announce(started: StartedParts, closers: Closers): Promise<void>;
  /** Shows the others what may have changed. Never rejects. */
  sign(): Promise<void>;
}

export interface HostTaskParts {
  readonly health: Health;
  readonly runs: StopParts;
}

/** What has started by the time of `announce`. */
export interface StartedParts {
  readonly led: LedWork;
  readonly wake: () => void;
  readonly serviceOrigin: string;
  readonly queue: QueuePlace;
}

/** The one engine of a ledger in a file: it always leads, and its runs wait while it is stopped. */
export function aloneOn(home: Home): Standing {
  const nothing = async (): Promise<void> => undefined;
  return {
    shareQueue: nothing,
    hasFeedElsewhere: () => false,
    isBesideOthers: false,
    leads: () => true,
    scope: () => ({ line: null, leads: true }),
    hostsAway: async () => [],
    hostNameOf: (id) => id,
    tasks: () => [],
    ownJobs: jobCatalog.map((job) => job.name),
    giveUpLead: nothing,
    beforeWork: async (closers) => {
      await endPauses(home);
      await forgetJobFailures(home);
      closers.add(() => beginPauses(home));
    },
    beginLed: (led) => led.begin(),
    sweepsByItself: false,
    announce: async ({ serviceOrigin, queue }, closers) =>
      closers.add(await registerEngine(home, serviceOrigin, queue)),
    sign: nothing,
  };
}

/**
 * How long a run took is how long it was worked on. A pause in which no engine ran counts as the time in which it was stopped: it is left
 * out (`docs/contract.md`, "Commands"). An engine that ends in order marks its runs; of one that was killed its last sign of life tells.
 */
type PauseParts = Pick<Home, 'ledger' | 'clock'>;

/** One feed has one of them at a time; of more feeds than that the pauses of some count as work. */
const runsPausedMax = 1_000;

/** Of a ledger in a file: over several hosts another engine goes on. For an engine that begins, before it works on any run. */
export async function endPauses({ ledger, clock }: PauseParts): Promise<void> {
  const { engine } = await ledger.registrations();
  const nowMs = clock.nowMs();
  for (const run of await runsAtWork(ledger)) {
    const sinceMs = run.stoppedAtMs ?? lastSignFor(run, engine);
    if (sinceMs === null) continue;
    const stoppedMs = run.stoppedMs + Math.max(0, nowMs - sinceMs);
    await ledger.runs.record(run.id, { stoppedAtMs: null, stoppedMs });
  }
}

/** For an engine that ends, after its work. */
export async function beginPauses({ ledger, clock }: PauseParts): Promise<void> {
  for (const run of await runsAtWork(ledger)) await ledger.runs.record(run.id, { stoppedAtMs: clock.nowMs() });
}

/** The engine was alive then; a run that was begun or approved since has not waited before. */
function lastSignFor({ startedAtMs, approvals }: RunRecord, engine: EngineRegistration | null): number | null {
  if (engine?.seenAtMs === undefined) return null;
  return Math.max(engine.seenAtMs, startedAtMs ?? 0, ...approvals.map(({ atMs }) => atMs));
}

async function runsAtWork({ runs }: PauseParts['ledger']): Promise<readonly RunRecord[]> {
  const found = await runs.list({ states: ['staging', 'applying'], limit: runsPausedMax });
  return found.filter(({ startedAtMs }) => startedAtMs !== null);
}
