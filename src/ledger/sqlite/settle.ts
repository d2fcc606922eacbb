/**
 * Writes the ends of leased records: outcome, both halves of the base, dead letters, counts; gives the leases back.
 *
 * A record whose lease went to another owner is left alone: that owner answers for it (fencing). A row that was
 * overtaken never had one. For use inside a transaction.
 */
import { unreachable } from '#src/errors.ts';
import type { BoundContact } from '#src/ledger/contacts.ts';
import type { CountDelta, CountName } from '#src/ledger/runs.ts';
import {
  heldEvent,
  type RecordEnd,
  type RunEvent,
  type SettledRecord,
  type SettleRequest,
} from '#src/ledger/staging.ts';
import { type Database, textOrNull } from './database.ts';
import { addKeyEvent, keyEvents, moveSaid, type SaidPlace, writeSaid } from './keys.ts';
import { closeLetter, closeLettersOf, deathPlace, enterDeadRow } from './letters.ts';
import { addCounts, addEvents } from './runs.ts';

export function settleRecords(db: Database, request: SettleRequest): number {
  const counts = new Map<CountName, number>();
  const add = (name: CountName, by: number): void => {
    counts.set(name, (counts.get(name) ?? 0) + by);
  };
  const events: RunEvent[] = [];
  let written = 0;
  for (const record of request.records) {
    const holds = db.get('SELECT 1 FROM contacts WHERE key = ? AND owner = ?', record.key, request.owner) !== null;
    const needsNoLease = record.end.outcome === 'skipped' && record.end.reason === 'superseded';
    if (!holds && !needsNoLease) continue;
    if (holds) {
      // What reached the service is remembered, also where the run was cancelled while the answer was on its way.
      if (record.bound !== null) writeBound(db, request, record, record.bound);
      for (const moved of record.others) moveSaid(db, record.key, moved, request.atMs);
      if (record.said !== null) writeSaid(db, placeOf(request, record), record.said);
      giveBack(db, record.key, request.owner);
    }
    const ended = db.run(
      'UPDATE staged SET outcome = ? WHERE run_id = ? AND position = ? AND outcome IS NULL',
      record.end.outcome,
      request.runId,
      record.position,
    );
    if (ended === 0) continue;
    written += 1;
    add(record.end.outcome, 1);
    writeEnd(db, request, record, add, events);
  }
  addEvents(db, request.runId, events);
  const delta: CountDelta = Object.fromEntries(counts);
  addCounts(db, request.runId, delta);
  return written;
}

function placeOf({ feed, runId, atMs }: SettleRequest, { key, line, sequence }: SettledRecord): SaidPlace {
  return { feed, key, runId, line, sequence, atMs };
}

function giveBack(db: Database, key: string, owner: string): void {
  db.run(
    'UPDATE contacts SET owner = NULL, lease_until = NULL, lease_boot = NULL WHERE key = ? AND owner = ?',
    key,
    owner,
  );
}

function writeBound(db: Database, request: SettleRequest, record: SettledRecord, bound: BoundContact): void {
  const { runId, atMs } = request;
  const { key } = record;
  const before = db.get('SELECT contact_id, intent_run FROM contacts WHERE key = ?', key);
  const contactBefore = textOrNull(before?.contact_id);
  const isNew = contactBefore !== bound.contactId;
  const event = { key, atMs, contactId: bound.contactId, detail: null };
  if (record.afterDoubt !== undefined) {
    noteCrash(db, key, textOrNull(before?.intent_run) ?? runId, atMs);
    addKeyEvent(db, { ...event, runId, kind: record.afterDoubt });
  } else if (isNew && contactBefore !== null) {
    addKeyEvent(db, { ...event, runId, kind: 'bound' });
  }
  db.run(
    `UPDATE contacts SET state = 'bound', contact_id = ?, seen = ?, owned = ?, agreed = ?, stamps = ?, attempts = 0, horizon = NULL,
       horizon_boot = NULL, intent_run = NULL, claim = NULL, written_at = coalesce(?, written_at),
       written_boot = CASE WHEN ? IS NULL THEN written_boot ELSE ? END WHERE key = ?`,
    bound.contactId,
    JSON.stringify(bound.seen),
    JSON.stringify(bound.owned),
    JSON.stringify(bound.agreed),
    JSON.stringify(bound.stamps),
    bound.writtenAtMs,
    bound.writtenAtMs,
    request.bootId,
    key,
  );
  if (isNew) db.run('UPDATE contacts SET bound_run = ?, bound_at = ? WHERE key = ?', runId, atMs, key);
}

