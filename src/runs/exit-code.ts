/** Exit codes of runs (`docs/contract.md`, "Exit codes"). Pure. */
import type { RunRecord, RunState } from '#src/ledger/runs.ts';

export const exitCodes = {
  done: 0,
  unexpected: 1,
  usage: 2,
  dead: 3,
  auth: 4,
  guard: 5,
  unreachable: 6,
  /** Of commands that only compare. */
  differs: 10,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/**
 * That of its state; one that did not carry out all of its plan did not do what was asked; `--verify` tells drift. Null of a run that has not
 * ended.
 */
export function exitCodeOfRun({
  state,
  options,
  shape,
  counts,
}: Pick<RunRecord, 'state' | 'options' | 'shape'> & { readonly counts: { readonly moved: number } }): number | null {
  const ofState = exitCodeOf(state);
  if (ofState === null) return null;
  const { changed = 0, gone = 0, doubled = 0 } = shape?.drift ?? {};
  const differs = options.verify && state === 'done' && changed + gone + doubled > 0;
  const codes = [ofState, counts.moved > 0 ? exitCodes.guard : exitCodes.done];
  return worstExitCode([...codes, differs ? exitCodes.differs : exitCodes.done]);
}

/** The exit code for a run's state: null while it is active; a cancelled run did not do what was asked, like a stopped one. */
export function exitCodeOf(state: RunState): number | null {
  switch (state) {
    case 'done':
      return exitCodes.done;
    case 'doneWithDead':
    case 'failed':
      return exitCodes.dead;
    case 'queued':
    case 'staging':
    case 'applying':
      return null;
    default:
      return exitCodes.guard;
  }
}

/** For several files: the worst code. Unexpected errors and wrong usage come first, then 4, 6, 5, 3. What has not ended counts for none. */
export function worstExitCode(codes: readonly (number | null)[]): number {
  const order = [1, 2, 4, 6, 5, 3];
  const worst = order.find((code) => codes.includes(code));
  return worst ?? codes.find((code) => code !== null && code !== 0) ?? 0;
}
