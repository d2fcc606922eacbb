/**
 * What the ledger knows of one key (`docs/rules.md`, "One contact per key").
 *
 *     none ──lease──▶ lookup ──nothing found──▶ intent ──2xx or found──▶ bound
 *                       ├──found──▶ bound          └──horizon passed──▶ lookup
 *                       └──two found, or taken and none found──▶ conflict, until a look-up finds none or one
 *
 * A lease is held by one piece of work at a time. A horizon is the earliest moment at which a look-up can tell
 * what became of a write. Both are instants of the ledger's clock (`Ledger.nowMs`).
 */
import type { Agreement, FieldStamp, Ownership, Said } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type { HeldField, JournalEntry } from '#src/contacts/outcome.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { NewAct } from './acts.ts';
import type { NewRun, RunRecord } from './runs.ts';

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
  /** When the last write of ours was answered, by the ledger's clock; null where there was none. */
  readonly writtenAtMs: number | null;
  /** Creates that ended in doubt while other writes succeeded, since the key was bound or its row died. */
  readonly attempts: number;
  /** The run whose create is in doubt; null while none is. */
  readonly intentRun: string | null;
  /** The write that is on its way or in doubt; null while none is. */
  readonly claim: Claim | null;
  /** The contact that had no externalId and got this key, or is about to; null for most. */
  readonly linkedTo: string | null;
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
  /** By the ledger's clock. */
  readonly nowMs: number;
  /** Whether the process of that owner is dead for certain: then its leases are void at once, its horizons stay. */
  readonly isOwnerDead: (owner: string) => boolean;
}

/** The moment at which leases are judged, and which of their owners are dead. */
export type LeaseMoment = Pick<LeaseRequest, 'nowMs' | 'isOwnerDead'>;

export type LeaseResult =
  | { readonly kind: 'leased'; readonly contact: ContactRecord }
  /** Another piece of work holds the key, or a create may still land: come back after this many milliseconds. */
  | { readonly kind: 'held'; readonly waitMs: number }
  | { readonly kind: 'horizon'; readonly waitMs: number }
  | { readonly kind: 'superseded' };

/** What the feed's file last said for a key, and how it looked. */
export interface SaidRecord {
  readonly key: string;
  /** By which bitmaps name the key. */
  readonly number: number;
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
  /** When our write was answered, by the ledger's clock; null where nothing was written. */
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
  readonly held: readonly SaidHeld[];
}

/** With the run and line that said the file's value, where they are not those of the row at hand: a person had decided for it. */
export type SaidHeld = HeldField & Partial<Pick<HeldRecord, 'runId' | 'line'>>;

/** What another feed's file said, as it is to be remembered from now on. */
export interface MovedSaid extends FeedSaid {
  /** Its next row must be planned, whatever it says: a write of it landed unseen, its contact was created again, or it lost a value while it was gone. */
  readonly looksAgain: boolean;
  /** Of the run whose write landed; null where none did. */
  readonly sequence: number | null;
}

/** A field that waits for a person, with both values (`docs/rules.md`, "Three pictures, one plan"). */
export interface HeldRecord extends HeldField {
  readonly feed: string;
  readonly key: string;
  /** The run whose file said `ours` last, also where a decision or a retry of the row met the field after it. */
  readonly runId: string;
  /** In that file. */
  readonly line: number;
  readonly sinceMs: number;
}

/**
 * What happened to a key with a write in doubt: its history, so that a duplicate can be explained.
 *
 * - `doubt`: a write may have landed: a lost reply, or an intent that a crash left behind;
 * - `adopted`: a look-up after a doubt found the contact, and the key was bound to it;
 * - `created`: after a doubt nothing was found, and a further create was answered with a contact;
 * - `bound`: the key was bound to another contact than before;
 * - `conflict`: a look-up found two contacts or more, or the service answered 409 and none was found.
 *
 * Only keys with something unusual have a history: a plain create leaves none, so that a first load costs nothing.
 */
export type KeyHistoryKind = 'doubt' | 'adopted' | 'created' | 'bound' | 'conflict';

/**
 * A run that entered one of these for a key met it in doubt, its own or that of an earlier run: the key is audited a second
 * time.
 */
