/**
 * A chunk: the few records that are looked up with one call and written while that read is fresh.
 *
 * It collects what became of each record. A record that is neither ended nor put off when the chunk closes keeps no
 * trace: its lease is given back and it is tried again.
 */
import type { Base } from '#src/contacts/base.ts';
import { claimWritten } from '#src/contacts/claim-written.ts';
import { isSettled } from '#src/contacts/fingerprint.ts';
import type { DeadClass } from '#src/contacts/outcome.ts';
import type { Plan, PlanInput } from '#src/contacts/plan.ts';
import { settle } from '#src/contacts/settle.ts';
import type { WrittenContact } from '#src/ledger/contact-ledger.ts';
import type { ContactRecord, SaidRecord } from '#src/ledger/contact-record.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import type { RecordEnd, ServiceAnswer, StagedRecord } from '#src/ledger/staged-record.ts';
import type { SettledRecord } from '#src/ledger/staging-ledger.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { UpsertParts } from './parts.ts';

/** A record whose key this piece of work holds. */
export interface LeasedRecord {
  readonly record: StagedRecord;
  readonly contact: ContactRecord;
  readonly said: SaidRecord | null;
  /** Monotonic: when the lease ends. */
  readonly leaseUntilMs: number;
}

/** A leased record with a fresh read and the plan made from it. */
export interface PlannedRecord extends LeasedRecord {
  readonly input: PlanInput;
  readonly plan: Plan;
  /** Monotonic: the oldest possible moment of the read. */
  readonly readAtMs: number;
}

export interface Deferral {
  readonly position: number;
  readonly waitMs: number;
  readonly burnAttempt: boolean;
}

export interface Chunk {
  readonly run: RunRecord;
  /** Names this piece of work in leases. */
  readonly owner: string;
  readonly signal: AbortSignal;
  readonly ends: SettledRecord[];
  readonly deferrals: Deferral[];
}

/** The pictures of one contact. A contact that is not bound yet has no base to speak of but the feed's own. */
export function planInput(parts: UpsertParts, chunk: Chunk, leased: LeasedRecord, theirs: Contact | null): PlanInput {
  const { record, contact, said } = leased;
  const base: Base = { said: said?.said ?? null, seen: contact.seen, owned: contact.owned };
  return {
    feed: chunk.run.feed,
    sourceLabel: sourceLabelOf(chunk.run),
    base,
    theirs,
    ours: record.desired,
    itemRemoval: parts.limits.itemRemoval,
  };
}

/** The feed's label: the mapping's, or the product's own for `main`. */
function sourceLabelOf(run: RunRecord): string {
  return run.mapping?.source ?? (run.feed === 'main' ? 'patchbay' : run.feed);
}

/** What the feed owns if the planned write lands. */
export function ownedIfWritten({ record, input, plan }: PlannedRecord): WrittenContact {
  return { key: record.key, owned: claimWritten(input.base.owned, input.feed, plan.written) };
}

/** The record reached its contact: both halves of the base move. */
export function endWell(
  chunk: Chunk,
  planned: PlannedRecord,
  outcome: 'created' | 'updated' | 'unchanged',
  reply: Contact,
  warnings: readonly string[],
): void {
  const { record, plan, contact } = planned;
  const { said, seen, owned } = settle({ ...planned.input, plan, reply });
  const complete = isSettled(plan);
  const madeByUs = contact.state === 'intent';
  const adopted = outcome !== 'created' && contact.contactId === null && !madeByUs;
  const end: RecordEnd = {
    // What our own intent made counts as created, whenever it was found; what we adopt counts as updated, and so does
    // what an update of ours changed before its answer was lost.
    outcome: madeByUs ? 'created' : outcome === 'unchanged' && (adopted || record.sent) ? 'updated' : outcome,
    adopted,
    heldFields: plan.held.map((field) => field.field),
    removedValues: plan.removals,
    warnings: [...plan.notes.map((note) => note.message), ...warnings],
  };
  chunk.ends.push({
    position: record.position,
    key: record.key,
    sequence: record.sequence,
    end,
    bound: { contactId: reply.id, seen, owned },
    said: {
      said,
      rowHash: complete ? record.rowHash : null,
      fingerprint: complete ? record.fingerprint : null,
      mappingVersion: record.mappingVersion,
    },
  });
}

export function endSkipped(chunk: Chunk, record: StagedRecord, reason: 'superseded' | 'gone'): void {
  const { position, key, sequence } = record;
  chunk.ends.push({ position, key, sequence, end: { outcome: 'skipped', reason }, bound: null, said: null });
}

export interface Death {
  readonly class: DeadClass;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly field?: string | null;
  readonly answer?: ServiceAnswer | null;
  /** Where the service holds the contact although the row did not reach it: it is bound all the same. */
  readonly bound?: SettledRecord['bound'];
}

export function endDead(chunk: Chunk, record: StagedRecord, death: Death): void {
  const { position, key, sequence, line } = record;
  const problem = {
    code: death.code,
    line,
    field: death.field ?? null,
    value: null,
    message: death.message,
    hint: death.hint,
  };
  chunk.ends.push({
    position,
    key,
    sequence,
    bound: death.bound ?? null,
    said: null,
    end: {
      outcome: 'dead',
      dead: {
        class: death.class,
        code: death.code,
        line,
        key,
        problems: [problem],
        row: record.row,
        ...(record.letterId === undefined ? {} : { letterId: record.letterId }),
        desired: record.desired,
        answer: death.answer ?? null,
      },
    },
  });
}

export function putOff(chunk: Chunk, record: StagedRecord, waitMs: number, burnAttempt = false): void {
  chunk.deferrals.push({ position: record.position, waitMs, burnAttempt });
}
