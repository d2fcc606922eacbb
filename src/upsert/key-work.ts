/**
 * One key at work: its state in the machine, and the contents that the machine does not look at.
 *
 * Invariant: contents belong to the phase. `planned` is there from the first read on; `answer` is what the last request
 * said, for the words of an end.
 */
import type { Claim } from '#src/contacts/as-updated.ts';
import { type Base, emptyBase } from '#src/contacts/base.ts';
import { claimWritten } from '#src/contacts/claim-written.ts';
import { type Plan, type PlanInput, planContact } from '#src/contacts/plan.ts';
import type { ReplyDifference } from '#src/contacts/verify-reply.ts';
import { invariant, type PatchbayError } from '#src/errors.ts';
import type { WrittenContact } from '#src/ledger/contact-ledger.ts';
import type { ContactRecord } from '#src/ledger/contact-record.ts';
import { sourceLabelOf } from '#src/ledger/main-feed.ts';
import type { StagedRecord } from '#src/ledger/staged-record.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import type { Chunk } from './chunk.ts';
import { start } from './key-machine.ts';
import type { Effect, KeyState } from './key-state.ts';

/** An effect that is answered by an event. */
export type Question = Extract<
  Effect,
  { readonly do: 'lease' | 'lookUp' | 'fetch' | 'intend' | 'create' | 'patch' }
>['do'];

/** A fresh read and the plan made from it. */
export interface PlannedKey {
  readonly input: PlanInput;
  readonly plan: Plan;
  /** Monotonic: the oldest possible moment of the read. */
  readonly readAtMs: number;
}

export type Answer =
  | { readonly kind: 'none' }
  /** The contact as the service holds it now, and where it differs from what was wanted. */
  | {
      readonly kind: 'contact';
      readonly contact: Contact;
      readonly warnings: readonly string[];
      readonly differences: readonly ReplyDifference[];
    }
  | { readonly kind: 'refusal'; readonly status: number; readonly body: ServiceErrorBody }
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'failure'; readonly failure: PatchbayError };

export interface KeyWork {
  readonly record: StagedRecord;
  state: KeyState;
  /** What the machine waits for; null at rest. */
  question: Question | null;
  contact: ContactRecord;
  /** What we remember of the contact. */
  base: Base;
  /** Monotonic: when the lease ends. */
  leaseUntilMs: number;
  planned: PlannedKey | null;
  /** Whether what the plan writes was entered as the feed's own. */
  claimed: boolean;
  /** An earlier update, perhaps of another feed, that turned out to have landed. */
  landed: Claim | null;
  /** Monotonic: when the intent was committed. */
  intentAtMs: number;
  /** Monotonic: from when a look-up tells what became of the last write. */
  horizonAtMs: number;
  answer: Answer;
  /** A create of this piece of work was answered with a contact. */
  createAnswered: boolean;
  /** The contact that was found comes from a create of ours that was in doubt: it carries the source that we give. */
  madeByUs: boolean;
  /** Why the last write is in doubt, in one line without personal data. */
  doubtWhy: string;
}

export function beginKey(record: StagedRecord): KeyWork {
  const { key } = record;
  const { owned } = emptyBase;
  return {
    record,
    state: start.state,
    question: 'lease',
    contact: {
      key,
      state: 'none',
      contactId: null,
      seen: null,
      owned,
      writtenSequence: 0,
      attempts: 0,
      intentRun: null,
      claim: null,
    },
    base: emptyBase,
    leaseUntilMs: 0,
    planned: null,
    claimed: false,
    landed: null,
    intentAtMs: 0,
    horizonAtMs: 0,
    answer: { kind: 'none' },
    createAnswered: false,
    madeByUs: false,
    doubtWhy: '',
  };
}

export const isAsking =
  (question: Question) =>
  (key: KeyWork): boolean =>
    key.question === question;

/** Plans the key from a read. The read's plan replaces an earlier one, and so does what it will write. */
export function planKey(chunk: Chunk, key: KeyWork, theirs: Contact | null, readAtMs: number): PlannedKey {
  // A contact that is not bound yet has no base to speak of but the feed's own.
  const input: PlanInput = {
    feed: chunk.run.feed,
    sourceLabel: sourceLabelOf(chunk.run),
    base: key.base,
    theirs,
    ours: key.record.desired,
    itemRemoval: chunk.parts.limits.itemRemoval,
  };
  const planned = { input, plan: planContact(input), readAtMs };
  key.planned = planned;
  key.claimed = false;
  return planned;
}

export function plannedOf(key: KeyWork): PlannedKey {
  invariant(key.planned !== null, 'a key is planned before it is written', { phase: key.state.phase });
  return key.planned;
}

/** What the feed owns if the planned write lands. */
export function ownedIfWritten(key: KeyWork): WrittenContact {
  const { input, plan } = plannedOf(key);
  return { key: key.record.key, owned: claimWritten(input.base.owned, input.feed, plan.written) };
}
