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
import type { Claim } from '#src/contacts/as-updated.ts';
import type { Ownership, Said } from '#src/contacts/base.ts';
import type { Contact } from '#src/wire/contact.ts';

export type CreateState = 'none' | 'lookup' | 'intent' | 'bound' | 'conflict';

export interface ContactRecord {
  readonly key: string;
  readonly state: CreateState;
  readonly contactId: string | null;
  /** What the service last returned to us. */
  readonly seen: Contact | null;
  readonly owned: Ownership;
  /** Of the newest row that was written, or was about to be; 0 before the first. */
  readonly writtenSequence: number;
  /** Creates that ended in doubt while other writes succeeded, since the key was bound or its row died. */
  readonly attempts: number;
  /** The run whose create is in doubt; null while none is. */
  readonly intentRun: string | null;
  /** The update that is on its way or in doubt; null while none is. */
  readonly claim: Claim | null;
}

export interface LeaseRequest {
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
  /** Null while a field is held or failed: the row must be looked at again. */
  readonly rowHash: string | null;
  readonly fingerprint: string | null;
}

/** What is known of a contact after the service answered: the half of the base that belongs to the key. */
export interface BoundContact {
  readonly contactId: string;
  readonly seen: Contact;
  readonly owned: Ownership;
}

/** The half of the base that belongs to feed and key, after a write that was verified or a verified no-op. */
export interface SettledSaid {
  readonly said: Said;
  /** Null while a field is held: the row must be looked at again. */
  readonly rowHash: string | null;
  readonly fingerprint: string | null;
  readonly mappingVersion: string;
}
