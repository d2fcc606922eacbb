/**
 * One key at work: its state in the machine (`key-machine.ts`), and the contents that the machine does not look at.
 *
 * Contents are a tagged union: one member for each thing that an answer can bring. `KeyWork` pairs each question of the
 * machine with the contents that asking it takes, so that a create is sent from a committed intent and from nothing else.
 * `withQuestion` is the one place where a question meets its contents.
 *
 * Values are replaced, never changed. Moments named `…AtMs` and `…UntilMs` are monotonic.
 */
import { type Base, nobodyOwns, type PlanInput } from '#src/contacts/base.ts';
import type { Claim } from '#src/contacts/claim.ts';
import { whenBack } from '#src/contacts/missing.ts';
import {
  type CreatePlan,
  type DeletePlan,
  type IdlePlan,
  type PatchPlan,
  type Plan,
  planCreate,
  planUpdate,
} from '#src/contacts/plan.ts';
import { planDigest } from '#src/contacts/planned.ts';
import { usualPolicies } from '#src/contacts/policies.ts';
import type { ReplyVerdict } from '#src/contacts/reply.ts';
import { ownedIfLanded } from '#src/contacts/settle.ts';
import { withHoldsEnded } from '#src/contacts/take-held.ts';
import { planUndo } from '#src/contacts/undo.ts';
import { PatchbayError } from '#src/errors.ts';
import type { ContactRecord, HeldRecord, MovedSaid, WrittenContact } from '#src/ledger/contacts.ts';
import { baseFor, mainFeed, sourceLabelOf } from '#src/ledger/rules/feeds.ts';
import { atHand, contactRecord } from '#src/ledger/rules/key-rows.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { policiesOf } from '#src/mapping/policies-of.ts';
import { slotNamesOf } from '#src/mapping/wanted-values.ts';
import { inStep } from '#src/steps.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { ServiceErrorBody } from '#src/wire/error.ts';
import { type Chunk, type WaitingFields, waitingIn } from './chunk.ts';
import { isKeyMoved, isLinkedInPlace, isLinkOf, linkFact } from './in-place.ts';
import { type Effect, type KeyEvent, type KeyState, start } from './key-machine.ts';

/** An effect that is answered by an event. */
export type Question = Extract<
  Effect,
  { readonly do: 'lease' | 'lookUp' | 'fetch' | 'intend' | 'create' | 'patch' | 'delete' }
>['do'];

export function isQuestion(effect: Effect): effect is Extract<Effect, { readonly do: Question }> {
  return effect.do in takes;
}

/** What the ledger knows of a leased key. */
export interface Lease {
  readonly contact: ContactRecord;
  /** What Patchbay remembers of the contact, with what of a write in doubt turned out to have landed. */
  readonly base: Base;
  /** What the file of the run's feed said last of its held fields. */
  readonly waiting: readonly HeldRecord[];
  /** By this process's monotonic clock. */
  readonly untilMs: number;
  /** By how much the ledger's clock was ahead of that one when the lease was taken. */
  readonly aheadMs: number;
}

/** A plan, and what it was made from. */
interface Planned {
  readonly lease: Lease;
  readonly input: PlanInput;
  readonly plan: Plan;
}

/** A look-up found nothing. */
export interface Absent extends Planned {
  readonly is: 'absent';
  readonly plan: CreatePlan;
}

interface Found extends Planned {
  readonly theirs: Contact;
  /** The earliest possible moment of the read. */
  readonly readAtMs: number;
  /** The contact comes from a create of Patchbay's that was in doubt. */
  readonly madeByUs: boolean;
}

/** A read found the contact, and nothing is to be written. */
export interface Same extends Found {
  readonly is: 'same';
  readonly plan: IdlePlan;
}

/** A read found the contact, and it is to be updated. */
export interface Differs extends Found {
  readonly is: 'differs';
  readonly plan: PatchPlan | DeletePlan;
}

/** The intent of a create is committed. */
export interface Intended extends Planned {
  readonly is: 'intended';
  readonly plan: CreatePlan;
  readonly intentAtMs: number;
  /** From when a look-up tells what became of the create. */
  readonly horizonAtMs: number;
}

