/** Rules on runs: how a run moves from state to state, and what approving one means. Pure. */
import { isFinal, type RunReason, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import { type Approval, checksumOf } from './approval.ts';

/** Only the named parts change. */
export type RunChange = {
  readonly [Name in
    | 'state'
    | 'reason'
    | 'notes'
    | 'shape'
    | 'look'
    | 'mapping'
    | 'options'
    | 'sourceLabel'
    | 'approvals'
    | 'startedAtMs'
    | 'finishedAtMs'
    | 'stoppedAtMs'
    | 'stoppedMs'
    | 'host']?: RunRecord[Name];
} & {
  /** Nothing of the run is left that it does not need any more. */
  readonly isPruned?: true;
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
    // Time in which the run waited for a decision.
    stoppedMs: run.stoppedMs + (run.stoppedAtMs === null ? 0 : Math.max(0, atMs - run.stoppedAtMs)),
    stoppedAtMs: to === 'stopped' ? atMs : null,
    ...(isFinal(to) ? { finishedAtMs: atMs } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Null where the run is not stopped, or no more by what was approved. */
export function approved(
  run: (RunFacts & Pick<RunRecord, 'reason' | 'approvals'>) | null,
  approval: Approval,
): RunChange | null {
  if (run?.reason == null || checksumOf(run.reason) !== approval.checksum) return null;
  const change = moved(run, ['stopped'], 'applying', { atMs: approval.atMs, reason: null });
  return change === null ? null : { ...change, approvals: [...run.approvals, approval] };
}

/**
 * The kept plan that the run carries out: the one that was shown last, or named with its file. Null for most, and where a person chose
 * to link contacts since: the plan would make them.
 */
export function planOf({ approvals, options }: Pick<RunRecord, 'approvals' | 'options'>): string | null {
  const last = approvals.findLast(({ plan, choice }) => plan !== undefined || choice === 'adopt');
  return last === undefined ? options.planId : (last.plan?.id ?? null);
}

/** At most this many notes are kept in a run; later ones are dropped. */
const notesMax = 200;

export function notesWith(known: readonly string[], notes: readonly string[]): readonly string[] {
  return [...new Set([...known, ...notes])].slice(0, notesMax);
}

/** What a run has before it is read to its end: nothing. */
export const unread: RunChange = {
  state: 'staging',
  notes: [],
  reason: null,
  shape: null,
  look: null,
  finishedAtMs: null,
};
