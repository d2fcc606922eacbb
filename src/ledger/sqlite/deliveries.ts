/** The ledger's part for deliveries, in SQLite. */
import {
  type DeliveryKind,
  type DeliveryLedger,
  type DeliveryRecord,
  type FeedTrouble,
  type KnownFeedCondition,
  type NewDelivery,
  waitingMax,
} from '#src/ledger/deliveries.ts';
import {
  acceptedStates,
  type FeedStanding,
  historyKind,
  type LastRun,
  standingStates,
  workingStates,
} from '#src/ledger/rules/feeds.ts';
import type { RunReason } from '#src/ledger/runs.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';

/** Ended ones beyond this many are forgotten, whatever their age. */
const endedMax = 50_000;
/** Notices first: they are few, and a person waits for them. */
const kindsInOrder = ['notice', 'change'] as const satisfies readonly DeliveryKind[];

export function sqliteDeliveries(db: Database): DeliveryLedger {
  return {
    get: async (id) => {
      const row = db.get('SELECT * FROM deliveries WHERE id = ?', id);
      return row === null ? null : toDelivery(row);
    },

    nextDue: async (untilMs, limit) => {
      const due: DeliveryRecord[] = [];
      for (const kind of kindsInOrder) {
        // The notices of a feed arrive in order: each waits for the one before it.
        const behind =
          kind === 'notice'
            ? `AND NOT EXISTS (SELECT 1 FROM deliveries AS earlier WHERE earlier.state = 'waiting'
                 AND earlier.feed = deliveries.feed AND earlier.kind = 'notice' AND earlier.number < deliveries.number)`
            : '';
        const rows = db.all(
          `SELECT * FROM deliveries WHERE state = 'waiting' AND kind = ? AND due_at <= ? ${behind}
           ORDER BY due_at, number LIMIT ?`,
          kind,
          untilMs,
          limit - due.length,
        );
        due.push(...rows.map(toDelivery));
      }
      return due;
    },

    inState: async (state, limit) =>
      db.all('SELECT * FROM deliveries WHERE state = ? ORDER BY number DESC LIMIT ?', state, limit).map(toDelivery),

    tried: async (id, atMs, end) => {
      const { code, message } = end.state === 'delivered' ? { code: null, message: null } : end.why;
      db.run(
        `UPDATE deliveries SET attempts = attempts + 1, state = ?, code = ?, message = ?, ended_at = ?,
           due_at = coalesce(?, due_at) WHERE id = ? AND state = 'waiting'`,
        end.state,
        code,
        message,
        end.state === 'waiting' ? null : atMs,
        end.state === 'waiting' ? end.nextDueAtMs : null,
        id,
      );
    },

    putOff: async (untilMs) => {
      db.run("UPDATE deliveries SET due_at = ?1 WHERE state = 'waiting' AND due_at < ?1", untilMs);
    },

    expire: async (beforeMs, atMs, why) =>
      db.run(
        `UPDATE deliveries SET state = 'dead', ended_at = ?, code = ?, message = ?
         WHERE state = 'waiting' AND waits_since < ?`,
        atMs,
        why.code,
        why.message,
        beforeMs,
      ),

    retry: async (id, atMs) =>
      db.run(
        `UPDATE deliveries SET state = 'waiting', attempts = 0, waits_since = ?1, due_at = 0, ended_at = NULL
         WHERE id = ?2 AND state = 'dead'`,
        atMs,
        id,
      ) === 1,

    conditions: async () => db.all('SELECT * FROM feed_conditions ORDER BY feed').map(toCondition),

    setCondition: async ({ feed, troubles, sinceMs }, deliveries) =>
      db.durable(() => {
        db.run(
          `INSERT INTO feed_conditions (feed, troubles, since, known_since) VALUES (?1, ?2, ?3, ?3)
           ON CONFLICT (feed) DO UPDATE SET troubles = excluded.troubles, since = excluded.since`,
          feed,
          JSON.stringify(troubles),
          sinceMs,
        );
        addDeliveries(db, deliveries);
      }),

    forgetCondition: async (feed) => {
      db.run('DELETE FROM feed_conditions WHERE feed = ?', feed);
    },

    standings: async () => feedStandings(db),
  };
}

/** For use inside a transaction. */
export function forgetDeliveries(db: Database, beforeMs: number): void {
  for (const state of ['delivered', 'dead']) {
    db.run('DELETE FROM deliveries WHERE state = ? AND ended_at < ?', state, beforeMs);
    db.run(
      `DELETE FROM deliveries WHERE number IN (
         SELECT number FROM deliveries WHERE state = ? ORDER BY ended_at DESC LIMIT -1 OFFSET ${endedMax})`,
      state,
    );
  }
}

