/**
 * One key at work: its state in the machine, and the contents that the machine does not look at.
 *
 * Invariant: contents belong to the phase. `planned` is there from the first read on; `answer` is what the last request
 * said, for the words of an end.
 */
import { type Base, emptyBase, nobodyOwns, type PlanInput } from '#src/contacts/base.ts';
import { type Plan, planContact } from '#src/contacts/plan.ts';
import type { ReplyDifference } from '#src/contacts/reply.ts';
import { ownedIfLanded } from '#src/contacts/settle.ts';
import { invariant, type PatchbayError } from '#src/errors.ts';
import type { ContactRecord, MovedSaid, WrittenContact } from '#src/ledger/contacts.ts';
import { mainFeed, sourceLabelOf } from '#src/ledger/rules/feeds.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { slotNamesOf } from '#src/mapping/layout.ts';
import { inStep } from '#src/steps.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import { type Chunk, horizonMs, type UpsertLimits } from './chunk.ts';
import { type Effect, type KeyEvent, type KeyState, start } from './key-machine.ts';

/** An effect that is answered by an event. */
type Question = Extract<Effect, { readonly do: 'lease' | 'lookUp' | 'fetch' | 'intend' | 'create' | 'patch' }>['do'];

/** A fresh read and the plan made from it. */
interface PlannedKey {
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

// Leases for keys at work, by compare-and-set in the ledger (`ledger/lease-rule.ts`).

/** A held key is asked for again at most so late, so that a lease given back early is not waited out. */
const heldWaitMaxMs = 2_000;
/** How often a read that grew too old in the line is refreshed before the record is put off. */
const refreshesMax = 3;

/** Answers each key with its event, and fills in what the ledger knows of those that were leased. */
export async function takeLeases(chunk: Chunk, keys: readonly KeyWork[]): Promise<ReadonlyMap<KeyWork, KeyEvent>> {
  const { ledger, clock, limits, identity } = chunk.parts;
  const nowMonotonicMs = clock.monotonicMs();
  const leases = await inStep('lease', () =>
    ledger.contacts.lease({
      feed: chunk.run.feed,
      keys: keys.map(({ record }) => ({ key: record.key, sequence: record.sequence })),
      owner: chunk.owner,
      leaseMs: limits.leaseMs,
      nowMonotonicMs,
      bootId: clock.bootId,
      horizonMs: horizonMs(limits),
      isOwnerDead: identity.isDead,
    }),
  );
  return new Map(
    keys.map((key): [KeyWork, KeyEvent] => {
      const lease = leases.get(key.record.key);
      switch (lease?.kind) {
        case 'leased':
          key.contact = lease.contact;
          key.base = baseOf(chunk, lease.contact);
          key.leaseUntilMs = nowMonotonicMs + limits.leaseMs;
          return [key, { kind: 'leased', facts: factsOf(key, limits, nowMonotonicMs) }];
        case 'superseded':
          return [key, { kind: 'superseded' }];
        case 'horizon':
          return [key, { kind: 'horizon', waitMs: lease.waitMs }];
        default:
          return [key, { kind: 'held', waitMs: Math.min(lease?.waitMs ?? heldWaitMaxMs, heldWaitMaxMs) }];
      }
    }),
  );
}

function baseOf({ run, parts }: Chunk, { saids, agreed, stamps, seen, owned }: ContactRecord): Base {
  // `main` gives its items up once a named feed names them.
  const owns = (feed: string) => (feed === mainFeed ? run.feed === mainFeed : parts.limits.ownsItems(feed));
  return {
    said: saids.find(({ feed }) => feed === run.feed)?.said ?? null,
    others: saids.filter(({ feed }) => feed !== run.feed).map(({ feed, said }) => ({ feed, said, owns: owns(feed) })),
    agreed,
    stamps,
    seen,
    owned,
  };
}

type Facts = Extract<KeyEvent, { kind: 'leased' }>['facts'];

function factsOf({ contact, record }: KeyWork, { attemptsMax, visibilityLagMs }: UpsertLimits, nowMs: number): Facts {
  const { writtenAtMs } = contact;
  return {
    bound: contact.contactId !== null,
    mayLag: writtenAtMs !== null && nowMs - writtenAtMs < visibilityLagMs,
    createsLeft: attemptsMax - contact.attempts,
    triesLeft: attemptsMax - record.attempts,
    refreshesLeft: refreshesMax,
    maySearchAgain: record.attempts === 0,
  };
}
