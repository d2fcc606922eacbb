/** Dead letters in SQLite: one per feed, key and code. */
import { createHash, randomUUID } from 'node:crypto';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { DeadClass } from '#src/contacts/outcome.ts';
import type { Row } from '#src/sources/row.ts';
import type { DeadLetter, DeadLetterState } from '../dead-letter.ts';
import type { DeadLetterGroup, DeadLetterLedger } from '../dead-letter-ledger.ts';
import type { DeadRow, ServiceAnswer } from '../staged-record.ts';
import { type Database, parseJson, type ResultRow, textOrNull } from './database.ts';

export function sqliteDeadLetters(db: Database): DeadLetterLedger {
  return {
    list: async ({ ids, code, runId, states, limit }) =>
      db
        .all(
          `SELECT * FROM dead_letters
           WHERE (?1 IS NULL OR id IN (SELECT value FROM json_each(?1)))
             AND (?2 IS NULL OR code = ?2) AND (?3 IS NULL OR run_id = ?3)
             AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4)))
           ORDER BY last_at DESC, line LIMIT ?5`,
          ids === undefined ? null : JSON.stringify(ids),
          code ?? null,
          runId ?? null,
          states === undefined ? null : JSON.stringify(states),
          limit,
        )
        .map(toLetter),

    get: async (id) => {
      const row = db.get('SELECT * FROM dead_letters WHERE id = ?', id);
      return row === null ? null : toLetter(row);
    },

    countOpen: async () =>
      Number(db.get("SELECT count(*) AS open FROM dead_letters WHERE state IN ('open', 'redriven')")?.open ?? 0),

    groups: async (limit) =>
      db
        .all(
          `SELECT class, code, field, count(*) AS letters, max(id) AS example FROM dead_letters WHERE state = 'open'
           GROUP BY class, code, field ORDER BY letters DESC, code LIMIT ?`,
          limit,
        )
        .flatMap((row): DeadLetterGroup[] => {
          const example = db.get('SELECT * FROM dead_letters WHERE id = ?', String(row.example));
          if (example === null) return [];
          const { class: reasonClass, code, field } = toLetter(example);
          return [{ class: reasonClass, code, field, count: Number(row.letters), example: toLetter(example) }];
        }),

    markRedriven: async (ids, runId) =>
      db.transaction(() =>
        ids.filter(
          (id) =>
            db.run(
              "UPDATE dead_letters SET state = 'redriven', redrive_run_id = ?, attempts = attempts + 1 WHERE id = ? AND state = 'open'",
              runId,
              id,
            ) === 1,
        ),
      ),

    reopenUnsettled: async (runId) => {
      db.run(
        "UPDATE dead_letters SET state = 'open', redrive_run_id = NULL WHERE state = 'redriven' AND redrive_run_id = ?",
        runId,
      );
    },
  };
}

/** Where a dead row happened. */
export interface DeathPlace {
  readonly runId: string;
  readonly feed: string;
  readonly file: string;
  readonly sequence: number;
  readonly atMs: number;
}

/**
 * Enters a dead row: its letter, and the row in its run. For use inside a transaction.
 * @returns whether the letter is new with this run.
 */
