/** The part of the ledger that holds one record a key: leases, intents, bindings. */
import type { Agreement, FieldStamp, Ownership } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type { ContactRecord, HeldRecord, LeaseRequest, LeaseResult, MovedSaid } from './contact-record.ts';
import type { LeaseMoment } from './lease-rule.ts';
import type { NewRun, RunRecord } from './run-record.ts';

export interface IntentRequest {
  /** Each with its claim: older rows of its feed are superseded while it stands. */
  readonly contacts: readonly (WrittenContact & { readonly claim: Claim | null })[];
  readonly owner: string;
  readonly runId: string;
  readonly bootId: string;
  /** Monotonic: not before this moment can a look-up prove that the create did not land. */
  readonly horizonMonotonicMs: number;
}

export interface ClaimedContact extends WrittenContact {
  readonly position: number;
  readonly claim: Claim | null;
  /** An earlier write turned out to have landed: the new claim takes its place, and must not take it for people's. */
  readonly resolved: {
    readonly agreed: readonly Agreement[];
    readonly stamps: readonly FieldStamp[];
    readonly saids: readonly MovedSaid[];
  } | null;
}

export interface ClaimRequest {
  readonly contacts: readonly ClaimedContact[];
  readonly owner: string;
  readonly runId: string;
  readonly bootId: string;
  readonly atMs: number;
  /** Monotonic: from then on the PATCHes have landed or never will. */
  readonly horizonMonotonicMs: number;
}

/** What a write that is about to be sent makes the feed's own, should it land unseen. */
export interface WrittenContact {
  readonly key: string;
  readonly owned: Ownership;
}

/** `claim`: what stood there before and stands again; null where nothing is in doubt. */
export interface UnclaimedContact extends WrittenContact {
  readonly claim: Claim | null;
}

/** A write that may have landed. */
export interface Doubt {
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
}

export interface HeldDecided {
  readonly taken: readonly HeldRecord[];
  /** They wait no more, or between other values than were shown: nothing was decided. */
  readonly moved: readonly HeldRecord[];
  /** Somebody is at work on their keys, and would not see the decision: ask again. */
  readonly busy: readonly HeldRecord[];
  /** Null where nothing is to be written. */
  readonly run: RunRecord | null;
}

export interface ContactLedger {
  get(keys: readonly string[]): Promise<ReadonlyMap<string, ContactRecord>>;
  /** Compare-and-set: every key gets an answer. */
  lease(request: LeaseRequest): Promise<ReadonlyMap<string, LeaseResult>>;
  /** Commits the intents to create, durable. Answers the keys whose lease the owner still holds. */
  intend(request: IntentRequest): Promise<readonly string[]>;
  /**
   * Enters that PATCHes are about to be sent, what they write, and until when they may land: a lost reply then neither
   * makes their items nobody's nor lets the record pass for unchanged, nobody writes the key before the horizon, and no
   * older row of the feed does while the claim stands. Durable.
   */
  claimItems(request: ClaimRequest): Promise<void>;
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
  /** A few keys with the contact they are bound to: evidence of which workspace this is. */
  sampleBound(limit: number): Promise<readonly { readonly key: string; readonly contactId: string }[]>;
}