/** What an update is about to write is in the ledger. */
export interface Claimed extends Found {
  readonly is: 'claimed';
  readonly plan: PatchPlan | DeletePlan;
  /** From when a read tells what became of the update. */
  readonly horizonAtMs: number;
}

/** What a write is sent from. */
export type Sendable = Intended | Claimed;

interface OfLease {
  readonly lease: Lease;
}

/** The service answered a write with the contact. */
export interface Written extends OfLease, Pick<ReplyVerdict, 'differences' | 'warnings'> {
  readonly is: 'written';
  readonly sent: Sendable;
  readonly reply: Contact;
  readonly writtenAtMs: number;
}

/** The contact was deleted, or was gone already. */
export interface Removed extends OfLease {
  readonly is: 'removed';
  readonly sent: Claimed;
}

/** What the service answered, if it refused a write. */
export interface Refusal {
  readonly status: number;
  readonly body: ServiceErrorBody;
}

export interface Refused extends OfLease {
  readonly is: 'refused';
  readonly sent: Sendable;
  readonly refusal: Refusal;
}

/** The write may have landed. */
export interface Doubted extends OfLease {
  readonly is: 'doubted';
  readonly sent: Sendable;
  /** In one line, without personal data. */
  readonly why: string;
}

export type Contents =
  | { readonly is: 'begun' }
  | (OfLease & { readonly is: 'leased' })
  /** A look-up shows the contact of that id with less than the interface promises. */
  | (OfLease & { readonly is: 'unclear'; readonly id: string })
  | Absent
  | Same
  | Differs
  | Intended
  | Claimed
  | Written
  | Removed
  | Refused
  | Doubted
  /** Contacts that are in the way: several with the key, or the bound one with another key. */
  | (OfLease & { readonly is: 'conflict'; readonly ids: readonly string[] })
  /** The contact of that id is no picture to plan from; `what` says why. */
  | (OfLease & { readonly is: 'odd'; readonly id: string; readonly what: string })
  /** The read fails for this key. */
  | (OfLease & { readonly is: 'unreadable'; readonly failure: PatchbayError });
type Tag = Contents['is'];
export type Holding<Is extends Tag> = Extract<Contents, { readonly is: Is }>;

/** The contents that each question takes. */
interface Takes {
  readonly lease: 'begun';
  /** At first; after a write that was refused as taken, an update that found no contact, a refused API key. */
  readonly lookUp: 'leased' | 'refused' | 'claimed';
  /** The bound contact; one that a look-up showed in part; one to be linked (absent); one whose read grew old (claimed). */
  readonly fetch: 'leased' | 'unclear' | 'absent' | 'claimed';
  readonly intend: 'absent';
  readonly create: 'intended';
  readonly patch: 'differs' | 'claimed';
  /** That of an undo. */
  readonly delete: 'differs' | 'claimed';
}
const takes: { readonly [Q in Question]: readonly Takes[Q][] } = {
  lease: ['begun'],
  lookUp: ['leased', 'refused', 'claimed'],
  fetch: ['leased', 'unclear', 'absent', 'claimed'],
  intend: ['absent'],
  create: ['intended'],
  patch: ['differs', 'claimed'],
  delete: ['differs', 'claimed'],
};

interface Work<Q extends Question | null, C extends Contents> {
  readonly record: StagedRecord;
  readonly state: KeyState;
  readonly question: Q;
  readonly contents: C;
}

/** A key that waits for the answer to a question. */
export type Asking<Q extends Question> = Work<Q, Holding<Takes[Q]>>;
/** `question` is null at rest. */
export type KeyWork = { readonly [Q in Question]: Asking<Q> }[Question] | Work<null, Contents>;

/** The event that an answer is for the machine, and what it brought. */
export interface Answer {
  readonly event: KeyEvent;
  readonly contents: Contents;
}

export function beginKey(record: StagedRecord): KeyWork {
  return { record, state: start.state, question: 'lease', contents: { is: 'begun' } };
}

