/**
 * Audits in SQLite. The keys of a run stand once, whichever audits look at them: `touched_keys`, by the run's sequence,
 * at the position that the row had among the staged ones.
 */
import { randomUUID } from 'node:crypto';
import {
  type AuditEntry,
  type AuditFinding,
  type AuditKind,
  type AuditLedger,
  type AuditRecord,
  type AuditRequests,
  type AuditScope,
  findingsPerKindMax,
  type NewFinding,
} from '#src/ledger/audits.ts';
import { doubtKinds } from '#src/ledger/contacts.ts';
import { auditsAfter, type NewAudit, scopeOnDemand, type TouchFacts, touchesOf } from '#src/ledger/rules/audits.ts';
import { finalRunStates } from '#src/ledger/runs.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';
import { toKeyEvent } from './key-tables.ts';

const finalStates = finalRunStates.map((state) => `'${state}'`).join(', ');

export function sqliteAudits(db: Database): AuditLedger {
  const get = (id: string): AuditRecord | null => {
    const row = db.get('SELECT * FROM audits WHERE id = ?', id);
    return row === null ? null : toAudit(row);
  };
  return {
    enter: async (entry) => db.transaction(() => enter(db, entry)),

    demand: async ({ runId, atMs, dueAtMs }) =>
      db.transaction(() => {
        const waiting = db.get(
          "SELECT * FROM audits WHERE run_id = ? AND kind = 'demand' AND state = 'waiting'",
          runId,
        );
        if (waiting !== null) return toAudit(waiting);
        const place = placeOf(db, runId);
        const scope = scopeOf(db, place);
        if (scope === 'settled' && touchedCount(db, place, false) === 0) keepSettledKeys(db, place);
        const keyCount = touchedCount(db, place, false);
        return toAudit(insertAudit(db, place, { kind: 'demand', scope, atMs, dueAtMs, keyCount, done: false }));
      }),

    get: async (id) => get(id),

    ofRun: async (runId) => db.all('SELECT * FROM audits WHERE run_id = ? ORDER BY number', runId).map(toAudit),

    nextDue: async (untilMs, limit) =>
      db
        .all(
          `SELECT audits.* FROM audits JOIN runs ON runs.id = audits.run_id
           WHERE audits.state = 'waiting' AND audits.due_at <= ? AND runs.state IN (${finalStates})
           ORDER BY audits.kind <> 'demand', audits.due_at, audits.number LIMIT ?`,
          untilMs,
          limit,
        )
        .map(toAudit),

    keysAfter: async (id, position, limit) =>
      db
        .all(
          `SELECT touched_keys.position, touched_keys.key FROM audits
           JOIN touched_keys ON touched_keys.run_sequence = audits.run_sequence
           WHERE audits.id = ? AND touched_keys.position > ? AND (audits.kind <> 'second' OR touched_keys.in_doubt = 1)
           ORDER BY touched_keys.position LIMIT ?`,
          id,
          position,
          limit,
        )
        .map((row) => ({ position: Number(row.position), key: String(row.key) })),

    advance: async (id, step) =>
      db.transaction(() => {
        const count = (kind: NewFinding['kind']) => step.findings.filter((one) => one.kind === kind).length;
        const moved = db.run(
          `UPDATE audits SET position = ?, checked = checked + ?, duplicates = duplicates + ?, missing = missing + ?,
             unchecked = unchecked + ? WHERE id = ? AND position = ? AND state = 'waiting'`,
          step.toPosition,
          step.checked,
          count('duplicate'),
          count('missing'),
          count('unchecked'),
          id,
          step.fromPosition,
        );
        // Requests were sent, regardless of who was first.
        addRequests(db, id, step.requests);
        if (moved === 1) addFindings(db, id, step.findings);
        return moved === 1;
      }),

    addRequests: async (id, requests) => addRequests(db, id, requests),

    finish: async (id, atMs) =>
      db.durable(
        () =>
          db.run("UPDATE audits SET state = 'done', finished_at = ? WHERE id = ? AND state = 'waiting'", atMs, id) ===
          1,
      ),

    findings: async (id, kind, limit) =>
      db
        .all(
          `SELECT finding FROM audit_findings JOIN audits ON audits.number = audit_findings.audit_number
           WHERE audits.id = ? AND audit_findings.kind = ? ORDER BY ordinal LIMIT ?`,
          id,
          kind,
          limit,
        )
        .flatMap((row) => parseJson<AuditFinding>(row.finding) ?? []),

    standing: async (limit) =>
      db
        .all(
          `SELECT * FROM audits WHERE duplicates > 0 AND number IN (
             SELECT max(number) FROM audits WHERE state = 'done' GROUP BY run_id) ORDER BY number DESC LIMIT ?`,
          limit,
        )
        .map(toAudit),
  };
}

