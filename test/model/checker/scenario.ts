/**
 * A scenario: what is in ledger and service at the beginning, what is at work, what may happen besides the two workers, and
 * what must be true at the end, whatever the schedule.
 */
import type { Column, Feed } from '../commands/commands.ts';
import type { ModelService } from './model-service.ts';

/** What a row says, by column: a column that is left out is blank, an empty text clears. */
export type Cells = Readonly<Partial<Record<Column, string>>>;

/** One file of a feed, by key. */
export interface FileOf {
  readonly feed: Feed;
  readonly rows: Readonly<Record<string, Cells>>;
}

/** Something that others do, at any moment of a schedule or never. */
export interface OutsideEvent {
  readonly words: string;
  readonly key: string;
  /** Answers false where there is nothing to do it to. */
  readonly happen: (service: ModelService) => boolean;
}

/** What happened before the beginning, a minute apart, without any fault. `lost`: the answer to the file's write was lost. */
export type Past = { readonly file: FileOf; readonly lost?: true } | { readonly event: OutsideEvent };

export interface KeyPromise {
  readonly key: string;
  /** How many contacts of the key others may have made. */
  readonly madeByOthers: number;
  /** Whether it was bound at the beginning: then no run creates it. */
  readonly known: boolean;
  /** The contact that it was bound to is gone, and one that others made takes its place. */
  readonly isInPlace?: true;
  /** Two contacts of the key are there: nothing may be written. */
  readonly isConflict?: boolean;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** The service refuses a second contact of a key with 409. Else it really makes one. */
  readonly unique: boolean;
  readonly patchMode: 'merge' | 'replace';
  /** Each batch is delivered to both workers, as a queue does that redelivers. Else to one at a time. */
  readonly redelivered: boolean;
  /** A dead worker's leases are seen to be dead, since it ran on the same machine. Else they last until their end. */
  readonly sameHost: boolean;
  /** So many writes at the beginning are lost without a trace, and no other write succeeds. */
  readonly outageWrites: number;
  readonly past: readonly Past[];
  /** Files at work, the older first, one batch each. */
  readonly files: readonly FileOf[];
  /** By key: the contact without an externalId that the rows of files are to be linked to, once it is there. */
  readonly links?: Readonly<Record<string, string>>;
  /** What becomes of rows whose contacts are gone; absent: they are skipped. */
  readonly onGone?: 'recreate';
  /** A file that comes when all is done and is read plainly: by what becomes of it one sees what the ledger remembers. */
  readonly epilogue?: FileOf;
  readonly events: readonly OutsideEvent[];
  readonly keys: readonly KeyPromise[];
  /** Codes of dead letters that are right here. */
  readonly mayDie: readonly string[];
}