/**
 * The key after a step of the machine.
 * @throws PatchbayError `bug` `invariant`: the machine asks for what these contents cannot answer.
 */
export function withQuestion(
  record: StagedRecord,
  state: KeyState,
  question: Question | null,
  contents: Contents,
): KeyWork {
  if (question === null) return { record, state, question, contents };
  const allowed: readonly Tag[] = takes[question];
  if (!allowed.includes(contents.is)) throw mismatch(question, contents);
  // The line above has compared the tags, which the compiler cannot follow from the question to the contents.
  return { record, state, question, contents } as KeyWork;
}

/** A mistake of this folder's: what the machine wants and what there is do not belong together. */
export function mismatch(wanted: string, { is }: Contents): PatchbayError {
  return new PatchbayError('bug', 'invariant', `the key machine wants ${wanted} where the key is ${is}`);
}

export const isAsking =
  <Q extends Question>(question: Q) =>
  (work: KeyWork): work is KeyWork & Asking<Q> =>
    work.question === question;

/** A contact was found, neither bound here nor from an intent of Patchbay's: another tool, or a person, made it, or gave it the key. */
export function isUnknown({ record, contents }: KeyWork): boolean {
  if (contents.is !== 'unclear' && contents.is !== 'same' && contents.is !== 'differs') return false;
  const isTakenOver = record.desired.undo === undefined && contents.is !== 'unclear';
  if (isTakenOver && isKeyMoved(record, contents.lease, contents.theirs)) return true;
  const { contactId, state, linkedTo } = contents.lease.contact;
  const isOurLink = linkedTo === (contents.is === 'unclear' ? contents.id : contents.theirs.id);
  return contactId === null && state !== 'intent' && !isOurLink;
}

/** Plans a create: no contact was found. */
export function planAbsent(chunk: Chunk, record: StagedRecord, lease: Lease): Absent {
  const input = planInput(chunk, record, lease, null);
  return { is: 'absent', lease, input, plan: planCreate(input) };
}

/** Plans a contact from a read. */
export function planFound(
  chunk: Chunk,
  record: StagedRecord,
  lease: Lease,
  read: { readonly theirs: Contact; readonly readAtMs: number; readonly madeByUs: boolean },
): Same | Differs {
  const input = planInput(chunk, record, lease, read.theirs);
  const { undo } = record.desired;
  const isFilled = undo === undefined || (undo.makes === true && isLinkedInPlace(record, lease, read.theirs));
  // A key that has moved may have come back to the contact of the run that is undone: what is remembered is of another one all the same.
  const isOther = undo !== undefined && isKeyMoved(record, lease, read.theirs);
  const plan = isFilled
    ? planUpdate(input, read.theirs)
    : planUndo(input, isOther ? { ...undo, contactId: '' } : undo, read.theirs);
  const found = { ...read, lease, input };
  if (plan.kind === 'patch' || plan.kind === 'delete') return { is: 'differs', ...found, plan };
  return { is: 'same', ...found, plan };
}

/**
 * Whether the run carries out a plan, and something else would be written now. What an earlier write of the run has changed is no
 * such thing: the plan was being carried out then.
 */
export function hasMoved(
  { planned, run }: Pick<Chunk, 'planned' | 'run'>,
  { key }: StagedRecord,
  { lease, plan }: Pick<Planned, 'lease' | 'plan'>,
  contactId: string | null,
): boolean {
  if (planned === null || lease.contact.claim?.runId === run.id) return false;
  return planned.get(key) !== planDigest(plan, contactId);
}

/** Whether the file wins over values that it never agreed on. */
function adopts({ run, parts }: Pick<Chunk, 'run' | 'parts'>): boolean {
  return run.options.adopt || parts.limits.adoptOf(run.feed);
}

