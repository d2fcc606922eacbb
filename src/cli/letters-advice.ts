/** What to do with the dead letters of a list, by what became of them: what is advised works for these letters. Pure. */
import type { DeadLetter, DeadLetterState } from '#src/ledger/letters.ts';

/** What a list has, as far as the advice depends on it. */
export interface ListedStates {
  readonly counts: Map<DeadLetterState, number>;
  /** Of open letters: the runs that met them. */
  readonly openRuns: Set<string>;
  /** Runs that try letters again. */
  readonly retries: Set<string>;
  /** Some open letter was rejected for something else than its cells. */
  retryIsOfUse: boolean;
}

export function noStates(): ListedStates {
  return { counts: new Map(), openRuns: new Set(), retries: new Set(), retryIsOfUse: false };
}

export function addState(
  states: ListedStates,
  letter: Pick<DeadLetter, 'state' | 'class' | 'runId' | 'redriveRunId'>,
): void {
  const { state, class: reasonClass, runId, redriveRunId } = letter;
  states.counts.set(state, (states.counts.get(state) ?? 0) + 1);
  if (redriveRunId !== null && state === 'redriven') states.retries.add(redriveRunId);
  if (state !== 'open') return;
  states.openRuns.add(runId);
  states.retryIsOfUse ||= reasonClass !== 'invalid';
}

/**
 * One line for each state that is there.
 * @param chosen the open ones among the letters, as `dead retry` takes them: `--code X`, or `--all`.
 * @param withoutFixFile how many runs of open letters have no fix-file: not yet, or not any more.
 */
export function adviceOf(states: ListedStates, chosen: string, withoutFixFile: number): readonly string[] {
  const { counts, retries } = states;
  const [retry, ...otherRetries] = retries;
  const [closed, dropped, redriven] = (['closed', 'dropped', 'redriven'] as const).map(
    (state) => counts.get(state) ?? 0,
  );
  return [
    ...openAdvice(states, `patchbay dead retry ${chosen}`, withoutFixFile),
    ...(redriven && retry !== undefined
      ? [
          `${redriven} being tried again: patchbay runs show ${retry}${otherRetries.length === 0 ? '' : ' and others: patchbay runs ls'}`,
        ]
      : []),
    ...(dropped
      ? [
          `${dropped} dropped: nothing is done for ${dropped === 1 ? 'its row' : 'their rows'} any more; to have one go in after all, import a file that holds it: that opens its letter again`,
        ]
      : []),
    ...(closed
      ? [
          `${closed} closed: ${closed === 1 ? 'its row' : 'their rows'} went in, or a later file no longer held them; nothing is left to be done`,
        ]
      : []),
  ];
}

function openAdvice(
  { counts, openRuns, retryIsOfUse }: ListedStates,
  retry: string,
  withoutFixFile: number,
): readonly string[] {
  if (openRuns.size === 0) return [];
  const isMixed = counts.size > 1;
  if (retryIsOfUse) return [`try ${isMixed ? 'the open ones ' : ''}again: ${retry}`];
  if (withoutFixFile >= openRuns.size) return [];
  const rows = isMixed ? 'the open rows' : 'these rows';
  return [
    `fix ${rows} in the fix-file of their run and drop it in again; after a change of the mapping: ${retry} --remap`,
  ];
}
