/** What the runs say of a feed: all that is needed to tell whether it is well. Redrives and fix-files count nowhere. */
import type { RunState } from './run-record.ts';

/** States in which a file's run has come to an end, or to a halt. A cancelled one says nothing of its feed. */
export const standingStates = ['done', 'doneWithDead', 'stopped', 'failed'] as const satisfies readonly RunState[];

export interface FeedStanding {
  readonly feed: string;
  /** When its first run was entered. */
  readonly createdAtMs: number;
  /** The newest run in one of `standingStates`. */
  readonly last: LastRun | null;
  /** Whether a newer file waits or is at work. */
  readonly atWork: boolean;
  /** When the newest file arrived that was accepted: it is done, with dead rows or without. */
  readonly acceptedAtMs: number | null;
}

export interface LastRun {
  readonly id: string;
  readonly state: (typeof standingStates)[number];
  /** Of its reason: why it stopped or failed. */
  readonly code: string | null;
  /** How many of its rows died. */
  readonly deadCount: number;
  /** Whether any of their letters, or of those a fix-file left since, is still open or being tried again. */
  readonly deadOpen: boolean;
}