/** An intent that nobody called a doubt was left behind by a process that died. */
function noteCrash(db: Database, key: string, runId: string, atMs: number): void {
  if (keyEvents(db, key).some((event) => event.kind === 'doubt' && event.runId === runId)) return;
  addKeyEvent(db, { key, atMs, runId, kind: 'doubt', contactId: null, detail: 'crash' });
}

/** An update of the row may have landed: what the file says next must not pass for unchanged. */
function forgetHashes(db: Database, { feed, runId }: SettleRequest, { key, position }: SettledRecord): void {
  db.run(
    `UPDATE said SET row_hash = NULL, fingerprint = NULL WHERE feed = ? AND key = ?
       AND EXISTS (SELECT 1 FROM staged WHERE run_id = ? AND position = ? AND sent = 1)`,
    feed,
    key,
    runId,
    position,
  );
}

function writeEnd(
  db: Database,
  request: SettleRequest,
  record: SettledRecord,
  add: (name: CountName, by: number) => void,
  events: RunEvent[],
): void {
  const end: RecordEnd = record.end;
  const staged = db.get(
    `SELECT line, letter_id, (SELECT kind FROM runs WHERE id = run_id) AS run_kind
     FROM staged WHERE run_id = ? AND position = ?`,
    request.runId,
    record.position,
  );
  const line = Number(staged?.line ?? 0);
  // Held fields alone: the rest of the key's row is answered by nothing that becomes of them.
  const isPart = staged?.run_kind === 'held';
  switch (end.outcome) {
    case 'created':
    case 'updated':
    case 'unchanged':
      add('adopted', end.adopted ? 1 : 0);
      add('heldFields', end.heldFields.length);
      add('removedValues', end.removedValues);
      add('warnings', end.warnings.length);
      if (end.changedFields !== undefined && end.changedFields.length > 0) {
        const { changedFields: fields } = end;
        const message = `${fields.length} ${fields.length === 1 ? 'field was' : 'fields were'} written`;
        events.push({ kind: 'changed', line, key: record.key, code: end.outcome, field: null, fields, message });
      }
      for (const held of end.heldFields) events.push(heldEvent(record.key, line, held));
      for (const message of end.warnings) {
        events.push({ kind: 'warning', line, key: record.key, code: 'replyDiffers', field: null, message });
      }
      if (!isPart) closeLettersOf(db, request.feed, record.key);
      if (typeof staged?.letter_id === 'string') closeLetter(db, staged.letter_id);
      return;
    case 'skipped':
      if (end.reason === 'superseded') forgetHashes(db, request, record);
      events.push({
        kind: 'skipped',
        line,
        key: record.key,
        code: end.reason,
        field: null,
        message: skipSentence[end.reason],
      });
      return;
    case 'dead': {
      const place = { ...deathPlace(db, request), sequence: record.sequence, isPart };
      add('deadNew', enterDeadRow(db, place, end.dead) ? 1 : 0);
      // Whoever tries the row again counts its doubts anew: else a letter in doubt could never be retried.
      db.run('UPDATE contacts SET attempts = 0 WHERE key = ?', record.key);
      forgetHashes(db, request, record);
      if (!isPart)
        db.run(
          `UPDATE said SET tried = (SELECT fingerprint FROM staged WHERE run_id = ? AND position = ?) WHERE feed = ? AND key = ?`,
          request.runId,
          record.position,
          request.feed,
          record.key,
        );
      if (end.dead.class === 'conflict') writeConflict(db, request, record, end.dead.problems[0]?.message ?? null);
      return;
    }
    default:
      unreachable(end);
  }
}

/** Nothing of ours is on its way: a look-up has answered for the creates before, and the last one was refused. */
function writeConflict(
  db: Database,
  { runId, atMs }: SettleRequest,
  { key }: SettledRecord,
  detail: string | null,
): void {
  db.run(
    `UPDATE contacts SET state = 'conflict', horizon = NULL, horizon_boot = NULL, intent_run = NULL WHERE key = ?`,
    key,
  );
  addKeyEvent(db, { key, atMs, runId, kind: 'conflict', contactId: null, detail });
}

const skipSentence = {
  duplicate: 'the same row stands in the file twice',
  superseded: 'a later file has said what this contact is to be',
  gone: 'somebody deleted the contact in the workspace: it stays gone',
  moved: 'the contact was changed since the plan was made',
  notSelected: 'the row was not selected',
  cancelled: 'the run was cancelled',
} as const;