export function deliveryCount(db: Database, state: DeliveryRecord['state']): number {
  return Number(db.get('SELECT count(*) AS deliveries FROM deliveries WHERE state = ?', state)?.deliveries ?? 0);
}

/**
 * Enters notices; for use inside the transaction that writes what they report. An id that is there already is
 * left as it is. Where more than `waitingMax` wait, the oldest die: changes first.
 */
export function addDeliveries(db: Database, deliveries: readonly NewDelivery[]): void {
  if (deliveries.length === 0) return;
  for (const { id, kind, type, feed, data, atMs } of deliveries) {
    db.run(
      `INSERT INTO deliveries (id, kind, type, feed, data, at, waits_since, due_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 0)
       ON CONFLICT (id) DO NOTHING`,
      id,
      kind,
      type,
      feed,
      JSON.stringify(data),
      atMs,
    );
  }
  const waiting = Number(db.get("SELECT count(*) AS waiting FROM deliveries WHERE state = 'waiting'")?.waiting ?? 0);
  if (waiting <= waitingMax) return;
  db.run(
    `UPDATE deliveries SET state = 'dead', ended_at = ?, code = 'tooManyWaiting', message = ? WHERE number IN (
       SELECT number FROM deliveries WHERE state = 'waiting' ORDER BY kind <> 'change', number LIMIT ?)`,
    Math.max(...deliveries.map(({ atMs }) => atMs)),
    `more than ${waitingMax} deliveries waited for the webhook`,
    waiting - waitingMax,
  );
}

function toDelivery(row: ResultRow): DeliveryRecord {
  return {
    id: String(row.id),
    // Written by this ledger from values of these types.
    kind: String(row.kind) as DeliveryKind,
    type: String(row.type),
    feed: String(row.feed),
    data: parseJson<NewDelivery['data']>(row.data) ?? {},
    atMs: Number(row.at),
    state: String(row.state) as DeliveryRecord['state'],
    attempts: Number(row.attempts),
    dueAtMs: Number(row.due_at),
    endedAtMs: numberOrNull(row.ended_at),
    code: textOrNull(row.code),
    message: textOrNull(row.message),
  };
}

function toCondition(row: ResultRow): KnownFeedCondition {
  return {
    feed: String(row.feed),
    troubles: parseJson<readonly FeedTrouble[]>(row.troubles) ?? [],
    sinceMs: Number(row.since),
    knownSinceMs: Number(row.known_since),
  };
}

/** What the runs say of each feed, in a handful of index look-ups a feed: it is asked every few seconds. */

function feedStandings(db: Database): readonly FeedStanding[] {
  return db.all('SELECT name, created_at FROM feeds ORDER BY name').map((row) => {
    const feed = String(row.name);
    /** The sequence of the newest file in one of these states; 0 where there is none. */
    const newest = (states: readonly string[]): number => Math.max(...states.map((state) => newestIn(db, feed, state)));
    const lastSequence = newest(standingStates);
    const workingSequence = newest(workingStates);
    const accepted = db.get('SELECT created_at FROM runs WHERE sequence = ?', newest(acceptedStates));
    return {
      feed,
      createdAtMs: Number(row.created_at),
      last: lastSequence === 0 ? null : lastRun(db, lastSequence),
      atWork: workingSequence > lastSequence,
      acceptedAtMs: accepted === null ? null : Number(accepted.created_at),
    };
  });
}

function newestIn(db: Database, feed: string, state: string): number {
  const row = db.get(
    'SELECT max(sequence) AS newest FROM runs WHERE feed = ? AND kind = ? AND state = ?',
    feed,
    historyKind,
    state,
  );
  return Number(row?.newest ?? 0);
}

function lastRun(db: Database, sequence: number): LastRun | null {
  const row = db.get('SELECT id, feed, state, reason, dead FROM runs WHERE sequence = ?', sequence);
  if (row === null) return null;
  return {
    id: String(row.id),
    // The row was found by this state.
    state: String(row.state) as LastRun['state'],
    code: parseJson<RunReason>(row.reason)?.code ?? null,
    deadCount: Number(row.dead),
    deadOpen: row.state === 'doneWithDead' && anyOpen(db, String(row.feed), sequence),
  };
}

/**
 * A letter keeps the sequence of the file that met it last, whatever redrive tries it again; one that a fix-file met since
 * has that of the fix-file.
 */
function anyOpen(db: Database, feed: string, sequence: number): boolean {
  return (
    db.get('SELECT 1 FROM letters WHERE feed = ? AND sequence >= ? AND settled = 0 LIMIT 1', feed, sequence) !== null
  );
}