export const doubtKinds = ['doubt', 'adopted', 'created'] as const satisfies readonly KeyHistoryKind[];

/** The detail of an event is cut there. */
export const detailCharactersMax = 200;

/** The most events of a key that are kept, the newest. */
export const eventsPerKeyMax = 20;

export interface KeyHistoryEntry {
  readonly key: string;
  readonly atMs: number;
  /** The run at work on the key; null where none is known. */
  readonly runId: string | null;
  readonly kind: KeyHistoryKind;
  /** The contact that the event is about, where there is one. */
  readonly contactId: string | null;
  /** One line without personal data: the error's code, `crash`, the ids of a conflict. */
  readonly detail: string | null;
}

/** Not before this instant of the ledger's clock can a look-up tell what became of a write. */
export interface Horizon {
  readonly atMs: number;
  /** How long it is in full: where the ledger's clock starts anew, it starts again with that. */
  readonly spanMs: number;
}

/** Creates that are about to be sent. */
export interface IntentRequest {
  /** Each with its claim: older rows of its feed are superseded while it stands. */
  readonly contacts: readonly (WrittenContact & {
    readonly claim: Claim | null;
    /** The bound contact that is gone, and that the create takes the place of. */
    readonly replaces?: string;
  })[];
  readonly owner: string;
  readonly runId: string;
  readonly horizon: Horizon;
}

export interface ClaimedContact extends WrittenContact {
  readonly position: number;
  /** The contact without an externalId that is about to get the key. */
  readonly linkTo?: string;
  /** The contact that has the key by now, as it was read: the key is bound to it with the claim. */
  readonly movedTo?: Contact;
  readonly claim: Claim | null;
  /**
   * An earlier write turned out to have landed: the new claim takes its place, and must not take it for an edit in the app. Or the key has
   * moved, and what was remembered is of another contact.
   */
  readonly resolved: {
    readonly agreed: readonly Agreement[];
    readonly stamps: readonly FieldStamp[];
    readonly saids: readonly MovedSaid[];
    /** What has landed of it; null where nothing did, or the journal has it. */
    readonly journal: JournalEntry | null;
  } | null;
}

export interface ClaimRequest {
  readonly contacts: readonly ClaimedContact[];
  readonly owner: string;
  readonly runId: string;
  readonly atMs: number;
  readonly horizon: Horizon;
}

/** What a write that is about to be sent makes the feed's own, should it land unseen. */
export interface WrittenContact {
  readonly key: string;
  readonly owned: Ownership;
}

/** `claim`: what was there before and is there again; null where nothing is in doubt. */
export interface UnclaimedContact extends WrittenContact {
  readonly claim: Claim | null;
}

/** A write that may have landed. */
interface Doubt {
  readonly key: string;
  readonly runId: string;
  readonly atMs: number;
  /** One line without personal data. */
  readonly why: string;
  /** Counts as one of the creates that may end so: other writes succeeded meanwhile. */
  readonly burn: boolean;
}

export interface HeldFilter {
  readonly feed?: string;
  readonly keys?: readonly string[];
  readonly field?: string;
  /** Said last by the file of this run. */
  readonly runId?: string;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: Pick<HeldRecord, 'feed' | 'key' | 'field'>;
}

/** What a person decided about held fields of one feed (`src/contacts/take-held.ts`). */
export interface HeldDecision extends LeaseMoment {
  readonly feed: string;
  /** As they were shown. */
  readonly shown: readonly HeldRecord[];
  /** The run that writes the file's values; null where the app's stay. */
  readonly write: { readonly run: NewRun; readonly rowsPerBatch: number } | null;
  readonly atMs: number;
  /** Of the person who decided. */
  readonly act?: NewAct;
}

export interface HeldDecided {
  readonly taken: readonly HeldRecord[];
  /** They wait no more, or between other values than were shown: nothing was decided. */
  readonly moved: readonly HeldRecord[];
  /** Their keys are being worked on, by a process that would not see the decision: ask again. */
  readonly busy: readonly HeldRecord[];
  /** Null where nothing is to be written. */
  readonly run: RunRecord | null;
}

