/**
 * Tables of the desk: small records of many kinds, kept as one. Rows and nothing else; what a record's state means is its
 * subject's matter (`src/ledger/desk/`).
 */

/** What a record is of. Ids are unique within a kind. */
export type RecordKind =
  | ('schedule' | 'tick' | 'delivery' | 'condition' | 'snapshot' | 'series' | 'takenFile' | 'takenUrl' | 'takeBegun')
  | ('audit' | 'finding' | 'touched' | 'act' | 'missing' | 'forgotten')
  | ('plan' | 'planned')
  | ('binding' | 'pause' | 'failure' | 'defect' | 'engine' | 'worker' | 'host' | 'queue' | 'expiry');

export interface DeskRecord {
  /** Given when it is put first, and never again: the order of entry within its kind. */
  readonly number: number;
  readonly id: string;
  /** Whose it is: the schedule of a tick, the feed of a delivery; null for kinds that are not asked for by owner. */
  readonly owner: string | null;
  readonly state: string;
  /** The instant by which it is found, in milliseconds: when it is due while it waits, when it ended after that. */
  readonly atMs: number | null;
  /** A JSON value. */
  readonly document: unknown;
}

/**
 * Which records of a kind, in which order; all that is given must hold. Each order is asked for as it is named here, so that a
 * database has an index for it:
 * - `id`: by id, without owner and state;
 * - `oldest`, `newest`: by number, with an owner, a state or both;
 * - `due`: by instant, then by number; with a state;
 * - `latest`: by instant, then by id, the last ones first; with an owner and a state.
 */
export interface RecordFilter {
  readonly owner?: string;
  readonly state?: string;
  /** Only those that have an instant, at or before this one. */
  readonly untilMs?: number;
  readonly order: 'id' | 'oldest' | 'newest' | 'due' | 'latest';
  /** Only those behind this one in that order. */
  readonly after?: Pick<DeskRecord, 'number' | 'id' | 'atMs'> | undefined;
  readonly limit: number;
}

/** One content of one phone number in a series, from the first snapshot that shows it to the last. */
export interface StoredVersion {
  /** Of the number in its series: a small one. */
  readonly key: number;
  /** The service's id of the number. */
  readonly id: string;
  readonly fromMs: number;
  /** Null: the newest snapshot shows it. */
  readonly untilMs: number | null;
  /** JSON text, as it was given. */
  readonly text: string;
}

/**
 * Which versions of a series: those that have not ended; all of one number, the oldest first; of these numbers that of an
 * instant; those that begin with a snapshot, or end with it.
 */
export type VersionFilter =
  | { readonly isOpen: true }
  | { readonly id: string }
  | { readonly keys: readonly number[]; readonly atMs: number }
  | { readonly fromMs: number }
  | { readonly untilMs: number };

/** A key that a run touched, kept beyond its staged rows. */
export interface TouchedRow {
  /** Of its row; grows in the order of the file. */
  readonly position: number;
  readonly key: string;
  readonly inDoubt: boolean;
}

export interface DeskTables {
  /** Those that are there, in any order. */
  records(kind: RecordKind, ids: readonly string[]): Promise<readonly DeskRecord[]>;
  listRecords(kind: RecordKind, filter: RecordFilter): Promise<readonly DeskRecord[]>;
  /** By an index, a microsecond for some twenty of them. */
  countRecords(kind: RecordKind, of: { readonly owner?: string; readonly state?: string }): Promise<number>;
  /** Each takes the place of the one with its id; a new one gets the next number. */
  putRecords(kind: RecordKind, records: readonly Omit<DeskRecord, 'number'>[]): Promise<void>;
  /** @returns how many were there. */
  removeRecords(kind: RecordKind, ids: readonly string[]): Promise<number>;

  /** An index leads to each, however long the history is. */
  versions(series: string, filter: VersionFilter): Promise<readonly StoredVersion[]>;
  /**
   * Ends the open versions of numbers, then begins new ones. @returns the keys of the numbers that begin one, by id; a number that
   * was there before has the one that it had.
   */
  turnVersions(
    series: string,
    ended: { readonly keys: readonly number[]; readonly untilMs: number },
    begun: { readonly versions: readonly Pick<StoredVersion, 'id' | 'text'>[]; readonly fromMs: number },
  ): Promise<ReadonlyMap<string, number>>;
  /** Those that ended before then, and numbers that have no version left. @returns how many there were: fewer than `limit` at the end. */
  removeVersions(series: string, beforeMs: number, limit: number): Promise<number>;

  /** Each takes the place of the one at its position. */
  putTouched(runSequence: number, rows: readonly TouchedRow[]): Promise<void>;
  /** The next ones behind that position, in order; all of them, or those that were in doubt. */
  touched(runSequence: number, after: number, limit: number, onlyInDoubt: boolean): Promise<readonly TouchedRow[]>;
}
