/**
 * Plans staged records and writes nothing: the key machine is driven as far as it only reads. Where it would commit an intent or
 * claim a PATCH, there is the plan (`docs/plans.md`, "Plans").
 *
 * There are no leases, so that others may write the keys meanwhile: a run that carries the plan out compares each contact again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import pMap from 'p-map';
import { journalOfClaim } from '#src/contacts/claim.ts';
import type { Plan } from '#src/contacts/plan.ts';
import { type PlannedContact, plannedContact } from '#src/contacts/planned.ts';
import { PatchbayError } from '#src/errors.ts';
import { countsItsRows, type RunRecord } from '#src/ledger/runs.ts';
import type { RecordEnd, StagedRecord } from '#src/ledger/staging.ts';
import type { Contact } from '#src/wire/contact.ts';
import { type CallOptions, keysPerLookUpMax } from '#src/workspace/port.ts';
import type { Chunk, UpsertParts } from './chunk.ts';
import { endOf } from './key-ends.ts';
import { type KeyEnd, stepKey } from './key-machine.ts';
import { fetchContact, lookUpAlone, readTogether } from './key-requests.ts';
import {
  type Answer,
  beginKey,
  isAsking,
  isQuestion,
  isUnknown,
  type KeyWork,
  readUnleased,
  withQuestion,
} from './key-work.ts';

/** What would become of one record. */
export type PlannedRecord = { readonly record: StagedRecord } & (
  | {
      readonly is: 'planned';
      readonly contact: PlannedContact;
      /** As a run would count it. */
      readonly outcome: 'created' | 'updated' | 'unchanged';
      /** The contact is there, and the ledger does not know it. */
      readonly isUnknown: boolean;
    }
  /** Skipped or rejected, without a write. */
  | { readonly is: 'ended'; readonly end: Extract<RecordEnd, { readonly outcome: 'skipped' | 'dead' }> }
  /** Nothing can be said of it now. */
  | { readonly is: 'unsure'; readonly why: Unsure }
);

/** `lag`: it was written within the visibility lag, and reads may still show an older state. `unread`: the read of this contact fails. */
type Unsure = 'lag' | 'unread';

/** Look-ups under way at once: reads of a distant service must not wait for each other. */
const lookUpsAtOnce = 8;

/**
 * Plans the staged rows of a run, page by page, in the order of the file. Ends with the last of them.
 *
 * Reads of what was written a moment ago may show an older state: it waits once, until they cannot.
 *
 * @param choose of a page, the records to plan.
 * @param onPage told after each page how many staged rows it had.
 * @throws as `planRecords`.
 */
export async function* planStagedPages(
  parts: UpsertParts,
  run: RunRecord,
  choose: (records: readonly StagedRecord[]) => readonly StagedRecord[] | Promise<readonly StagedRecord[]>,
  { onWait = () => undefined, ...options }: StagedPlanning,
  onPage: (rows: number) => void = () => undefined,
): AsyncGenerator<readonly PlannedRecord[]> {
  const { runs } = parts.ledger;
  const waitMs = parts.limits.visibilityLagMs;
  let hasWaited = false;
  for (let next: number | null = 0; next !== null; await nextTurn()) {
    const page: Awaited<ReturnType<typeof runs.stagedPage>> = await runs.stagedPage(
      run.id,
      next,
      keysPerLookUpMax * lookUpsAtOnce,
    );
    next = page.next;
    const chosen = await choose(page.records);
    const planned = await planInChunks(parts, run, chosen, options);
    const lagging = planned.filter(isLagging);
    if (lagging.length > 0 && !hasWaited) {
      onWait(waitMs);
      // Interrupted, it has an error of its own.
      await parts.clock.sleep(waitMs, options.signal).catch((error: unknown) => {
        options.signal.throwIfAborted();
        throw error;
      });
      hasWaited = true;
    }
    yield lagging.length === 0 ? planned : await planAgain(parts, run, planned, options);
    onPage(page.records.length);
  }
}

export type StagedPlanning = CallOptions & {
  readonly signal: AbortSignal;
  /** Told before it waits for reads that show what was written, and for how long. */
  readonly onWait?: (ms: number) => void;
};

const isLagging = (record: PlannedRecord): boolean => record.is === 'unsure' && record.why === 'lag';

/** Those of a page that reads could not tell of, once more; each in its place. */
async function planAgain(
  parts: UpsertParts,
  run: RunRecord,
  page: readonly PlannedRecord[],
  options: CallOptions & { readonly signal: AbortSignal },
): Promise<readonly PlannedRecord[]> {
  const lagging = page.filter(isLagging).map(({ record }) => record);
  const again = new Map((await planInChunks(parts, run, lagging, options)).map((one) => [one.record, one]));
  return page.map((one) => again.get(one.record) ?? one);
}

