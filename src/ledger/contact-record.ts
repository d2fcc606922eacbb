/**
 * What the ledger knows of one key (`rules.md`, "One contact per key").
 *
 *     none ──lease──▶ lookup ──nothing found──▶ intent ──2xx or found──▶ bound
 *                       ├──found──▶ bound          └──horizon passed──▶ lookup
 *                       └──two found, or taken and none found──▶ conflict, until a look-up finds none or one
 *
 * A lease is held by one piece of work at a time. A horizon is the earliest moment at which a look-up can tell
 * what became of a write. Both are monotonic times of one boot of the system.
 */
import type { Agreement, FieldStamp, Ownership, Said } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type { HeldField } from '#src/contacts/outcome.ts';
import type { Contact } from '#src/wire/contact.ts';

export type CreateState = 'none' | 'lookup' | 'intent' | 'bound' | 'conflict';

export interface ContactRecord {
  readonly key: string;
  readonly state: CreateState;
  readonly contactId: string | null;
  /** What the service last returned to us. */
  readonly seen: Contact | null;
  readonly owned: Ownership;
  /** What file and app last agreed on, for each feed. */
  readonly agreed: readonly Agreement[];
  /** Whose change settled a field last. */
  readonly stamps: readonly FieldStamp[];
  /** What each feed said last. */
  readonly saids: readonly FeedSaid[];
  /** When the last write of ours was answered: monotonic, of this boot. Null where it was another's or none. */
  readonly writtenAtMs: number | null;
  /** Creates that ended in doubt while other writes succeeded, since the key was bound or its row died. */
  readonly attempts: number;
  /** The run whose create is in doubt; null while none is. */
  readonly intentRun: string | null;
  /** The write that is on its way or in doubt; null while none is. */
  readonly claim: Claim | null;
}

export interface FeedSaid {
  readonly feed: string;
  readonly said: Said;
}

export interface LeaseRequest {
  /** Whose rows they are: order is kept per feed. */
  readonly feed: string;
  readonly keys: readonly { readonly key: string; readonly sequence: number }[];
  /** Names this piece of work: process and a number. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly nowMonotonicMs: number;
  readonly bootId: string;
  /** The whole horizon: a horizon of an earlier boot starts anew with it. */
  readonly horizonMs: number;
  /** Whether the process of that owner is dead for certain: then its leases are void at once, its horizons stay. */
  readonly isOwnerDead: (owner: string) => boolean;
}

export type LeaseResult =
  | { readonly kind: 'leased'; readonly contact: ContactRecord }
  /** Another piece of work holds the key, or a create may still land: come back after so many milliseconds. */
  | { readonly kind: 'held'; readonly waitMs: number }
  | { readonly kind: 'horizon'; readonly waitMs: number }
  | { readonly kind: 'superseded' };

/** What the feed's file last said for a key, and how it looked. */
export interface SaidRecord {
  readonly key: string;
  readonly said: Said;
  /** Null where part of the row failed: it must be looked at again. */
  readonly rowHash: string | null;
  readonly fingerprint: string | null;
  /** Of a row that was given up: what waits for it is no new change. */
  readonly triedFingerprint: string | null;
  readonly heldCount: number;
}

/** What is known of a contact after the service answered: the part of the base that belongs to the key. */
export interface BoundContact {
  readonly contactId: string;
  readonly seen: Contact;
  readonly owned: Ownership;
  readonly agreed: readonly Agreement[];
  readonly stamps: readonly FieldStamp[];
  /** When our write was answered, monotonic; null where nothing was written. */
  readonly writtenAtMs: number | null;
}

/** The part of the base that belongs to feed and key, after a write that was verified or a verified no-op. */
export interface SettledSaid {
  readonly said: Said;
  /** Null where part of the row failed: it must be looked at again. A held field alone needs no request. */
  readonly rowHash: string | null;
  readonly fingerprint: string | null;
  readonly mappingVersion: string;
  /** Those fields of `said.held` that this row named, with what there is to decide between. */
  readonly held: readonly HeldField[];
}

/** What another feed's file said, as it is to be remembered from now on. */
export interface MovedSaid extends FeedSaid {
  /** Its next row must be planned, whatever it says: a write of it landed unseen, or its contact was made anew. */
  readonly looksAgain: boolean;
  /** Of the run whose write landed; null where none did. */
  readonly sequence: number | null;
}

/** A field that waits for a person, with both values (`rules.md`, "Three pictures, one plan"). */
export interface HeldRecord extends HeldField {
  readonly feed: string;
  readonly key: string;
  /** Of the run that met it last. */
  readonly runId: string;
  readonly line: number;
  readonly sinceMs: number;
}
