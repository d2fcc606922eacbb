/**
 * Rules on the record of one key: what a write that is about to be sent, was taken back, was answered or failed changes in it
 * (`docs/rules.md`, "One contact per key"). Pure.
 *
 * `none` and `lookup` become `intent` before a create leaves, `bound` when the service answered, `conflict` when it holds the
 * key twice, or refuses it and shows no contact with it.
 */
import type { Agreement, FieldStamp, Ownership } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import type {
  BoundContact,
  ClaimedContact,
  ClaimRequest,
  CreateState,
  Horizon,
  IntentRequest,
  UnclaimedContact,
  WrittenContact,
} from '#src/ledger/contacts.ts';
import type { Contact } from '#src/wire/contact.ts';

/** Only the named parts change. Times are instants of the ledger's clock. */
export interface ContactChange {
  readonly state?: CreateState;
  readonly contactId?: string;
  readonly seen?: Contact;
  readonly owned?: Ownership;
  readonly agreed?: readonly Agreement[];
  readonly stamps?: readonly FieldStamp[];
  readonly claim?: Claim | null;
  readonly linkedTo?: string | null;
  readonly attempts?: number;
  readonly intentRun?: string | null;
  readonly lease?: { readonly owner: string; readonly untilMs: number } | null;
  readonly horizon?: Horizon | null;
  /** When the last write was answered. */
  readonly writtenAtMs?: number;
  /** The run that bound the key to its contact, by its sequence; when, by the wall clock. */
  readonly bound?: BoundAt;
}

interface BoundAt {
  readonly runSequence: number;
  readonly atMs: number;
}

/** What the rules look at. */
export interface ContactFacts {
  readonly state: CreateState;
  readonly contactId: string | null;
  readonly linkedTo: string | null;
  readonly owner: string | null;
  readonly attempts: number;
  /** Another key is linked to the contact that this one is to be linked to. */
  readonly isLinkTaken?: boolean;
}

/** No lease, and nothing else changes. */
export const released: ContactChange = { lease: null };

/** A create is about to be sent. Null where the lease is lost, or the key is bound to a contact that it does not replace. */
export function intended(
  { owner, runId, horizon }: IntentRequest,
  { owned, claim, replaces }: IntentRequest['contacts'][number],
  facts: ContactFacts | null,
): ContactChange | null {
  if (facts?.owner !== owner) return null;
  if (facts.state === 'bound' && (replaces === undefined || facts.contactId !== replaces)) return null;
  return { state: 'intent', horizon, intentRun: runId, owned, claim };
}

/** Nothing of ours is on its way to the contact that has the key by now. */
const boundAnew: ContactChange = { state: 'bound', attempts: 0, intentRun: null, linkedTo: null };

/** An update is about to be sent. Null where the lease is lost, or another key is linked to the contact. */
export function claimed(
  { owner, horizon }: ClaimRequest,
  { owned, claim, resolved, linkTo, movedTo }: ClaimedContact,
  facts: ContactFacts | null,
  at: BoundAt | null,
): ContactChange | null {
  if (facts?.owner !== owner || facts.isLinkTaken === true) return null;
  const change: ContactChange = {
    ...{ owned, claim, horizon },
    ...(linkTo === undefined ? {} : { linkedTo: linkTo }),
    ...(movedTo === undefined ? {} : { ...boundAnew, contactId: movedTo.id, seen: movedTo }),
    ...(movedTo === undefined || at === null ? {} : { bound: at }),
  };
  return resolved === null ? change : { ...change, agreed: resolved.agreed, stamps: resolved.stamps };
}

/** The update was certainly not carried out: what was claimed before is claimed again. Null where the lease is lost. */
export function unclaimed(
  owner: string,
  { owned, claim }: UnclaimedContact,
  facts: ContactFacts | null,
): ContactChange | null {
  if (facts?.owner !== owner) return null;
  // A key that is bound to what it was linked to stays linked.
  const staysLinked = facts.state === 'bound' && facts.linkedTo === facts.contactId;
  return { owned, claim, horizon: null, ...(staysLinked ? {} : { linkedTo: null }) };
}

/** The create certainly did not land. Null where the lease is lost, or no create is on its way. */
export function withdrawn(owner: string, { owned }: WrittenContact, facts: ContactFacts | null): ContactChange | null {
  if (facts?.owner !== owner || facts.state !== 'intent') return null;
  return { state: 'lookup', owned, horizon: null, intentRun: null, claim: null };
}

/** A write may have landed. Null where the lease is lost. */
export function doubted(owner: string, countsAttempt: boolean, facts: ContactFacts | null): ContactChange | null {
  if (facts?.owner !== owner) return null;
  return { attempts: facts.attempts + (countsAttempt ? 1 : 0) };
}

/** The service answered for the key. `boundTo`: the contact that it was bound to before. */
export function bound(
  { contactId, seen, owned, agreed, stamps, writtenAtMs }: BoundContact,
  at: BoundAt,
  boundTo: string | null,
): ContactChange {
  return {
    ...{ state: 'bound', contactId, seen, owned, agreed, stamps, attempts: 0 },
    ...{ horizon: null, intentRun: null, claim: null },
    ...(writtenAtMs === null ? {} : { writtenAtMs }),
    ...(boundTo === contactId ? {} : { bound: at }),
  };
}

/** A row of the key was rejected. A redrive counts its doubts from zero: otherwise a letter in doubt could never be tried again. */
export const rejected: ContactChange = { attempts: 0 };

/** Nothing of ours is on its way: a look-up has answered for the creates before, and the last one was refused. */
export const inConflict: ContactChange = { state: 'conflict', horizon: null, intentRun: null };
