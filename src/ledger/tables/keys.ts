/**
 * What is known of keys: contacts at rest, work in flight, what feeds know, held fields, histories.
 *
 * A key at rest has one row in `contacts`, and for each feed that settled it a narrow one in `known`. A key that is worked on, or
 * whose write is in doubt, has a row in `flights` as well. Times are instants of the ledger's clock in milliseconds, unless
 * said otherwise; hashes are 128 bits in 22 characters of base64url.
 */
import type {
  HeldFilter,
  HeldRecord,
  JournalFilter,
  JournalRow,
  KeyHistoryEntry,
  NewJournalRow,
} from '#src/ledger/contacts.ts';
import type { PersonInLedger } from '#src/ledger/forgetting.ts';

export interface ContactRow {
  /** Names the key in bitmaps; null before it is written. */
  readonly number: number | null;
  readonly key: string;
  readonly state: 'lookup' | 'bound' | 'conflict';
  readonly contactId: string | null;
  /** The packed memory (`packed-memory.ts`); null where nothing is remembered. */
  readonly document: string | null;
  /** The contact that had no externalId and got this key, or is about to: no other key has it. */
  readonly linkedTo: string | null;
  /** The sequence of the run that bound the key to its contact, and when, by the wall clock. */
  readonly boundRun: number | null;
  readonly boundAtMs: number | null;
  /** When the last write of Patchbay's was answered. */
  readonly writtenAtMs: number | null;
}

/** Work on a key that goes on, or ended in doubt. What is only looked at after a doubt stays the JSON text that it is in the table. */
export interface FlightRow {
  readonly key: string;
  readonly owner: string | null;
  readonly leaseUntilMs: number | null;
  /** Before it no look-up tells what became of the write; `horizonSpanMs`: how long it is in full. */
  readonly horizonAtMs: number | null;
  readonly horizonSpanMs: number | null;
  /** Of a `Claim`. */
  readonly claim: string | null;
  /** The run whose create is on its way or in doubt. */
  readonly intentRun: string | null;
  readonly attempts: number;
  /** Of an `Ownership`: what Patchbay owns of the contact should the write have landed; null: what its memory says. */
  readonly owned: string | null;
}

/** What a feed knows of a key: whether a row of it is unchanged is decided by this alone. */
export interface KnownRow {
  readonly feed: string;
  readonly key: string;
  /** Null where the next row of the key must be planned, whatever it says. */
  readonly rowHash: string | null;
  readonly fingerprint: string | null;
  /** The fingerprint of a row that was given up since. */
  readonly tried: string | null;
  /** Of the run whose row was settled last. */
  readonly sequence: number;
  /** Of the newest run whose row was settled. */
  readonly spoken: number;
  readonly heldCount: number;
}

export interface KeyRows {
  readonly contact: ContactRow | null;
  readonly flight: FlightRow | null;
  /** Of the feeds that were asked for. */
  readonly known: readonly KnownRow[];
}

/** What a feed said of a key, and what decides whether its next row is unchanged. */
export interface SaidRow {
  readonly number: number;
  readonly key: string;
  /** The packed memory, with what all feeds said. */
  readonly document: string;
  /** These four as in `KnownRow`. */
  readonly rowHash: string | null;
  readonly fingerprint: string | null;
  readonly tried: string | null;
  readonly heldCount: number;
  /** Whether a write of the key is on its way or in doubt. */
  readonly isInDoubt: boolean;
}

/** Rows to write, each whole; those of one key may be in several lists. */
export interface KeyWrites {
  readonly contacts: readonly ContactRow[];
  readonly flights: readonly FlightRow[];
  /** Keys that are at rest from now on. */
  readonly landed: readonly string[];
  readonly known: readonly KnownRow[];
  /** Of each feed and key, the fields that are held still: all others go. */
  readonly heldStill: readonly { readonly feed: string; readonly key: string; readonly fields: readonly string[] }[];
  /** A field that was held before keeps its `sinceMs`. */
  readonly held: readonly HeldRecord[];
  /** Of a key, the oldest beyond `eventsPerKeyMax` are forgotten. */
  readonly history: readonly KeyHistoryEntry[];
}

/** A part of what a feed knows, in the order of the keys' numbers. */
export interface KnownPage {
  readonly numbers: Uint32Array;
  /** 16 bytes a key; zeros where the next row of the key must be planned. */
  readonly rowHashes: Uint8Array;
  /** The numbers of those that have held fields. */
  readonly held: Uint32Array;
}

