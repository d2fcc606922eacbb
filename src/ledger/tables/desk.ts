/**
 * Tables of the desk: small records of many kinds, kept as one. Rows and nothing else; what a record's state means is its
 * subject's matter (`src/ledger/desk/`).
 */

/** What a record is of. Ids are unique within a kind. */
export type RecordKind = 'schedule' | 'tick';

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
}
