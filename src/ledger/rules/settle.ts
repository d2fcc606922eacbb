/**
 * Rules on the end of a record: what its outcome changes in the record of its key, in what its feed said, in its letters, and
 * in the counts and events of its run. Pure: the caller reads the facts, and carries out the result, in one transaction.
 *
 * A record whose lease went to another owner changes nothing: that owner answers for it (fencing). A row that a newer one
 * superseded never had a lease.
 */
import {
  detailCharactersMax,
  type KeyHistoryEntry,
  type MovedSaid,
  type NewJournalRow,
  type SettledSaid,
} from '#src/ledger/contacts.ts';
import type { CountDelta } from '#src/ledger/runs.ts';
import type { DeadRow, RecordEnd, RunEvent, SettledRecord, SettleRequest } from '#src/ledger/staging.ts';
import { bound, type ContactChange, inConflict, rejected, released } from './contact.ts';
import { eventsOf } from './events.ts';
import { goneSentence } from './gone.ts';
import { journalRow } from './key-rows.ts';

/** What the ledger holds when the record is settled. */
export interface SettleFacts {
  readonly holdsLease: boolean;
  /** Of the run at work. */
  readonly runSequence: number;
  /** Null where the run has no such record, or it has an outcome. */
  readonly pending: PendingFacts | null;
  /** The contact that the key is bound to. */
  readonly boundTo: string | null;
  /** The run whose create is in doubt. */
  readonly intentRun: string | null;
  /** Runs with a doubt in the key's history. Needed only where the record ended after a doubt. */
  readonly doubtRuns: readonly (string | null)[];
  /** Of the runs that sent writes which are found now, those whose rows are still to be counted. */
  readonly sendersAtWork: ReadonlySet<string>;
  /** Of a record that is skipped since its contact is gone: the undo that deleted it. Absent where none is known. */
  readonly undoThatDeleted?: string | null;
}

export interface PendingFacts {
  readonly line: number;
  readonly fingerprint: string;
  /** The letter that the row fixes or tries again. */
  readonly letterId: string | null;
  /** An update of it was sent, or was about to be. */
  readonly sent: boolean;
}

export interface Settlement {
  /** Null where nothing changes. */
  readonly contact: ContactChange | null;
  readonly history: readonly KeyHistoryEntry[];
  /** What other feeds said, as it is remembered from now on. */
  readonly moved: readonly MovedSaid[];
  readonly said: SettledSaid | null;
  /** The writes that landed. */
  readonly journal: readonly NewJournalRow[];
  /** Null where the record has no outcome to be given. */
  readonly end: EndChanges | null;
}

export interface EndChanges {
  readonly outcome: RecordEnd['outcome'];
  /** Without the new letters, which are known when the row is entered. */
  readonly counts: CountDelta;
  readonly events: readonly RunEvent[];
  /** Whether the unsettled letters of the key that are no newer, and are about what succeeded, are closed. */
  readonly closesLettersOfKey: boolean;
  readonly closesLetter: string | null;
  readonly dead: DeadRow | null;
  /** Whether the feed's next row of the key must be planned, whatever it says. */
  readonly forgetsRow: boolean;
  /** The fingerprint of a rejected row, when the whole row was tried. */
  readonly tried: string | null;
}

const nothing: Settlement = { contact: null, history: [], moved: [], said: null, journal: [], end: null };