function planInput({ run, parts }: Chunk, record: StagedRecord, lease: Lease, theirs: Contact | null): PlanInput {
  const ours = whenBack(record.desired, lease.base, theirs);
  const isLinked = theirs !== null && isLinkOf(record, lease, theirs);
  const isOfFile = record.line > 0;
  return {
    feed: run.feed,
    sequence: record.sequence,
    sourceLabel: sourceLabelOf(run),
    base: withHoldsEnded(lease.base, lease.waiting, { feed: run.feed, ours, theirs, isOfFile }),
    theirs,
    ours,
    // A person has decided about each field of held ones.
    policies: run.mapping === null || record.desired.taken !== undefined ? usualPolicies : policiesOf(run.mapping),
    itemRemoval: parts.limits.itemRemoval,
    // Nothing of a linked contact is overwritten: that it is the same person is likely, and no more.
    adopt: theirs !== null && !isLinked && adopts({ run, parts }),
    isLinked,
    restores: run.options.repair || record.desired.repairs === true,
    yieldsItems: run.feed === mainFeed,
    slotNames: run.mapping === null ? null : slotNamesOf(run.mapping),
  };
}

/** What the feed owns if the planned write lands; of a contact that is made, nothing else. */
export function ownedIfWritten({ is, input, plan }: Absent | Differs): WrittenContact {
  const before = is === 'absent' ? nobodyOwns : input.base.owned;
  return { key: input.ours.key, owned: ownedIfLanded(before, plan.written) };
}

/**
 * What other feeds have said from now on: what the base holds of them, if a write of theirs turned out to have landed,
 * overridden by `others`, which settling moved. `isNew`: the contact was created anew, so that each feed writes it again. What moves of a feed
 * that is gone was taken away meanwhile: once it is back, its next row is looked at, also one that says the same.
 */
export function movedSaids({ contact, base }: Lease, others: Base['others'], isNew: boolean): readonly MovedSaid[] {
  const { claim, saids } = contact;
  const saidBefore = (feed: string) => saids.find((one) => one.feed === feed)?.said;
  const landed = base.others.filter(({ feed, said }) => said !== saidBefore(feed));
  const after = new Map([...landed, ...others].map((one) => [one.feed, one]));
  return [...after.values()].map(({ feed, said, exists }) => {
    const hasMoved = landed.some((one) => one.feed === feed);
    const looksAgain = isNew || hasMoved || !exists;
    return { feed, said, looksAgain, sequence: hasMoved ? sequenceOf(claim, feed) : null };
  });
}

/** A claim is of one feed: what it makes others say makes none of their rows older. */
function sequenceOf(claim: Claim | null, feed: string): number | null {
  return claim?.feed === feed ? claim.sequence : null;
}

/** What an earlier claim, of this feed or of another, turned out to have made them say. */
export function allMovedSaids(lease: Lease, feed: string): readonly MovedSaid[] {
  const { base, contact } = lease;
  const others = movedSaids(lease, [], false);
  const before = contact.saids.find((one) => one.feed === feed)?.said ?? null;
  if (base.said === null || base.said === before) return others;
  return [...others, { feed, said: base.said, looksAgain: true, sequence: sequenceOf(contact.claim, feed) }];
}

/** The longest wait for a key that is leased elsewhere: leases are often released early. */
const heldWaitMaxMs = 2_000;
/** How often a read that became too old before its write was sent is refreshed, before the record is deferred. */
const refreshesMax = 3;

