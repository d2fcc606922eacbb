/**
 * One key at work: its state in the machine, and the contents that the machine does not look at.
 *
 * Invariant: contents belong to the phase. `planned` is there from the first read on; `answer` is what the last request
 * said, for the words of an end.
 */
import { type Base, emptyBase, nobodyOwns, type PlanInput } from '#src/contacts/base.ts';
import { type Plan, planContact } from '#src/contacts/plan.ts';
import { ownedIfLanded } from '#src/contacts/settle.ts';
import type { ReplyDifference } from '#src/contacts/verify-reply.ts';
import { invariant, type PatchbayError } from '#src/errors.ts';
import type { WrittenContact } from '#src/ledger/contact-ledger.ts';
import type { ContactRecord, MovedSaid } from '#src/ledger/contact-record.ts';
import { mainFeed, sourceLabelOf } from '#src/ledger/main-feed.ts';
import type { StagedRecord } from '#src/ledger/staged-record.ts';
import { slotNamesOf } from '#src/mapping/configured-layout.ts';
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
  /** What the contact of that id is, by its look: no picture to plan from. */
  | { readonly kind: 'odd'; readonly id: string; readonly what: string }
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
  /** Monotonic: when the intent was committed. */
  intentAtMs: number;
  /** Monotonic: from when a look-up tells what became of the last write. */
  horizonAtMs: number;
  answer: Answer;
  /** A create of this piece of work was answered with a contact. */
  createAnswered: boolean;
  /** The contact that was found comes from a create of ours that was in doubt. */
  madeByUs: boolean;
  /** The contact to fetch by its id, where it is not the one that the key is bound to. */
  fetchId: string | null;
  /** Monotonic: when a write of this piece of work was answered. */
  writtenAtMs: number | null;
  /** Why the last write is in doubt, in one line without personal data. */
  doubtWhy: string;
}

export function beginKey(record: StagedRecord): KeyWork {
  const { key } = record;
  return {
    record,
    state: start.state,
    question: 'lease',
    contact: {
      key,
      state: 'none',
      contactId: null,
      seen: null,
      owned: nobodyOwns,
      agreed: [],
      stamps: [],
      saids: [],
      writtenAtMs: null,
      attempts: 0,
      intentRun: null,
      claim: null,
    },
    base: emptyBase,
    leaseUntilMs: 0,
    planned: null,
    claimed: false,
    intentAtMs: 0,
    horizonAtMs: 0,
    answer: { kind: 'none' },
    createAnswered: false,
    madeByUs: false,
    fetchId: null,
    writtenAtMs: null,
    doubtWhy: '',
  };
}

export const isAsking =
  (question: Question) =>
  (key: KeyWork): boolean =>
    key.question === question;

/** Plans the key from a read. The read's plan replaces an earlier one, and so does what it will write. */
export function planKey(chunk: Chunk, key: KeyWork, theirs: Contact | null, readAtMs: number): PlannedKey {
  const { run, parts } = chunk;
  const input: PlanInput = {
    feed: run.feed,
    sequence: key.record.sequence,
    sourceLabel: sourceLabelOf(run),
    base: key.base,
    theirs,
    ours: key.record.desired,
    itemRemoval: parts.limits.itemRemoval,
    adopt: run.options.adopt || parts.limits.adoptOf(run.feed),
    yieldsItems: run.feed === mainFeed,
    slotNames: run.mapping === null ? null : slotNamesOf(run.mapping),
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
  return { key: key.record.key, owned: ownedIfLanded(input.base.owned, plan.written) };
}

/**
 * What other feeds are to have said from now on: what the base says of them, where a write of theirs turned out to have
 * landed, and over it `others`, what settling moved. `isNew`: the contact was made anew, so that each writes it again.
 */
export function movedSaids({ contact, base }: KeyWork, others: Base['others'], isNew: boolean): readonly MovedSaid[] {
  const { claim, saids } = contact;
  const saidBefore = (feed: string) => saids.find((one) => one.feed === feed)?.said;
  const landed = base.others.filter(({ feed, said }) => said !== saidBefore(feed));
  const after = new Map([...landed, ...others].map(({ feed, said }) => [feed, said]));
  return [...after].map(([feed, said]) => {
    const hasLanded = landed.some((one) => one.feed === feed);
    return { feed, said, looksAgain: isNew || hasLanded, sequence: hasLanded ? (claim?.sequence ?? null) : null };
  });
}

/** What an earlier claim, of this feed or of another, turned out to have made them say. */
export function allMovedSaids(key: KeyWork): readonly MovedSaid[] {
  const { base, contact, record } = key;
  const others = movedSaids(key, [], false);
  const before = contact.saids.find(({ feed }) => feed === record.feed)?.said ?? null;
  if (base.said === null || base.said === before) return others;
  return [
    ...others,
    { feed: record.feed, said: base.said, looksAgain: true, sequence: contact.claim?.sequence ?? null },
  ];
}