/** For use inside a transaction. */
export function forgetAudits(db: Database, beforeMs: number): void {
  db.run(
    `DELETE FROM touched_keys WHERE run_sequence IN (SELECT sequence FROM runs WHERE finished_at < ?1)
       AND run_sequence NOT IN (SELECT run_sequence FROM audits WHERE state = 'waiting' OR entered_at >= ?1)`,
    beforeMs,
  );
  db.run(
    'DELETE FROM audit_findings WHERE audit_number IN (SELECT number FROM audits WHERE finished_at < ?)',
    beforeMs,
  );
  db.run('DELETE FROM key_events WHERE at < ?', beforeMs);
}

/** How many wait. */
export function waitingAudits(db: Database): number {
  return Number(db.get("SELECT count(*) AS waiting FROM audits WHERE state = 'waiting'")?.waiting ?? 0);
}

function enter(db: Database, entry: AuditEntry): void {
  if (db.get("SELECT 1 FROM audits WHERE run_id = ? AND kind = 'first'", entry.runId) !== null) return;
  const place = placeOf(db, entry.runId);
  keepTouchedKeys(db, place);
  for (const audit of auditsAfter(entry, touchedCount(db, place, false), touchedCount(db, place, true))) {
    insertAudit(db, place, audit);
  }
}

function scopeOf(db: Database, place: RunPlace): AuditScope {
  const first = db.get("SELECT key_count FROM audits WHERE run_id = ? AND kind = 'first'", place.id);
  const gathered = db.get("SELECT 1 FROM audits WHERE run_id = ? AND scope = 'settled'", place.id);
  return scopeOnDemand(numberOrNull(first?.key_count), gathered !== null, touchedCount(db, place, false));
}

function placeOf(db: Database, runId: string): RunPlace {
  const row = db.get('SELECT sequence, feed, state FROM runs WHERE id = ?', runId);
  return {
    id: runId,
    sequence: Number(row?.sequence),
    feed: String(row?.feed),
    cancelled: row?.state === 'cancelling',
  };
}

function insertAudit(db: Database, place: RunPlace, audit: NewAudit): ResultRow {
  const id = `a${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  db.run(
    `INSERT INTO audits (id, run_id, run_sequence, kind, scope, state, entered_at, due_at, finished_at, key_count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    place.id,
    place.sequence,
    audit.kind,
    audit.scope,
    audit.done ? 'done' : 'waiting',
    audit.atMs,
    audit.dueAtMs,
    audit.done ? audit.atMs : null,
    audit.keyCount,
  );
  return db.get('SELECT * FROM audits WHERE id = ?', id) ?? {};
}

function addRequests(db: Database, id: string, { get, retried, rateLimited }: AuditRequests): void {
  db.run(
    'UPDATE audits SET "get" = "get" + ?, retried = retried + ?, rateLimited = rateLimited + ? WHERE id = ?',
    get,
    retried,
    rateLimited,
    id,
  );
}

function addFindings(db: Database, id: string, findings: readonly NewFinding[]): void {
  if (findings.length === 0) return;
  const number = Number(db.get('SELECT number FROM audits WHERE id = ?', id)?.number);
  let ordinal = Number(
    db.get('SELECT max(ordinal) AS last FROM audit_findings WHERE audit_number = ?', number)?.last ?? 0,
  );
  for (const finding of findings) {
    const kept = db.get(
      'SELECT count(*) AS kept FROM audit_findings WHERE audit_number = ? AND kind = ?',
      number,
      finding.kind,
    );
    if (Number(kept?.kept ?? 0) >= findingsPerKindMax) continue;
    ordinal += 1;
    db.run(
      'INSERT INTO audit_findings (audit_number, ordinal, kind, finding) VALUES (?, ?, ?, ?)',
      number,
      ordinal,
      finding.kind,
      JSON.stringify(withHistory(db, finding)),
    );
  }
}

function withHistory(db: Database, finding: NewFinding): AuditFinding {
  const contact = db.get(
    'SELECT contact_id, bound_at, (SELECT id FROM runs WHERE sequence = bound_run) AS bound_run FROM contacts WHERE key = ?',
    finding.key,
  );
  return {
    ...finding,
    boundTo: textOrNull(contact?.contact_id),
    boundRun: textOrNull(contact?.bound_run),
    boundAtMs: numberOrNull(contact?.bound_at),
    history: db.all('SELECT * FROM key_events WHERE key = ? ORDER BY ordinal', finding.key).map(toKeyEvent),
  };
}