export function enterDeadRow(db: Database, place: DeathPlace, dead: DeadRow): boolean {
  const mended = mendedLetter(db, place, dead);
  const same = mended?.code === dead.code;
  // A row that was mended and is dead of something else is another letter: this one is answered.
  if (mended !== null && !same) closeLetter(db, String(mended.id));
  const identity = same ? String(mended.identity) : (dead.key ?? `row ${contentHash(dead)}`);
  const known = db.get(
    'SELECT * FROM dead_letters WHERE feed = ? AND identity = ? AND code = ?',
    place.feed,
    identity,
    dead.code,
  );
  const id = known === null ? `d${randomUUID().replaceAll('-', '').slice(0, 12)}` : String(known.id);
  const first = dead.problems[0];
  // A run that is read anew after a crash meets its own letter again: that is no repeat.
  const repeated = known !== null && known.run_id !== place.runId ? 1 : 0;
  db.run(
    `INSERT INTO dead_letters (id, feed, identity, code, key, class, run_id, first_run_id, file, line, field, message, hint,
       "row", desired, answer, sequence, first_at, last_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?17)
     ON CONFLICT (feed, identity, code) DO UPDATE SET key = ?5, class = ?6, run_id = ?7, file = ?8, line = ?9, field = ?10,
       message = ?11, hint = ?12, "row" = ?13, desired = ?14, answer = ?15,
       sequence = CASE WHEN redrive_run_id = ?7 THEN sequence ELSE ?16 END, last_at = ?17,
       seen_count = seen_count + ${repeated}, state = 'open', redrive_run_id = NULL`,
    id,
    place.feed,
    identity,
    dead.code,
    dead.key,
    dead.class,
    place.runId,
    place.file,
    dead.line,
    first?.field ?? null,
    first?.message ?? dead.code,
    first?.hint ?? '',
    dead.row === null ? null : JSON.stringify(dead.row),
    dead.desired === null ? null : JSON.stringify(dead.desired),
    dead.answer === null ? null : JSON.stringify(dead.answer),
    place.sequence,
    place.atMs,
  );
  db.run(
    `INSERT INTO dead_rows (run_id, ordinal, letter_id, dead)
     VALUES (?1, (SELECT coalesce(max(ordinal), 0) + 1 FROM dead_rows WHERE run_id = ?1), ?2, ?3)`,
    place.runId,
    id,
    JSON.stringify(dead),
  );
  if (dead.key !== null) {
    // The key died of something else this time: what was being tried again is answered.
    db.run(
      `UPDATE dead_letters SET state = 'closed', redrive_run_id = NULL
       WHERE feed = ? AND key = ? AND code <> ? AND redrive_run_id = ?`,
      place.feed,
      dead.key,
      dead.code,
      place.runId,
    );
  }
  return known === null || known.first_run_id === place.runId;
}

/** The letter that the row was to mend, if it belongs to the feed. */
function mendedLetter(db: Database, place: DeathPlace, dead: DeadRow): ResultRow | null {
  if (dead.letterId === undefined) return null;
  return db.get('SELECT id, identity, code FROM dead_letters WHERE id = ? AND feed = ?', dead.letterId, place.feed);
}

/** Nothing is left to do for the letter's row. For use inside a transaction. */
export function closeLetter(db: Database, id: string): void {
  db.run(
    "UPDATE dead_letters SET state = 'closed', redrive_run_id = NULL WHERE id = ? AND state IN ('open', 'redriven')",
    id,
  );
}

/** A success closes what was open for the key (`rules.md`, "Dead letters"). For use inside a transaction. */
export function closeLettersOf(db: Database, feed: string, key: string): void {
  db.run(
    "UPDATE dead_letters SET state = 'closed', redrive_run_id = NULL WHERE feed = ? AND key = ? AND state IN ('open', 'redriven')",
    feed,
    key,
  );
}

/** Names a row that has no key by what it holds. */
function contentHash(dead: DeadRow): string {
  const row = dead.row;
  const content = row === null ? { line: dead.line } : row.kind === 'cells' ? row.cells : row.object;
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 24);
}

function toLetter(row: ResultRow): DeadLetter {
  return {
    id: String(row.id),
    runId: String(row.run_id),
    feed: String(row.feed),
    file: String(row.file),
    line: Number(row.line),
    key: textOrNull(row.key),
    class: String(row.class) as DeadClass,
    code: String(row.code),
    field: textOrNull(row.field),
    message: String(row.message),
    hint: String(row.hint),
    row: parseJson<Row>(row.row),
    desired: parseJson<DesiredContact>(row.desired),
    answer: parseJson<ServiceAnswer>(row.answer),
    attempts: Number(row.attempts),
    seenCount: Number(row.seen_count),
    state: String(row.state) as DeadLetterState,
    redriveRunId: textOrNull(row.redrive_run_id),
    sequence: Number(row.sequence),
    firstAtMs: Number(row.first_at),
    lastAtMs: Number(row.last_at),
  };
}
