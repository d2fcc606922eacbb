/**
 * Puts into the queue the jobs that remain to be done according to the ledger, up to a limit.
 *
 * Where several engines share a ledger, each adds the jobs of its own host's files, and the one that leads adds all others.
 *
 * Invariant: the queue may lose everything at any instant. What it should hold is derived from the ledger alone, again
 * and again: after each job, when another process wrote to the ledger, and every few seconds.
 */
import type { Clock } from '#src/clock.ts';
import { messageOf } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { LineOfHosts, RunFilter, RunState } from '#src/ledger/runs.ts';
import type { ScheduleWork } from '#src/ledger/schedules.ts';
import { isLedgerTrouble } from '#src/ledger/trouble.ts';
import type { Logger } from '#src/log.ts';
import { oneAtATime } from '#src/repeat.ts';
import { jobId } from './job-definition.ts';
import type { JobToAdd, Producer } from './producer.ts';
import { type HostOf, ticksWithPlace } from './take-places.ts';

export interface DispatcherOptions {
  readonly ledger: Ledger;
  readonly producer: Producer;
  readonly clock: Clock;
  readonly log: Logger;
  /** The limit of batch jobs in the queue. */
  readonly jobsMax: number;
  /** What this engine adds. Absent: everything. */
  readonly scope?: (nowMs: number) => DispatchScope;
}

export interface Dispatcher {
  /** Looks soon; many calls make one look. */
  wake(): void;
  /** Must be called when a job has ended: it may be added again. One that failed is added at the next sweep only. */
  ended(id: string, failed: boolean): void;
  /** Looks without relying on what was added before: the queue may have been flushed. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/** Which part of the work an engine hands out. */
export interface DispatchScope {
  /** Whose runs it reads and finishes; null: those of all. */
  readonly line: LineOfHosts | null;
  /** Whether it hands out what belongs to no host: batches, audits, ticks, deliveries. */
  readonly leads: boolean;
  /** Whether the owner of a lease is dead for certain. Absent: its leases last until they expire. */
  readonly isOwnerDead?: (owner: string) => boolean;
  /** Absent: no feed is downloaded. */
  readonly hostOf?: HostOf;
}

const everything: DispatchScope = { line: null, leads: true };
/** Of each kind. As many as an import folder may have feeds: one that cannot be read or finished must not hold up those behind it. */
const runsPerLook = 200;
/** What becomes due within this time gets a timer; a sweep finds what is due later. */
const aheadMs = 5_000;
/** While most of the batch jobs that the queue may hold are there, the end of one needs no look of its own: one look serves many. */
const looksApartMs = 250;
/** A cancelled run is ended once its writes on their way are answered, so that they are counted: at the latest when their leases expire. */
const writesWaitMs = 200;
const ticksPerLook = 50;
const deliveriesPerLook = 50;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { ledger, producer, clock, log, jobsMax, scope = () => everything } = options;
  /** Ids that were added and have not ended: adding them again would be a no-op that costs a round trip. */
  const believed = new Set<string>();
  /** What ended while a look is under way: the look may have read the ledger before that end, so the next one decides. */
  const endedSinceLook = new Set<string>();
  let stopped = false;
  let nextLook: NodeJS.Timeout | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let lookForMany: NodeJS.Timeout | undefined;

  /** Waits here and not in the queue, whose delays depend on the wall clock. */
  const lookAgainIn = (ms: number): void => {
    clearTimeout(nextLook);
    if (ms <= aheadMs && !stopped) nextLook = setTimeout(() => void looks.ask(), ms);
  };

  const look = async (): Promise<void> => {
    lookedAtMs = clock.monotonicMs();
    clearTimeout(lookForMany);
    lookForMany = undefined;
    endedSinceLook.clear();
    const nowMs = await ledger.nowMs(clock);
    const known = await jobsToDo(ledger, nowMs, jobsMax, scope(nowMs));
    lookAgainIn(Math.min(...known.map((job) => job.inMs).filter((inMs) => inMs > 0)));
    const isWanted = ({ id, inMs }: DueJob): boolean => inMs === 0 && !believed.has(id) && !endedSinceLook.has(id);
    const jobs = known.filter(isWanted).map(({ inMs: _inMs, ...job }) => job);
    if (jobs.length === 0) return;
    for (const job of jobs) believed.add(job.id);
    if (!(await producer.add(jobs))) for (const job of jobs) believed.delete(job.id);
  };

  const looks = oneAtATime(look, (error) => {
    // Problems of the ledger are reported once, by the engine.
    log[isLedgerTrouble(error) ? 'debug' : 'warn']({ reason: messageOf(error) }, 'dispatch failed');
  });

