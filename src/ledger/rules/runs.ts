/** Rules on runs: how a run moves from state to state, what approving one means, and what it keeps at its end. Pure. */
import { isFinal, type RunKind, type RunReason, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import { type Approval, checksumOf } from './approval.ts';
import { mainFeed } from './feeds.ts';

/** Only the named parts change. */
export type RunChange = {
  readonly [Name in
    | 'state'
    | 'reason'
    | 'notes'
    | 'shape'
    | 'approvals'
    | 'startedAtMs'
    | 'finishedAtMs'
    | 'stoppedAtMs'
    | 'stoppedMs']?: RunRecord[Name];
};

/** What the rules look at. */
export type RunFacts = Pick<RunRecord, 'state' | 'stoppedAtMs' | 'stoppedMs'>;

/** Null where the run is in none of the states `from`. Without `reason` the reason stays. */
export function moved(
  run: RunFacts | null,
  from: readonly RunState[],
  to: RunState,
  { atMs, reason }: { readonly atMs: number; readonly reason?: RunReason | null },
): RunChange | null {
  if (run === null || !from.includes(run.state)) return null;
  return {
    state: to,
    // Time in which people looked at the run, and nothing worked.
    stoppedMs: run.stoppedMs + (run.stoppedAtMs === null ? 0 : Math.max(0, atMs - run.stoppedAtMs)),
    stoppedAtMs: to === 'stopped' ? atMs : null,
    ...(isFinal(to) ? { finishedAtMs: atMs } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Null where the run is not stopped, or no more by what was approved. */
export function approved(run: RunRecord | null, approval: Approval): RunChange | null {
  if (run?.reason == null || checksumOf(run.reason) !== approval.checksum) return null;
  const change = moved(run, ['stopped'], 'applying', { atMs: approval.atMs, reason: null });
  return change === null ? null : { ...change, approvals: [...run.approvals, approval] };
}

/** At most this many notes are kept in a run; later ones are dropped. */
const notesMax = 200;

export function notesWith(known: readonly string[], notes: readonly string[]): readonly string[] {
  return [...new Set([...known, ...notes])].slice(0, notesMax);
}

/** A file in one of these states was accepted: it is part of its feed's history. Fix-files and redrives never are. */
export const acceptedStates = ['done', 'doneWithDead'] as const satisfies readonly RunState[];
export const acceptedKind: RunKind = 'file';

/**
 * Whether a finished run keeps its keys: the next file of the feed is compared with those of the last accepted one. The files
 * of `main` need not be about the same people.
 * @param lastAcceptedId the feed's last accepted run.
 */
export function keepsKeys(run: Pick<RunRecord, 'id' | 'feed'>, lastAcceptedId: string | null): boolean {
  return run.feed !== mainFeed && run.id === lastAcceptedId;
}