function toAudit(row: ResultRow): AuditRecord {
  return {
    id: String(row.id),
    runId: String(row.run_id),
    // Written by this ledger from values of these types.
    kind: String(row.kind) as AuditKind,
    scope: String(row.scope) as AuditScope,
    state: row.state === 'done' ? 'done' : 'waiting',
    enteredAtMs: Number(row.entered_at),
    dueAtMs: Number(row.due_at),
    finishedAtMs: numberOrNull(row.finished_at),
    keyCount: Number(row.key_count),
    position: Number(row.position),
    checked: Number(row.checked),
    duplicates: Number(row.duplicates),
    missing: Number(row.missing),
    unchecked: Number(row.unchecked),
    requests: { get: Number(row.get), retried: Number(row.retried), rateLimited: Number(row.rateLimited) },
  };
}

/** Which keys a run touched, kept beyond its staged rows. For use inside a transaction. */
interface RunPlace {
  readonly id: string;
  readonly sequence: number;
  readonly feed: string;
  /** The run is being cancelled: a worker may still hold some of its keys. */
  readonly cancelled: boolean;
}

const doubts = doubtKinds.map((kind) => `'${kind}'`).join(', ');
/** Rows that are looked at together. */
const rowsAtOnce = 2_000;

/** Keeps what `touchesOf` says of the staged rows, before they are forgotten. Ends: each turn goes on behind the last key. */
function keepTouchedKeys(db: Database, run: RunPlace): void {
  // No key is empty.
  let lastKey = '';
  for (;;) {
    const rows = touchFacts(db, run, lastKey);
    for (const { position, key, inDoubt } of touchesOf(rows, run.cancelled)) {
      db.run(
        'INSERT INTO touched_keys (run_sequence, position, key, in_doubt) VALUES (?, ?, ?, ?)',
        run.sequence,
        position,
        key,
        inDoubt ? 1 : 0,
      );
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    lastKey = last.key;
  }
}

/** The next staged rows of the run by key, all rows of each key together; none behind the last. */
const ofRun = `place > (SELECT sequence FROM runs WHERE id = ?1) * 8388608
  AND place < (SELECT sequence + 1 FROM runs WHERE id = ?1) * 8388608`;

function touchFacts(db: Database, { id, sequence }: RunPlace, afterKey: string): readonly TouchFacts[] {
  const from = `FROM staged INDEXED BY staged_by_key WHERE ${ofRun} AND key > ?2`;
  const last = db.get(
    `SELECT max(key) AS key FROM (SELECT key ${from} ORDER BY key LIMIT ${rowsAtOnce})`,
    id,
    afterKey,
  );
  if (textOrNull(last?.key) === null) return [];
  return db
    .all(
      `SELECT staged.place % 8388608 AS position, staged.key, staged.outcome, staged.sent, flights.intent_run IS NOT NULL AS is_intent,
         flights.intent_run = ?1 AS intended, contacts.bound_run = ?4 AS bound, flights.owner IS NOT NULL AS leased,
         EXISTS (SELECT 1 FROM key_events WHERE key_events.key = staged.key AND key_events.run_id = ?1
           AND key_events.kind IN (${doubts})) AS doubted
       FROM staged LEFT JOIN contacts ON contacts.key = staged.key LEFT JOIN flights ON flights.key = staged.key
       WHERE ${ofRun} AND staged.key > ?2 AND staged.key <= ?3 ORDER BY staged.key`,
      id,
      afterKey,
      String(last?.key),
      sequence,
    )
    .map((row) => ({
      position: Number(row.position),
      key: String(row.key),
      // Written by this ledger from a value of that type.
      outcome: (row.outcome === 'cancelled' ? 'skipped' : textOrNull(row.outcome)) as TouchFacts['outcome'],
      sent: row.sent === 1,
      isWithdrawn: row.outcome === 'withdrawn',
      isIntent: row.is_intent === 1,
      intendedByRun: row.intended === 1,
      boundByRun: row.bound === 1,
      isLeased: row.leased === 1,
      doubtedInRun: row.doubted === 1,
    }));
}

/** What the ledger still knows of a run whose keys it has forgotten: rows settled by it last, contacts bound by it. */
function keepSettledKeys(db: Database, run: RunPlace): void {
  db.run(
    `INSERT INTO touched_keys (run_sequence, position, key)
     SELECT ?1, row_number() OVER (ORDER BY key), key FROM (
       SELECT key FROM known JOIN contacts ON contacts.number = known.number
       WHERE feed_number = (SELECT number FROM feeds WHERE name = ?2) AND sequence = ?1
       UNION SELECT key FROM contacts WHERE bound_run = ?1)`,
    run.sequence,
    run.feed,
  );
}

function touchedCount(db: Database, run: RunPlace, inDoubt: boolean): number {
  const row = db.get(
    `SELECT count(*) AS keys FROM touched_keys WHERE run_sequence = ?${inDoubt ? ' AND in_doubt = 1' : ''}`,
    run.sequence,
  );
  return Number(row?.keys ?? 0);
}
