/** Follows a run through the ledger. */
import { invariant } from '#src/errors.ts';
import { type Following, type FollowStop, follow } from '#src/ledger/follow.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { activeRunStates, isFinal, pendingCount, type RunRecord } from '#src/ledger/runs.ts';

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
    return { progress: await progressOf(ledger, run), needsKey: true };
  });
  invariant(seen.run !== null, 'following ends after a look', { run: runId });
  return { ...end, run: seen.run };
}

/** Changes while the run makes progress, or, if it is queued, the runs of its feed that came before it. */
async function progressOf(ledger: Ledger, run: RunRecord): Promise<string> {
  const ahead =
    run.state === 'queued' ? await ledger.runs.list({ states: activeRunStates, feed: run.feed, limit: 50 }) : [run];
  return ahead.map(({ id, state, counts }) => `${id} ${state} ${counts.rows} ${pendingCount(counts)}`).join(', ');
}
