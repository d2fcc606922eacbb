/** Exit codes of runs (`docs/contract.md`, "Exit codes"). Pure. */
import type { RunState } from '#src/ledger/runs.ts';

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

/** The exit code for a run: that of its state; one that did not carry out all of its plan did not do what was asked. */
export function exitCodeOfRun({
  state,
  counts,
}: {
  readonly state: RunState;
  readonly counts: { readonly moved: number };
}): number {
  return worstExitCode([exitCodeOf(state), counts.moved > 0 ? exitCodes.guard : exitCodes.done]);
}

/** The exit code for a run's state: 0 for an active run; a cancelled run did not do what was asked, like a stopped one. */
export function exitCodeOf(state: RunState): number {
  switch (state) {
    case 'done':
      return exitCodes.done;
    case 'doneWithDead':
    case 'failed':
      return exitCodes.dead;
    case 'queued':
    case 'staging':
    case 'applying':
      return exitCodes.done;
    default:
      return exitCodes.guard;
  }
}

/** For several files: the worst code. Unexpected errors and wrong usage come first, then 4, 6, 5, 3. */
export function worstExitCode(codes: readonly number[]): number {
  const order = [1, 2, 4, 6, 5, 3];
  const worst = order.find((code) => codes.includes(code));
  return worst ?? codes.find((code) => code !== 0) ?? 0;
}
