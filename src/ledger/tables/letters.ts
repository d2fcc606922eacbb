/** What a database has to provide for dead letters and for the rejected rows of runs. */
import type { DeadLetter, DeadLetterState, LettersCounted } from '../letters.ts';
import type { DeadRow, RunDeadRow } from '../staging.ts';

/** The order in which rows were met: by the run whose file said them, then by their lines. */
export type MetPlace = Pick<DeadLetter, 'sequence' | 'line' | 'id'>;

/** The order of lists: newest first, then by line. */
export type ListPlace = Pick<DeadLetter, 'lastAtMs' | 'line' | 'id'>;

/** What decisions need of a letter: all of it but its texts and documents. */
export interface LetterFacts
  extends Pick<
    DeadLetter,
    'id' | 'feed' | 'code' | 'key' | 'class' | 'field' | 'file' | 'line' | 'sequence' | 'state' | 'runId' | 'lastAtMs'
  > {
  /**
   * Its key, or a hash of its content where it has none; before the key the part of a contact that it is about, where that is no whole row
   * (`rules/letters.ts`). There is one letter per feed, identity and code.
   */
  readonly identity: string;
  readonly firstRunId: string;
  /** The redrive that took it last, also when that has ended. */
  readonly redriveRunId: string | null;
}

/** Which letters are asked for. */
export type LettersSought =
  | {
      readonly by: 'identity';
      readonly feed: string;
      readonly of: readonly Pick<LetterFacts, 'identity' | 'code'>[];
    }
  | { readonly by: 'id'; readonly ids: readonly string[] }
  /** Unsettled ones of these keys. */
  | { readonly by: 'key'; readonly feed: string; readonly keys: readonly string[] }
  /** Unsettled ones of these states, in the order they were met. */
  | {
      readonly by: 'met';
      readonly feed: string;
      readonly states: readonly DeadLetterState[];
      readonly after: MetPlace | null;
      readonly limit: number;
    }
  /** Open ones without a key that were met before that run, in the order they were met. */
  | {
      readonly by: 'keyless';
      readonly feed: string;
      readonly beforeSequence: number;
      readonly after: MetPlace | null;
      readonly limit: number;
    }
  /** What a redrive took and has not settled, and what has died again in it; in the order they were met. */
  | { readonly by: 'redrive'; readonly runId: string; readonly after: MetPlace | null; readonly limit: number }
  /** An open one of each of these reasons, where there is one. */
  | { readonly by: 'reason'; readonly reasons: readonly Pick<DeadLetter, 'class' | 'code' | 'field'>[] }
  | LetterPage;

/** A page of a list, in its order. What is absent is not asked for. */
export interface LetterPage {
  readonly by: 'list';
  /** Whether those that are closed or dropped are listed, or those that are not. */
  readonly settled: boolean;
  readonly states?: readonly DeadLetterState[];
  readonly code?: string;
  readonly runId?: string;
  readonly feed?: string;
  readonly after: ListPlace | null;
  readonly limit: number;
}

/** A letter to be entered, or to be opened again with this content. */
export interface LetterEntry
  extends Omit<DeadLetter, 'attempts' | 'seenCount' | 'state' | 'firstAtMs' | 'lastAtMs' | 'redriveRunId'> {
  readonly identity: string;
  readonly redriveRunId: string | null;
  readonly atMs: number;
  /** How much oftener it was seen, where the letter is there already. */
  readonly seenBy: number;
}

/** What is absent stays. */
export interface LetterChange {
  readonly state?: DeadLetterState;
  /** With `state` only. */
  readonly redriveRunId?: string | null;
  readonly attemptsBy?: number;
  readonly seenBy?: number;
  readonly lastAtMs?: number;
}

/** How many letters have the same of what they were counted by; the rest is empty. */
export interface LetterCount extends Pick<DeadLetter, 'class' | 'code' | 'field' | 'feed' | 'runId'> {
  readonly letters: number;
}

/** A redrive that is taking its letters, or has not settled them all. */
export interface RedriveRecord {
  readonly runId: string;
  readonly feed: string;
  readonly ids: readonly string[] | null;
  readonly code: string | null;
  /** Only letters that one of these runs met last. */
  readonly metBy: readonly string[];
  /** It has looked at all open letters up to here. */
  readonly after: MetPlace | null;
  readonly isTaking: boolean;
}

export interface LetterTables {
  facts(sought: LettersSought): Promise<readonly LetterFacts[]>;
  /** Whole letters, in no order. */
  read(ids: readonly string[]): Promise<readonly DeadLetter[]>;
  /** Each identity of a feed and a code at most once. */
  write(letters: readonly LetterEntry[]): Promise<void>;
  change(ids: readonly string[], change: LetterChange): Promise<void>;
  /** Kept, not counted: cheap. Those of runs come with the oldest run first. */
  counts(
    by: 'all' | 'reason' | 'run',
    which: Pick<LettersCounted, 'code' | 'runId' | 'feed'> & { readonly states: readonly DeadLetterState[] },
  ): Promise<readonly LetterCount[]>;
  /** Another number whenever a letter was entered or deleted, or changed its state. */
  revision(): Promise<number>;
  /** Deletes settled ones that were met last before that instant, and headers that no row has. @returns how many letters. */
  forget(beforeMs: number, limit: number): Promise<number>;

  /** All of them: there are few at a time. */
  redrives(): Promise<readonly RedriveRecord[]>;
  /** Enters, changes, or deletes where null. */
  putRedrive(runId: string, redrive: RedriveRecord | null): Promise<void>;

  /** In this order after those that the run has already. */
  addDeadRows(
    runSequence: number,
    rows: readonly { readonly dead: DeadRow; readonly letterId: string }[],
  ): Promise<void>;
  deadRows(runSequence: number, afterOrdinal: number, limit: number): Promise<readonly RunDeadRow[]>;
  /** Kept, not counted. The most frequent first. */
  deadCounts(
    runSequence: number,
  ): Promise<readonly { readonly class: DeadRow['class']; readonly code: string; readonly count: number }[]>;
}