/** Plans records in look-ups that are under way together, for at most a page of them. @throws as `planRecords`. */
async function planInChunks(
  parts: UpsertParts,
  run: RunRecord,
  records: readonly StagedRecord[],
  options: CallOptions & { readonly signal: AbortSignal },
): Promise<readonly PlannedRecord[]> {
  const chunks = Array.from({ length: Math.ceil(records.length / keysPerLookUpMax) }, (_, index) =>
    records.slice(index * keysPerLookUpMax, (index + 1) * keysPerLookUpMax),
  );
  const ended = await Promise.allSettled(chunks.map((some) => planRecords(parts, run, some, options)));
  // All have ended before the first failure is thrown: none goes on without anybody who waits for it.
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

/**
 * At most as many records as one chunk has.
 * @throws PatchbayError as reads do (`workspace/port.ts`); the signal's reason.
 */
async function planRecords(
  parts: UpsertParts,
  run: RunRecord,
  records: readonly StagedRecord[],
  options: CallOptions & { readonly signal: AbortSignal },
): Promise<readonly PlannedRecord[]> {
  const chunk = readingChunk(parts, run, options);
  const keys = records.map((record): Reading => ({ work: beginKey(record), end: null, unsure: 'unread' }));
  const works = () => keys.map(({ work }) => work);
  takeAnswers(keys, await readUnleased(chunk, works().filter(isAsking('lease'))));
  const asking = works().filter(isAsking('lookUp'));
  if (asking.length > 0) takeAnswers(keys, await readTogether(chunk, asking));
  await pMap(keys, (key) => readToTheEnd(chunk, key), { concurrency: parts.limits.writesAtOnce });
  const ended = await endedSenders(parts, run, keys);
  return keys.map((key, index) => plannedOf(records[index] as StagedRecord, key, ended));
}

/** Runs that have ended without counting an update that a read shows: the run that finds it counts it (`docs/rules.md`, "The journal"). */
async function endedSenders(
  { ledger }: UpsertParts,
  run: RunRecord,
  keys: readonly Reading[],
): Promise<ReadonlySet<string>> {
  const senders = new Set(keys.flatMap(({ work }) => senderOf(work) ?? []));
  const ended = new Set<string>();
  for (const sender of senders) {
    const state = sender === run.id ? 'applying' : (await ledger.runs.get(sender))?.state;
    if (state === undefined || !countsItsRows(state)) ended.add(sender);
  }
  return ended;
}

/** The run that sent an update of which something has landed without an answer; null where there is none. */
function senderOf({ contents }: KeyWork): string | null {
  if (contents.is !== 'same' || contents.lease.contact.claim === null) return null;
  const landed = journalOfClaim(contents.lease.contact.claim, contents.theirs);
  return landed?.runId ?? null;
}

interface Reading {
  work: KeyWork;
  end: KeyEnd | null;
  unsure: Unsure;
}

function readingChunk(parts: UpsertParts, run: RunRecord, options: Chunk['options'] & { signal: AbortSignal }): Chunk {
  const nothing = { ends: [], deferrals: [], lateCount: 0, broken: false, createsPerIntent: 0 };
  // The empty owner never holds a lease.
  return { parts, run, owner: '', signal: options.signal, options, planned: null, ...nothing };
}

function takeAnswers(keys: readonly Reading[], answers: ReadonlyMap<StagedRecord, Answer>): void {
  for (const key of keys) {
    const given = answers.get(key.work.record);
    if (given !== undefined) take(key, given);
  }
}

function take(key: Reading, { event, contents }: Answer): void {
  const { record } = key.work;
  const { state, effects } = stepKey(key.work.state, event);
  key.work = withQuestion(record, state, null, contents);
  for (const effect of effects) {
    if (isQuestion(effect)) key.work = withQuestion(record, state, effect.do, contents);
    else if (effect.do === 'end') key.end = effect.as;
    else if (effect.do === 'defer') key.unsure = effect.wait === 'lag' ? 'lag' : 'unread';
  }
}

/** Ends: the machine counts what it may ask for again, and comes to rest, or to a write. */
async function readToTheEnd(chunk: Chunk, key: Reading): Promise<void> {
  for (;;) {
    const { work } = key;
    switch (work.question) {
      case null:
      case 'intend':
      case 'patch':
      case 'delete':
        return;
      case 'lookUp':
        take(key, await lookUpAlone(chunk, work));
        break;
      case 'fetch':
        take(key, await fetchContact(chunk, work));
        break;
      default:
        throw new PatchbayError('bug', 'invariant', `a plan that only reads comes to ${work.question}`);
    }
  }
}

function plannedOf(
  record: StagedRecord,
  { work, end, unsure }: Reading,
  endedSenders: ReadonlySet<string>,
): PlannedRecord {
  const { contents } = work;
  const planned = (outcome: 'created' | 'updated' | 'unchanged', plan: Plan, theirs: Contact | null): PlannedRecord => {
    const contact = plannedContact(record, plan, theirs);
    return { record, is: 'planned', contact, outcome, isUnknown: isUnknown(work) };
  };
  if (contents.is === 'absent' && work.question === 'intend') return planned('created', contents.plan, null);
  if (contents.is === 'differs')
    return planned(contents.madeByUs ? 'created' : 'updated', contents.plan, contents.theirs);
  if (end === null) return { record, is: 'unsure', why: unsure };
  const ended = endOf(record, end, contents).end;
  if (ended.outcome === 'skipped' || ended.outcome === 'dead') return { record, is: 'ended', end: ended };
  if (contents.is === 'same') {
    const isFound = ended.outcome === 'unchanged' && endedSenders.has(senderOf(work) ?? '');
    return planned(isFound ? 'updated' : ended.outcome, contents.plan, contents.theirs);
  }
  return { record, is: 'unsure', why: unsure };
}
