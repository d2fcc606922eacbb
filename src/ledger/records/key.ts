/** Rows of keys as records (`tables/keys.ts`). */
import type { HeldRecord, JournalRow, KeyHistoryEntry, KeyHistoryKind } from '#src/ledger/contacts.ts';
import { unpackWrite } from '#src/ledger/packed-memory.ts';
import type { ContactRow, FeedRow, FlightRow, KnownRow, SaidRow } from '#src/ledger/tables/keys.ts';
import { hashText, numberOrNull, parseJson, type ResultRow, textOrNull } from './columns.ts';

export function toContact(key: string, row: ResultRow): ContactRow {
  return {
    number: Number(row.number),
    key,
    // Written by `writeContacts` from a value of that type.
    state: String(row.state) as ContactRow['state'],
    contactId: textOrNull(row.contact_id),
    document: textOrNull(row.document),
    linkedTo: textOrNull(row.linked_to),
    boundRun: numberOrNull(row.bound_run),
    boundAtMs: numberOrNull(row.bound_at),
    writtenAtMs: numberOrNull(row.written_at),
  };
}

export function toFlight(key: string, row: ResultRow): FlightRow {
  return {
    key,
    owner: textOrNull(row.owner),
    leaseUntilMs: numberOrNull(row.lease_until),
    horizonAtMs: numberOrNull(row.horizon),
    horizonSpanMs: numberOrNull(row.horizon_span),
    claim: textOrNull(row.claim),
    intentRun: textOrNull(row.intent_run),
    attempts: Number(row.attempts),
    owned: textOrNull(row.owned),
  };
}

export function toHeld(row: ResultRow): HeldRecord {
  // Written by `writeHeld` from values of these types.
  const value = (column: unknown) => parseJson<HeldRecord['ours']>(column);
  return {
    feed: String(row.feed),
    key: String(row.key),
    field: String(row.field) as HeldRecord['field'],
    said: value(row.said),
    ours: value(row.ours),
    theirs: value(row.theirs),
    runId: String(row.run_id),
    line: Number(row.line),
    sinceMs: Number(row.since),
  };
}

export function toKeyEvent(row: ResultRow): KeyHistoryEntry {
  return {
    key: String(row.key),
    atMs: Number(row.at),
    runId: textOrNull(row.run_id),
    // Written by `writeHistory` from a value of that type.
    kind: String(row.kind) as KeyHistoryKind,
    contactId: textOrNull(row.contact_id),
    detail: textOrNull(row.detail),
  };
}

/** `name`: its feed's. */
export function toKnown(key: string, row: ResultRow): KnownRow {
  return {
    feed: String(row.name),
    key,
    rowHash: hashText(row.row_hash),
    fingerprint: hashText(row.fingerprint),
    tried: hashText(row.tried),
    sequence: Number(row.sequence),
    spoken: Number(row.spoken),
    heldCount: Number(row.held_count),
  };
}

export function toSaid(row: ResultRow): SaidRow {
  return {
    number: Number(row.number),
    key: String(row.key),
    document: String(row.document),
    rowHash: hashText(row.row_hash),
    fingerprint: hashText(row.fingerprint),
    tried: hashText(row.tried),
    heldCount: Number(row.held_count),
    isInDoubt: row.in_doubt === 1 || row.in_doubt === true,
  };
}

/** `last`: the greatest number of a key that it knows. */
export function toFeed(row: ResultRow): FeedRow {
  return {
    feed: String(row.name),
    createdAtMs: Number(row.created_at),
    revision: Number(row.revision),
    lastNumber: Number(row.last ?? 0),
  };
}

export function toJournalRow(row: ResultRow): JournalRow {
  return {
    number: Number(row.number),
    runId: String(row.run_id ?? ''),
    runSequence: Number(row.run_sequence),
    key: String(row.key),
    contactId: String(row.contact_id),
    atMs: Number(row.at),
    // Written by `addJournal` from a value of that type.
    kind: String(row.kind) as JournalRow['kind'],
    ...unpackWrite(String(row.changes)),
  };
}