export function settleRecord(request: SettleRequest, record: SettledRecord, facts: SettleFacts): Settlement {
  const { runId } = request;
  const journal = (record.journal ?? []).map((entry) => journalRow(request, record.key, entry, facts.sendersAtWork));
  // A write of a run that has ended, which did not count it: what it changed is this run's update.
  const isOurs =
    record.end.outcome === 'unchanged' && journal.some((entry) => entry.runId === runId && entry.kind !== 'adopt');
  const end: RecordEnd = isOurs ? { ...record.end, outcome: 'updated' } : record.end;
  const needsLease = end.outcome !== 'skipped' || end.reason !== 'superseded';
  if (needsLease && !facts.holdsLease) return nothing;
  const ended = facts.pending === null ? null : endOf({ ...record, end }, facts.pending, facts);
  if (!facts.holdsLease) return { ...nothing, end: ended };
  const isRejected = ended !== null && end.outcome === 'dead';
  const isConflict = isRejected && end.dead.class === 'conflict';
  return {
    contact: {
      // What reached the service is remembered, also where the run was cancelled before the answer came.
      ...(record.bound === null
        ? {}
        : bound(record.bound, { runSequence: facts.runSequence, atMs: request.atMs }, facts.boundTo)),
      ...released,
      // Nothing of a deletion is on its way any more.
      ...('deleted' in end && end.deleted === true ? { claim: null, horizon: null } : {}),
      ...(isRejected ? rejected : {}),
      ...(isConflict ? inConflict : {}),
    },
    history: [...historyOf(request, record, facts), ...(isConflict ? [conflictOf(request, record.key, end.dead)] : [])],
    moved: record.others,
    said: record.said,
    journal,
    end: ended,
  };
}

function endOf(
  { end, key, part }: SettledRecord,
  pending: PendingFacts,
  { holdsLease, undoThatDeleted = null }: Pick<SettleFacts, 'holdsLease' | 'undoThatDeleted'>,
): EndChanges {
  const isGone = end.outcome === 'skipped' && end.reason === 'gone';
  const events = eventsOf(end, key, pending.line, part);
  const common = {
    outcome: end.outcome,
    events: isGone ? events.map((event) => ({ ...event, message: goneSentence(undoThatDeleted) })) : events,
    ...{ closesLettersOfKey: false, closesLetter: null, dead: null, forgetsRow: false, tried: null },
  };
  switch (end.outcome) {
    case 'skipped':
      return {
        ...common,
        counts: { skipped: 1, moved: end.reason === 'moved' ? 1 : 0 },
        // A newer row of its feed has answered it, which had no lease then. What another feed has set is for a person to judge.
        closesLetter: end.reason === 'superseded' && !holdsLease && part === undefined ? pending.letterId : null,
        // An update of the row may have landed.
        forgetsRow: end.reason === 'superseded' && pending.sent,
      };
    case 'dead':
      return {
        ...common,
        counts: { dead: 1 },
        dead: end.dead,
        forgetsRow: pending.sent,
        // The key's row is settled by nothing that becomes of a part.
        tried: part === undefined ? pending.fingerprint : null,
      };
    default:
      return {
        ...common,
        counts: {
          [end.outcome]: 1,
          adopted: end.adopted ? 1 : 0,
          linked: end.linked === true ? 1 : 0,
          deleted: end.deleted === true ? 1 : 0,
          heldFields: end.heldFields.length,
          removedValues: end.removedValues,
          warnings: end.warnings.length,
        },
        closesLettersOfKey: true,
        closesLetter: pending.letterId,
      };
  }
}

function historyOf(
  { runId, atMs }: SettleRequest,
  { key, bound: answered, afterDoubt }: SettledRecord,
  { boundTo, intentRun, doubtRuns }: SettleFacts,
): readonly KeyHistoryEntry[] {
  if (answered === null) return [];
  const { contactId } = answered;
  const event = { key, atMs, runId, contactId, detail: null };
  if (afterDoubt === undefined) {
    return boundTo === null || boundTo === contactId ? [] : [{ ...event, kind: 'bound' }];
  }
  const doubted: KeyHistoryEntry = { ...event, kind: 'doubt', contactId: null, runId: intentRun ?? runId };
  // A doubt that nothing recorded was left behind by a process that died.
  const isRecorded = doubtRuns.includes(doubted.runId);
  return [...(isRecorded ? [] : [{ ...doubted, detail: 'crash' }]), { ...event, kind: afterDoubt }];
}

function conflictOf({ runId, atMs }: SettleRequest, key: string, { problems }: DeadRow): KeyHistoryEntry {
  const detail = problems[0]?.message.slice(0, detailCharactersMax);
  return { key, atMs, runId, kind: 'conflict', contactId: null, detail: detail ?? null };
}