  return {
    wake: () => void looks.ask(),
    ended: (id, failed) => {
      endedSinceLook.add(id);
      if (!failed) believed.delete(id);
      if (stopped) return;
      const restMs = lookedAtMs + looksApartMs - clock.monotonicMs();
      if (restMs <= 0 || believed.size <= jobsMax / 2) void looks.ask();
      else lookForMany ??= setTimeout(() => void looks.ask(), restMs);
    },
    sweep: async () => {
      believed.clear();
      await looks.ask();
    },
    stop: async () => {
      stopped = true;
      clearTimeout(nextLook);
      clearTimeout(lookForMany);
      await looks.stop();
    },
  };
}

/** A job, and in how many milliseconds it is due; 0: now. */
export interface DueJob extends JobToAdd {
  readonly inMs: number;
}

/**
 * What is to be done now or soon, according to the ledger and by its own clock. While all work is paused, cancelled runs are
 * still ended, schedules still take files, and deliveries are still sent; a snapshot waits, since it would only fail. While
 * writing alone is paused, files are read and runs are finished.
 */
export async function jobsToDo(
  ledger: Ledger,
  nowMs: number,
  jobsMax: number,
  { line, leads, isOwnerDead = () => false, hostOf = () => null }: DispatchScope = everything,
): Promise<readonly DueJob[]> {
  const pause = await ledger.pause();
  const own = line === null ? {} : { hosts: line.hosts };
  const runsIn = (state: RunState, which: Pick<RunFilter, 'nonePending'> = {}) =>
    ledger.runs.list({ states: [state], ...which, ...own, limit: runsPerLook, oldestFirst: true });
  const finish = (runId: string, inMs = 0): DueJob => ({
    name: 'finish-run',
    id: jobId(runId, 'finish'),
    payload: { runId },
    inMs,
  });
  const cancelled: DueJob[] = [];
  for (const { id } of await runsIn('cancelling'))
    cancelled.push(finish(id, (await ledger.runs.isWriting(id, { nowMs, isOwnerDead })) ? writesWaitMs : 0));
  const readsPass = pause === null || pause.scope === 'writes';
  const besides = leads
    ? [...(await ticksToDo(ledger, readsPass, hostOf)), ...(await deliveriesToDo(ledger, nowMs))]
    : [];
  if (!readsPass) return [...cancelled, ...besides];

  const toStage = [...(await runsIn('staging')), ...(await ledger.runs.nextQueued(runsPerLook, line ?? undefined))];
  const batches = leads && pause === null ? await ledger.runs.nextBatches(nowMs, jobsMax) : [];
  const settled = await runsIn('applying', { nonePending: true });
  const complete = settled.filter(({ id }) => !batches.some((batch) => batch.runId === id));
  // One at a time: an audit must not use up the rate of an import.
  const audits = leads ? await ledger.audits.nextDue(nowMs + aheadMs, 1) : [];
  return [
    ...toStage.map((run) => ({
      name: 'import-file',
      id: jobId(run.id, 'import'),
      payload: { runId: run.id },
      inMs: 0,
    })),
    ...batches.map(({ runId, batch, generation, dueAtMs }) => ({
      name: 'upsert-batch',
      id: jobId(runId, batch, generation),
      payload: { runId, batch, generation },
      inMs: Math.max(0, dueAtMs - nowMs),
      // Resume deferred batches before new ones.
      isNew: generation === 0,
    })),
    ...complete.map(({ id }) => finish(id)),
    ...cancelled,
    ...audits.map(({ id, position, dueAtMs }) => ({
      name: 'audit',
      id: jobId('audit', id, position),
      payload: { auditId: id },
      inMs: Math.max(0, dueAtMs - nowMs),
    })),
    ...besides,
  ];
}

const jobOfWork: Readonly<Record<ScheduleWork, string>> = { take: 'take-files', snapshot: 'snapshot-phone-numbers' };

async function ticksToDo(ledger: Ledger, readsPass: boolean, hostOf: HostOf): Promise<readonly DueJob[]> {
  return ticksWithPlace(await ledger.schedules.openTicks(), hostOf)
    .slice(0, ticksPerLook)
    .filter((tick) => tick.work === 'take' || readsPass)
    .map(({ id, work, attempts }) => ({
      name: jobOfWork[work],
      id: jobId('tick', id, attempts),
      payload: { tickId: id },
      inMs: 0,
    }));
}

async function deliveriesToDo(ledger: Ledger, nowMs: number): Promise<readonly DueJob[]> {
  return (await ledger.deliveries.nextDue(nowMs + aheadMs, deliveriesPerLook)).map(({ id, attempts, dueAtMs }) => ({
    name: 'deliver',
    id: jobId('deliver', id, attempts),
    payload: { deliveryId: id },
    inMs: Math.max(0, dueAtMs - nowMs),
  }));
}
