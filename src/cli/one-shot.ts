/**
 * One-shot work on a data folder: whoever finds no engine becomes it; else the running engine does the work, and this
 * process follows in the ledger. When that engine dies, the follower takes its place (`contract.md`).
 */
import type { Home } from '#src/app.ts';
import { type AuditEnd, followAudit } from '#src/audits/follow-audit.ts';
import { parseDuration } from '#src/config/duration.ts';
import { PatchbayError } from '#src/errors.ts';
import { activeRunStates, isFinal, pendingCount, type RunRecord } from '#src/ledger/run-record.ts';
import { type FollowEnd, followRun } from '#src/runs/follow-run.ts';
import { withdrawRun } from '#src/runs/submit-run.ts';
import { type Seat, type SeatOptions, takeSeat } from './seat.ts';

/** A run to follow. New ones are taken back where no engine can be started for them. */
export interface EnteredRun {
  readonly run: RunRecord;
  readonly isNew: boolean;
}

export interface OneShotOptions extends SeatOptions {
  readonly onProgress: (run: RunRecord) => void;
  readonly onEnd: (end: FollowEnd) => void;
  /** Waits for the first audit of each run, too. */
  readonly audit: boolean;
}

export interface OneShotEnd {
  readonly end: FollowEnd;
  /** Null where nobody waited for one, or the run is not at its end. */
  readonly audit: AuditEnd | null;
}

const defaultPatienceMs = 600_000;
/** For runs of others, once its own have ended: they are not lost, the next engine goes on with them. */
const othersPatienceMs = 60_000;

/** `--wait`, or ten minutes. @throws PatchbayError `usage` `waitInvalid`. */
export function patienceOf(wait: string | undefined): number {
  if (wait === undefined) return defaultPatienceMs;
  const patienceMs = parseDuration(wait);
  if (patienceMs !== null) return patienceMs;
  throw new PatchbayError('usage', 'waitInvalid', `--wait ${wait} is no duration`, {
    hint: 'Write it as 30s, 10m or 1h.',
  });
}

/**
 * Enters runs with `submit` and follows each to its rest. An audit that nobody waits for does not keep the engine alive:
 * the next one carries it out.
 * @throws PatchbayError what the engine's start and `submit` throw; `AbortError` after Ctrl-C.
 */
export async function workUntilRest(
  home: Home,
  options: OneShotOptions,
  submit: () => Promise<readonly EnteredRun[]>,
): Promise<readonly OneShotEnd[]> {
  const { interrupt, onProgress, onEnd } = options;
  const withdraw = async (entered: readonly EnteredRun[]): Promise<void> => {
    for (const { run, isNew } of entered) if (isNew) await withdrawRun(home.submit, run);
  };
  const { seat, entered } = await takeSeat(home, options, { enter: submit, withdraw });
  try {
    const ends: FollowEnd[] = [];
    for (const { run } of entered) {
      const end = await seat.follow((following) => followRun({ ...following, runId: run.id, onProgress }));
      onEnd(end);
      ends.push(end);
    }
    const audited: OneShotEnd[] = [];
    for (const end of ends) audited.push({ end, audit: options.audit ? await firstAudit(home, seat, end) : null });
    if (seat.isEngine() && ends.every((end) => end.kind === 'rest')) await restOfAll(home, options);
    interrupt.signal.throwIfAborted();
    return audited;
  } finally {
    await seat.leave();
  }
}

async function firstAudit(home: Home, seat: Seat, { kind, run }: FollowEnd): Promise<AuditEnd | null> {
  if (kind !== 'rest' || !isFinal(run.state)) return null;
  const first = (await home.ledger.audits.ofRun(run.id)).find((audit) => audit.kind === 'first');
  if (first === undefined) return null;
  return await seat.follow((following) => followAudit({ ...following, auditId: first.id }));
}

/** An engine started by a one-shot ends when all runs have ended, those of others included; or when nothing moves. */
async function restOfAll(home: Home, { interrupt, patienceMs }: OneShotOptions): Promise<void> {
  const { clock, ledger } = home;
  let progress = '';
  let movedAtMs = clock.monotonicMs();
  for (;;) {
    const active = await ledger.runs.inState(activeRunStates, 1_000);
    if (active.length === 0) return;
    const seen = active
      .map(({ id, state, counts }) => `${id} ${state} ${counts.rows} ${pendingCount(counts)}`)
      .join(', ');
    if (seen !== progress) movedAtMs = clock.monotonicMs();
    progress = seen;
    if (clock.monotonicMs() - movedAtMs > Math.min(patienceMs, othersPatienceMs)) return;
    if ((await ledger.pause())?.code === 'auth') return;
    await clock.sleep(100, interrupt.signal);
  }
}
