/**
 * Follows a run, an audit or anything else through the ledger, whichever process works on it: again and again a look, until it has ended, or
 * no process brings it to its end.
 */
import type { Clock } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import type { AuditRecord } from './audits.ts';
import type { JobFailure, Ledger, Pause, ServiceFailure } from './port.ts';
import { activeRunStates, isFinal, pendingCount, type RunRecord } from './runs.ts';
import { isPassingTrouble } from './trouble.ts';

export interface Following {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Which run is followed; absent where it is another thing. */
  readonly runId?: string;
  /** How long nothing may move before following gives up. */
  readonly patienceMs: number;
  /** For how long nothing had moved when following begins, in milliseconds: it counts. Absent: not at all. */
  readonly stillMs?: number;
  /** Asked about once a second; absent where the caller itself is the engine. */
  readonly isEngineGone?: () => boolean;
  /** Called again and again while nothing moves, since a job of the run that is followed ends early. Must not throw. */
  readonly onFailure?: (failure: JobFailure) => void;
  /** Called again and again while nothing moves, whatever the cause. Must not throw. */
  readonly onStill?: () => void;
  readonly signal: AbortSignal;
}

/** Nothing moved for the whole patience, or for a while in which a job ended again and again with an error of Patchbay's own. */
export interface Standstill {
  readonly kind: 'unreachable';
  readonly pause: Pause | null;
  /** How long. */
  readonly waitedMs: number;
  /** The last request that failed meanwhile, or shortly before: after a write in doubt work waits until its horizon. */
  readonly failure: ServiceFailure | null;
  /** Set where a job of what is followed ends early, again and again. */
  readonly jobFailure: JobFailure | null;
  /** The same of another run of its feed, behind which it may wait. */
  readonly failureAhead: JobFailure | null;
  /** What the engine, or the disk, says of itself; absent where it was not asked. */
  readonly trouble?: { readonly code: string; readonly message: string } | null;
}

/** Why following ended before what was followed did. */
export type FollowStop =
  /** The key is refused: nothing goes on before it works again. */
  | { readonly kind: 'auth'; readonly pause: Pause }
  | Standstill
  /** No process works on the ledger any more: the caller may take over. */
  | { readonly kind: 'engineGone' };

/** Longer than the horizon of a write in doubt. */
const failureBeforeMsMax = 60_000;

/** A job begins again within seconds. */
const failureAgeMsMax = 60_000;
/** What ended so twice with an error of Patchbay's own may be over; any other error says what is wrong at once. */
const defectCountMin = 3;
/** How long nothing must have moved before a failing job matters: other batches may go on. */
const failurePatienceMs = 10_000;

/** Whether a job ended with an error of Patchbay's own. */
export function isDefect({ code }: Pick<JobFailure, 'code'>): boolean {
  return code === 'unexpected';
}

/** Jobs that end early again and again, newest first, as of now; without those of runs that have ended all the same. */
export async function failuresGoingOn({
  ledger,
  clock,
}: {
  readonly ledger: Pick<Ledger, 'jobFailures'> & { readonly runs: Pick<Ledger['runs'], 'get'> };
  readonly clock: Pick<Clock, 'nowMs'>;
}): Promise<readonly JobFailure[]> {
  const nowMs = clock.nowMs();
  const going: JobFailure[] = [];
  for (const failure of await ledger.jobFailures()) {
    if (nowMs - failure.atMs >= failureAgeMsMax || (isDefect(failure) && failure.count < defectCountMin)) continue;
    const run = failure.runId === null ? null : await ledger.runs.get(failure.runId);
    if (run === null || !isFinal(run.state)) going.push(failure);
  }
  return going;
}

/** Of the run that is followed; where another thing is followed, the newest. */
async function failureOf(following: Following): Promise<JobFailure | null> {
  const { runId } = following;
  const going = await failuresGoingOn(following);
  return (runId === undefined ? going[0] : going.find((failure) => failure.runId === runId)) ?? null;
}

async function failureAheadOf(following: Following): Promise<JobFailure | null> {
  const { ledger, runId } = following;
  const feed = runId === undefined ? undefined : (await ledger.runs.get(runId))?.feed;
  if (feed === undefined) return null;
  for (const failure of await failuresGoingOn(following)) {
    if (failure.runId === null || failure.runId === runId) continue;
    if ((await ledger.runs.get(failure.runId))?.feed === feed) return failure;
  }
  return null;
}

async function standstill(following: Following, pause: Pause | null, waitedMs: number): Promise<Standstill> {
  const { ledger, clock } = following;
  const failure = await ledger.serviceFailure();
  const isRecent = failure !== null && failure.atMs >= clock.nowMs() - waitedMs - failureBeforeMsMax;
  const jobFailure = await failureOf(following);
  const failureAhead = await failureAheadOf(following);
  return { kind: 'unreachable', pause, waitedMs, failure: isRecent ? failure : null, jobFailure, failureAhead };
}

/** What one look saw. */
export type Look<End> =
  | { readonly end: End }
  | {
      /** Changes while anything goes on that is waited for; null: it goes on. */
      readonly progress: string | null;
      /** Whether it stands still while the key is refused. */
      readonly needsKey: boolean;
    };

const pollMs = 100;
/** How long a look is trusted while no other process has committed: what becomes due, and patience, change without a commit. */
const lookMsMax = 1_000;
const engineCheckMs = 1_000;

/**
 * Ends with what is followed, at a refused key, when patience is over, or with an `AbortError`. While the ledger is away nothing moves, and
 * following goes on once it answers.
 * @throws PatchbayError `damaged` where any process on the ledger has found it damaged; `transient` where patience is over and the ledger
 *   is still away.
 */