/** A write that landed. */
export interface NewJournalRow extends Pick<JournalEntry, 'contactId' | 'kind' | 'changes' | 'source'> {
  readonly key: string;
  /** The run whose write it was; it is entered with the run's sequence. */
  readonly runId: string;
  /** When it was entered, by the wall clock. */
  readonly atMs: number;
}

export interface JournalRow extends NewJournalRow {
  /** In the order of entry. */
  readonly number: number;
  readonly runSequence: number;
}

/** All that is given must hold: of one run, or of one key. */
export interface JournalFilter {
  readonly runId?: string;
  readonly key?: string;
  /** In the order of entry, or against it. */
  readonly newestFirst?: boolean;
  /** The last one of the page before. */
  readonly after?: number;
  readonly limit: number;
}

export interface ContactLedger {
  get(keys: readonly string[]): Promise<ReadonlyMap<string, ContactRecord>>;
  /** Compare-and-set: every key gets an answer. */
  lease(request: LeaseRequest): Promise<ReadonlyMap<string, LeaseResult>>;
  /** Those of the keys for which `lease` would answer so, whatever holds them. */
  superseded(request: Pick<LeaseRequest, 'feed' | 'keys'>): Promise<ReadonlySet<string>>;
  /** Commits the intents to create, durable. Answers the keys whose lease the owner still holds; none for a run that was cancelled. */
  intend(request: IntentRequest): Promise<readonly string[]>;
  /**
   * Enters that PATCHes are about to be sent, what they write, and until when they may land: a lost reply then neither
   * leaves their items without an owner nor lets the record pass for unchanged, no process writes the key before the horizon, and no
   * older row of the feed does while the claim stands. Durable.
   * @returns the keys that are not claimed, since the contact that they were to be linked to is linked to another key.
   */
  claimItems(request: ClaimRequest): Promise<readonly string[]>;
  /** Takes claims back: the PATCHes were certainly not carried out. */
  unclaimItems(owner: string, contacts: readonly UnclaimedContact[]): Promise<void>;
  /** Takes intents back, with what they claimed: the creates were certainly not sent, or a look-up after the horizon found nothing. */
  withdrawIntents(owner: string, contacts: readonly WrittenContact[]): Promise<void>;
  /** Enters into the key's history that a write of its holder may have landed. Nothing for anybody else. */
  noteDoubt(owner: string, doubt: Doubt): Promise<void>;
  /** Gives leases back without an outcome. Intents and horizons stay. */
  release(owner: string, keys: readonly string[]): Promise<void>;
  /** Fields that wait for a person, by feed, key and field. */
  held(filter: HeldFilter): Promise<readonly HeldRecord[]>;
  heldCount(filter: Omit<HeldFilter, 'limit' | 'after'>): Promise<number>;
  /**
   * Moves base as the person decided, and enters the run with what is to be written, staged: all or nothing, durable. Its
   * rows are as new as what the feed said last, so that no waiting row of the feed counts as older.
   */
  decideHeld(decision: HeldDecision): Promise<HeldDecided>;
  /** Keys that are one of these, in any case of their ASCII letters, and bound to a contact; at most `limit`. */
  alikeKeys(
    folded: readonly string[],
    limit: number,
  ): Promise<readonly (Pick<ContactRecord, 'key' | 'seen'> & { readonly number: number | null })[]>;
  /** Keys of the contacts whose id, phone number or e-mail address this is, as the service last returned them. Looks at every contact. */
  keysSeenWith(text: string): Promise<readonly string[]>;
  /**
   * How long bound keys are that are, behind this prefix, digits with a zero in front: in characters behind it, at most `limit` lengths. Others get
   * their turn meanwhile (`zero-led.ts`).
   */
  zeroLedLengths(prefix: string, limit: number): Promise<readonly number[]>;
  /** Every write that landed since `data.keepJournal`, of a run or of a key, page by page. */
  journal(filter: JournalFilter): Promise<readonly JournalRow[]>;
  /** What happened to the key with a write in doubt, oldest first; kept for `data.keepFiles`. */
  history(key: string): Promise<readonly KeyHistoryEntry[]>;
  /** A few keys with the contact they are bound to: evidence of which workspace this is. */
  sampleBound(limit: number): Promise<readonly { readonly key: string; readonly contactId: string }[]>;
}
