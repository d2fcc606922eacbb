/** Follows a run through the ledger, whichever process works on it. */
import type { Clock } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import type { Ledger, Pause } from '#src/ledger/port.ts';
import { activeRunStates, isFinal, pendingCount, type RunRecord } from '#src/ledger/run-record.ts';

/** Why following ended. */
export type FollowEnd =
  /** The run is final, or stopped by a guard. */
  | { readonly kind: 'rest'; readonly run: RunRecord }
  /** The key is refused: nothing goes on before it works again. */
  | { readonly kind: 'auth'; readonly run: RunRecord; readonly pause: Pause }
  /** Nothing moved for the whole patience. */
  | { readonly kind: 'unreachable'; readonly run: RunRecord; readonly pause: Pause | null }
  /** Nobody works on the ledger any more: the caller may take over. */
  | { readonly kind: 'engineGone'; readonly run: RunRecord };

export interface FollowOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly runId: string;
  /** How long nothing may move before following gives up. */
  readonly patienceMs: number;
  readonly onProgress: (run: RunRecord) => void;
  /** Asked about once a second; absent where the caller itself is the engine. */
  readonly isEngineGone?: () => boolean;
  readonly signal: AbortSignal;
}

const pollMs = 100;
const engineCheckMs = 1_000;

/** Ends at the run's rest, at a refused key, when patience is over, or with an `AbortError`. */
export async function followRun(options: FollowOptions): Promise<FollowEnd> {
  const { ledger, clock, runId, patienceMs, onProgress, isEngineGone, signal } = options;
  let progress = '';
  let movedAtMs = clock.monotonicMs();
  let checkedAtMs = clock.monotonicMs();
  for (;;) {
    signal.throwIfAborted();
    const run = await ledger.runs.get(runId);
    invariant(run !== null, 'a run that is followed stays in the ledger', { run: runId });
    onProgress(run);
    if (isFinal(run.state) || run.state === 'stopped') return { kind: 'rest', run };
    const pause = await ledger.pause();
    if (pause?.code === 'auth') return { kind: 'auth', run, pause };
    const now = clock.monotonicMs();
    const seen = await progressOf(ledger, run);
    if (seen !== progress) {
      progress = seen;
      movedAtMs = now;
    }
    if (now - movedAtMs > patienceMs) return { kind: 'unreachable', run, pause };
    if (isEngineGone !== undefined && now - checkedAtMs > engineCheckMs) {
      checkedAtMs = now;
      if (isEngineGone()) return { kind: 'engineGone', run };
    }
    await clock.sleep(pollMs, signal);
  }
}

/** Changes while anything goes on that the run waits for: itself, or the runs of its feed that came before it. */
async function progressOf(ledger: Ledger, run: RunRecord): Promise<string> {
  const ahead =
    run.state === 'queued' ? await ledger.runs.list({ states: activeRunStates, feed: run.feed, limit: 50 }) : [run];
  return ahead.map(({ id, state, counts }) => `${id} ${state} ${counts.rows} ${pendingCount(counts)}`).join(', ');
}