/** Takes the leases by compare-and-set in the ledger. One answer for each key. */
export async function takeLeases(
  chunk: Chunk,
  keys: readonly Asking<'lease'>[],
): Promise<ReadonlyMap<StagedRecord, Answer>> {
  const { ledger, clock, limits, identity } = chunk.parts;
  // Read before the ledger's clock: so this process takes a lease for over a little early, and never late.
  const monotonicMs = clock.monotonicMs();
  const nowMs = await ledger.nowMs(clock);
  const leases = await inStep('lease', () =>
    ledger.contacts.lease({
      feed: chunk.run.feed,
      keys: keys.map(({ record }) => ({ key: record.key, sequence: record.sequence })),
      owner: chunk.owner,
      leaseMs: limits.leaseMs,
      nowMs,
      isOwnerDead: identity.isDead,
    }),
  );
  const taken = [...leases.values()].flatMap((one) => (one.kind === 'leased' ? [one.contact] : []));
  const waiting = await waitingIn(chunk, taken);
  return new Map(
    keys.map(({ record, contents }): [StagedRecord, Answer] => {
      const lease = leases.get(record.key);
      switch (lease?.kind) {
        case 'leased': {
          const { contact } = lease;
          const facts = factsOf(chunk, contact, record, nowMs);
          const until = { untilMs: monotonicMs + limits.leaseMs, aheadMs: nowMs - monotonicMs };
          const held = { ...knownOf(chunk, contact, waiting), ...until };
          return [record, { event: { kind: 'leased', facts }, contents: { is: 'leased', lease: held } }];
        }
        case 'superseded':
          return [record, { event: { kind: 'superseded' }, contents }];
        case 'horizon':
          return [record, { event: { kind: 'horizon', waitMs: lease.waitMs }, contents }];
        default: {
          const waitMs = Math.min(lease?.waitMs ?? heldWaitMaxMs, heldWaitMaxMs);
          return [record, { event: { kind: 'held', waitMs }, contents }];
        }
      }
    }),
  );
}

const none: ReadonlySet<string> = new Set();

/** For a plan that is only shown: what is known of the keys, without their leases. Other processes may write them meanwhile. */
export async function readUnleased(
  chunk: Chunk,
  keys: readonly Asking<'lease'>[],
): Promise<ReadonlyMap<StagedRecord, Answer>> {
  const { ledger, clock } = chunk.parts;
  const nowMs = await ledger.nowMs(clock);
  const contacts = await ledger.contacts.get(keys.map(({ record }) => record.key));
  const { feed, sequence } = chunk.run;
  // The row of a dead letter is as old as that, and may be older than what its feed has settled.
  const older = keys.flatMap(({ record }) => (record.sequence < sequence ? [record] : []));
  const waiting = await waitingIn(chunk, [...contacts.values()]);
  const superseded = older.length === 0 ? none : await ledger.contacts.superseded({ feed, keys: older });
  return new Map(
    keys.map(({ record, contents: begun }): [StagedRecord, Answer] => {
      if (superseded.has(record.key)) return [record, { event: { kind: 'superseded' }, contents: begun }];
      const contact = contacts.get(record.key) ?? contactRecord(atHand(record.key, undefined));
      const facts = factsOf(chunk, contact, record, nowMs);
      const lease: Lease = { ...knownOf(chunk, contact, waiting), untilMs: 0, aheadMs: 0 };
      return [record, { event: { kind: 'leased', facts }, contents: { is: 'leased', lease } }];
    }),
  );
}

function knownOf(
  { run, parts }: Chunk,
  contact: ContactRecord,
  waiting: WaitingFields,
): Pick<Lease, 'contact' | 'base' | 'waiting'> {
  return { contact, base: baseFor(contact, run.feed, parts.limits.ownsItems), waiting: waiting.get(contact.key) ?? [] };
}

type Facts = Extract<KeyEvent, { kind: 'leased' }>['facts'];

/** Whether the run leaves a contact that exists as it is. What a create of ours in doubt has made is brought to its end. */
export function leaves({ run }: Pick<Chunk, 'run'>, { contact: { state } }: Lease): boolean {
  return run.options.createOnly && state !== 'intent';
}

function factsOf(chunk: Chunk, contact: ContactRecord, record: StagedRecord, nowMs: number): Facts {
  const { attemptsMax, visibilityLagMs } = chunk.parts.limits;
  const { writtenAtMs } = contact;
  return {
    // An undo writes to the contact of its run.
    bound: contact.contactId !== null || record.desired.undo !== undefined,
    mayLag: writtenAtMs !== null && nowMs - writtenAtMs < visibilityLagMs,
    createsLeft: attemptsMax - contact.attempts,
    triesLeft: attemptsMax - record.attempts,
    refreshesLeft: refreshesMax,
    maySearchAgain: record.attempts === 0,
    link: linkFact(chunk, record, contact),
  };
}