export interface FeedRow {
  readonly feed: string;
  /** The instant of its first run, by the wall clock. */
  readonly createdAtMs: number;
  /** Goes up in each transaction that changes what the feed knows. */
  readonly revision: number;
  /** The greatest number of a key that it knows; 0 where it knows none. */
  readonly lastNumber: number;
}

/** The journal: every write that landed, by run and by key (`docs/rules.md`, "The journal"). */
export interface JournalTables {
  /** A row of a run that is not there is left out. */
  addJournal(rows: readonly NewJournalRow[]): Promise<void>;
  journalPage(filter: JournalFilter): Promise<readonly JournalRow[]>;
}

/** `isWriting`: its create or update was sent, and is not known to have ended. */
export type InFlight = { readonly owner: string; readonly keys: readonly string[] } | { readonly isWriting: true };

/** What of the past is forgotten by its age. */
export type PastKind = 'journal' | 'history';

/**
 * `folded`: keys with a contact that are one of these in any case of their ASCII letters. `from`: keys, with a contact or without one, that
 * lie in lower case from this text to before `below`, in the order of their bytes: no more are looked at than are returned.
 * `patterns`: by `MemoriesLike`.
 */
export type SomeContacts =
  | 'bound'
  | MemoriesLike
  | { readonly folded: readonly string[] }
  | { readonly from: string; readonly below: string };

/**
 * Of the keys with numbers from `first` to `last` those that have this contact, or whose memory is like one of the patterns, as LIKE compares:
 * in any case of ASCII letters. Behind them the first key with a greater number, whatever is remembered of it: there the next look begins.
 */
export interface MemoriesLike {
  readonly patterns: readonly string[];
  readonly contactId: string;
  readonly first: number;
  readonly last: number;
}

export interface KeyTables extends JournalTables {
  /** Every key that has any row; of `known` those of these feeds. */
  read(keys: readonly string[], feeds: readonly string[]): Promise<ReadonlyMap<string, KeyRows>>;
  /** Of keys that the feed knows and of which something is remembered: a part of `read`, in half its time, as staging asks for each changed row. */
  said(feed: string, keys: readonly string[]): Promise<readonly SaidRow[]>;
  /** Raises the revision of each feed of which a `known` row is written. */
  write(writes: KeyWrites): Promise<void>;
  /** The keys that are linked to these contacts, by contact. */
  linked(contactIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Keys that are worked on or in doubt, in any order: those of these that an owner holds; or, of any feed, all with a write under way. */
  inFlight(which: InFlight): Promise<readonly Pick<ContactRow, 'key' | 'number'>[]>;
  /** Every feed that ever had a run, in the order of their names; or that one. */
  feeds(name?: string): Promise<readonly FeedRow[]>;
  /** How many keys the feed knows. Counted: 50 ms for a million. */
  knownCount(feed: string): Promise<number>;
  /** What the feed knows of keys with greater numbers. */
  knownPage(feed: string, afterNumber: number, limit: number): Promise<KnownPage>;
  /** Of keys with numbers behind `afterNumber` up to `throughNumber`, those whose row that run settled last. In their order. */
  settledIn(feed: string, sequence: number, afterNumber: number, throughNumber: number): Promise<Uint32Array>;
  keysAt(numbers: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** By feed, key and field. */
  held(filter: HeldFilter): Promise<readonly HeldRecord[]>;
  heldCount(filter: Omit<HeldFilter, 'limit' | 'after'>): Promise<number>;
  /** Oldest first. */
  history(keys: readonly string[]): Promise<readonly KeyHistoryEntry[]>;
  /**
   * Of the past: the oldest of the journal first; fewer than `limit` are deleted where no older one is left. Of a person: every row of any
   * table that names the key (`erased-rows.ts`), and those letters. @returns how many were deleted.
   */
  forget(what: { readonly past: PastKind; readonly beforeMs: number } | PersonInLedger, limit: number): Promise<number>;
  /** Keys that have a contact, any of them; or those of `which`. At most `limit`. */
  someContacts(limit: number, which: SomeContacts): Promise<readonly ContactRow[]>;
  /**
   * Keys with numbers behind that one, as many numbers as `width`, of which the feed settled a row of that run last, or which that
   * run bound. `next`: the number behind which to go on; null at the end.
   */
  settledBy(
    feed: string,
    sequence: number,
    afterNumber: number,
    width: number,
  ): Promise<{ readonly keys: readonly string[]; readonly next: number | null }>;
}