export async function follow<End>(following: Following, look: () => Promise<Look<End>>): Promise<End | FollowStop> {
  const { ledger, clock, patienceMs, isEngineGone, signal } = following;
  /** Until the first look. */
  let stillBeforeMs = following.stillMs ?? 0;
  let progress = '';
  let movedAtMs = clock.monotonicMs() - stillBeforeMs;
  let checkedAtMs = clock.monotonicMs();
  let changeCount: number | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const isPatienceOver = (): boolean => clock.monotonicMs() - movedAtMs > patienceMs;

  /** One turn; null: it goes on. */
  const turn = async (): Promise<End | FollowStop | null> => {
    await ledger.requireSound();
    // Own commits do not count: where the engine is in this process, each turn looks.
    const count = isEngineGone === undefined ? null : await ledger.changeCount();
    if (count === null || count !== changeCount || clock.monotonicMs() - lookedAtMs >= lookMsMax) {
      const seen = await look();
      if ('end' in seen) return seen.end;
      const pause = await ledger.pause();
      changeCount = count;
      lookedAtMs = clock.monotonicMs();
      if (pause?.code === 'auth' && seen.needsKey) return { kind: 'auth', pause };
      if (seen.progress === null || seen.progress !== progress) {
        // The first look shows where things stand, and no movement.
        movedAtMs = clock.monotonicMs() - (seen.progress === null ? 0 : stillBeforeMs);
        progress = seen.progress ?? progress;
      }
      stillBeforeMs = 0;
      const stillMs = clock.monotonicMs() - movedAtMs;
      const isStill = stillMs > failurePatienceMs;
      if (isStill) following.onStill?.();
      const jobFailure = isStill ? await failureOf(following) : null;
      if (jobFailure !== null && !isDefect(jobFailure)) following.onFailure?.(jobFailure);
      const isBroken = jobFailure !== null && isDefect(jobFailure);
      if (isPatienceOver() || isBroken) return await standstill(following, pause, stillMs);
    }
    if (isEngineGone !== undefined && clock.monotonicMs() - checkedAtMs > engineCheckMs) {
      checkedAtMs = clock.monotonicMs();
      if (isEngineGone()) return { kind: 'engineGone' };
    }
    return null;
  };

  for (;;) {
    signal.throwIfAborted();
    try {
      const end = await turn();
      if (end !== null) return end;
    } catch (error) {
      if (!isPassingTrouble(error) || isPatienceOver()) throw error;
    }
    await clock.sleep(pollMs, signal);
  }
}

/** Why following ended, and the run as the last look saw it. `rest`: it is final, or stopped by a guard. */
export type FollowEnd = ({ readonly kind: 'rest' } | FollowStop) & { readonly run: RunRecord };

export interface FollowOptions extends Following {
  readonly runId: string;
  readonly onProgress: (run: RunRecord) => void;
}

/** Ends when the run is final or stopped, or as `follow` does. */
export async function followRun(options: FollowOptions): Promise<FollowEnd> {
  const { ledger, runId, onProgress } = options;
  const seen: { run: RunRecord | null } = { run: null };
  const end = await follow<{ readonly kind: 'rest' }>(options, async () => {
    const run = await ledger.runs.get(runId);
    invariant(run !== null, 'a run that is followed stays in the ledger', { run: runId });
    seen.run = run;
    onProgress(run);
    if (isFinal(run.state) || run.state === 'stopped') return { end: { kind: 'rest' } };
    return { progress: await progressOfRun(ledger, run), needsKey: true };
  });
  invariant(seen.run !== null, 'following ends after a look', { run: runId });
  return { ...end, run: seen.run };
}

/** Changes while the run makes progress, or, if it is queued, the runs of its feed that came before it. */
async function progressOfRun(ledger: Ledger, run: RunRecord): Promise<string> {
  const ahead =
    run.state === 'queued' ? await ledger.runs.list({ states: activeRunStates, feed: run.feed, limit: 50 }) : [run];
  return ahead.map(({ id, state, counts }) => `${id} ${state} ${counts.rows} ${pendingCount(counts)}`).join(', ');
}

/** Why following ended, and the audit as the last look saw it. */
export type AuditEnd = ({ readonly kind: 'done' } | FollowStop) & { readonly audit: AuditRecord };

export interface FollowAuditOptions extends Following {
  readonly auditId: string;
}

/** Ends with the audit, or as `follow` does; patience begins when the audit is due. */
export async function followAudit(options: FollowAuditOptions): Promise<AuditEnd> {
  const { ledger, clock, auditId } = options;
  const seen: { audit: AuditRecord | null } = { audit: null };
  const end = await follow<{ readonly kind: 'done' }>(options, async () => {
    const audit = await ledger.audits.get(auditId);
    invariant(audit !== null, 'an audit that is followed stays in the ledger', { audit: auditId });
    seen.audit = audit;
    if (audit.state === 'done') return { end: { kind: 'done' } };
    const waits = audit.dueAtMs > (await ledger.nowMs(clock));
    return { progress: waits ? null : await progressOfAudit(ledger, clock, audit), needsKey: true };
  });
  invariant(seen.audit !== null, 'following ends after a look', { audit: auditId });
  return { ...end, audit: seen.audit };
}

/** Changes while the audit progresses, or the one that is carried out before it. */
async function progressOfAudit(ledger: Ledger, clock: Clock, audit: AuditRecord): Promise<string> {
  const [ahead] = await ledger.audits.nextDue(await ledger.nowMs(clock), 1);
  return [audit, ahead].map((one) => `${one?.id} ${one?.position}`).join(', ');
}
