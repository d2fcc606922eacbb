/** A dead letter: a row given up, with its reason (`docs/rules.md`, "Dead letters"). One per feed, key and code. */
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { DeadClass, Problem } from '#src/contacts/outcome.ts';
import type { Row } from '#src/sources/row.ts';
import type { NewAct } from './acts.ts';
import type { NewRun, RunRecord } from './runs.ts';
import type { ServiceAnswer } from './staging.ts';

/** Of a row with more problems the first ones are kept. */
export const problemsPerLetterMax = 50;

/** Of rows that share a letter, each is restored from its own cells when a spreadsheet has changed them (`src/runs/fix/fix-own-row.ts`). */
export const othersPerLetterMax = 10;

export type DeadLetterState = 'open' | 'redriven' | 'closed' | 'dropped';

export interface DeadLetter {
  readonly id: string;
  readonly runId: string;
  readonly feed: string;
  readonly file: string;
  readonly line: number;
  readonly key: string | null;
  readonly class: DeadClass;
  readonly code: string;
  /** Of the first problem. */
  readonly field: string | null;
  readonly message: string;
  readonly hint: string;
  /** All that is wrong with the row, the first one included; at most `problemsPerLetterMax`. */
  readonly problems: readonly Problem[];
  readonly row: Row | null;
  /** Other rows that the last run rejected under it, with its key and the header of its own: at most `othersPerLetterMax`, the newest last. */
  readonly others?: readonly Row[];
  readonly desired: DesiredContact | null;
  readonly answer: ServiceAnswer | null;
  /** How often it was tried again. */
  readonly attempts: number;
  /** How many runs met it. */
  readonly seenCount: number;
  readonly state: DeadLetterState;
  /** The run that tries it again, while state is `redriven`. */
  readonly redriveRunId: string | null;
  /** Sequence of the run that met it last. */
  readonly sequence: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** All letters that fit what is there. */
export interface LetterChoice {
  readonly ids?: readonly string[];
  readonly code?: string;
  /** The run that met it last. */
  readonly runId?: string;
}

/** Which open letters a person drops, or tries again: those of these ids, or all that fit the rest. */
export interface LettersOfFeed extends LetterChoice {
  readonly feed?: string;
}

/** A letter that is to be mapped anew from this row. */
export interface EditedLetter {
  readonly id: string;
  readonly row: Row;
}

export interface DeadLetterFilter extends LetterChoice {
  readonly states?: readonly DeadLetterState[];
  readonly feed?: string;
  /** The last letter of the page before. */
  readonly after?: Pick<DeadLetter, 'id' | 'line' | 'lastAtMs'>;
  /** At most this many, newest first. */
  readonly limit: number;
}

/** What is short of a letter. */
export type LetterSummary = Pick<
  DeadLetter,
  'id' | 'feed' | 'runId' | 'file' | 'line' | 'key' | 'class' | 'code' | 'field' | 'state' | 'sequence' | 'lastAtMs'
>;

/** The part of the ledger that holds dead letters. */
export interface DeadLetterLedger {
  list(filter: DeadLetterFilter): Promise<readonly DeadLetter[]>;
  /** The same list without what is long: of letters that are many. */
  summaries(filter: Omit<DeadLetterFilter, 'ids'>): Promise<readonly LetterSummary[]>;
  get(id: string): Promise<DeadLetter | null>;
  /** Those of a key that are open or being tried again. */
  ofKey(feed: string, key: string): Promise<readonly DeadLetter[]>;
  /** Another number whenever a letter was entered or deleted, or changed its state: cheap. */
  revision(): Promise<number>;
  /** How many letters fit, by class, code and field: the most frequent first. Cheap, however many there are. */
  counts(which: LettersCounted): Promise<readonly LettersOfReason[]>;
  /** Open letters by code and field, with an example. */
  groups(limit: number): Promise<readonly DeadLetterGroup[]>;
  /** How many open letters fit, by feed and by the run that met them last. The oldest run first. */
  openByRun(choice: LetterChoice): Promise<readonly OpenOfRun[]>;
  /**
   * Enters a redrive, which takes the open letters of its feed that fit and that one of these runs met last: no other redrive
   * takes them from the moment it is there. Null, and nothing is entered, where none is open any more. Durable. Where this is
   * interrupted, `takeLetters` goes on. With `edited` that letter gets the row that a person corrected, in the same transaction.
   */
  enterRedrive(
    run: Omit<NewRun, 'kind' | 'fileName'>,
    choice: LetterChoice & { readonly metBy: readonly string[]; readonly edited?: EditedLetter },
    act?: NewAct,
  ): Promise<RunRecord | null>;
  /** Ends open letters without their rows going in; in slices, each with its act. @returns how many. */
  drop(choice: LettersOfFeed, act: NewAct): Promise<number>;
  /** Resolves when a redrive has taken all its letters, whichever process began with it: before its first row is read. */
  takeLetters(runId: string): Promise<void>;
  /** What a redrive took and has not settled, in the order it was met; also what has died again in it. */
  lettersOf(
    runId: string,
    after: Pick<DeadLetter, 'sequence' | 'line' | 'id'> | null,
    limit: number,
  ): Promise<readonly DeadLetter[]>;
  /** What redrives that have ended took and have not settled is open again: completes what a crash left undone. */
  giveBackEnded(): Promise<void>;
  /**
   * Closes, in slices, what is unsettled of the keys that a run which was applied found unchanged: a success, too. Nothing for one that was
   * stopped or cancelled before it was applied, nor once it is pruned.
   */
  closeUnchanged(runId: string): Promise<void>;
  /** How many open letters without a key have a row that the run's file, a full one of their feed, does not hold any more. */
  unmetCount(runId: string): Promise<number>;
  /** Closes them, in slices: nothing else could ever close them. @returns how many. */
  closeUnmet(runId: string): Promise<number>;
}

/** Which letters are counted. */
export interface LettersCounted extends Pick<LetterChoice, 'code' | 'runId'> {
  readonly states: readonly DeadLetterState[];
  readonly feed?: string;
}

export type LettersOfReason = Pick<DeadLetter, 'class' | 'code' | 'field'> & { readonly count: number };

interface OpenOfRun {
  readonly feed: string;
  readonly runId: string;
  readonly count: number;
}

export interface DeadLetterGroup {
  readonly class: string;
  readonly code: string;
  readonly field: string | null;
  readonly count: number;
  readonly example: DeadLetter;
}
