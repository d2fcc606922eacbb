/** Dead letters, for what still works on the database directly. */
import { randomUUID } from 'node:crypto';
import type { DeadLetterState } from '#src/ledger/letters.ts';
import {
  type DeathPlace,
  deathPlace,
  type KnownLetter,
  type LetterContent,
  letterIdentity,
  rejectRow,
  unsettledStates,
} from '#src/ledger/rules/letters.ts';
import type { DeadRow } from '#src/ledger/staging.ts';
import type { Row } from '#src/sources/row.ts';
import { type Database, type ResultRow, textOrNull } from './database.ts';
import { runOf } from './runs.ts';

const quoted = (states: readonly DeadLetterState[]): string => states.map((state) => `'${state}'`).join(', ');
/** As the indexes of these rows have them. */
const unsettled = quoted(unsettledStates);
const inList = 'IN (SELECT value FROM json_each(?))';

export function placeOfDeath(
  db: Database,
  { runId, atMs }: { readonly runId: string; readonly atMs: number },
): DeathPlace {
  const run = runOf(db, runId);
  if (run === null) throw new Error(`no run ${runId}`);
  return deathPlace(run, atMs);
}

const known = 'id, identity, code, file, sequence, state, run_id, first_run_id, redrive_run_id';

/**
 * Enters a rejected row: its letter, and the row in its run. For use inside a transaction.
 * @returns whether the letter is new with this run.
 */
export function enterDeadRow(db: Database, place: DeathPlace, dead: DeadRow): boolean {
  const fixed =
    dead.letterId === undefined
      ? null
      : toKnown(db.get(`SELECT ${known} FROM letters WHERE id = ? AND feed = ?`, dead.letterId, place.feed));
  const identity = letterIdentity(dead, fixed);
  const met = toKnown(
    db.get(
      `SELECT ${known} FROM letters WHERE feed = ? AND identity = ? AND code = ?`,
      place.feed,
      identity,
      dead.code,
    ),
  );
  const id = met?.id ?? `d${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const death = rejectRow(place, dead, fixed, met);
  if (death.closes !== null) closeLetter(db, death.closes);
  if (death.letter.kind === 'enter') putLetter(db, id, death.letter.content, death.letter.seenAgain);
  else db.run('UPDATE letters SET seen_count = seen_count + 1, last_at = ? WHERE id = ?', place.atMs, id);
  db.run(
    `INSERT INTO dead_rows (run_sequence, ordinal, letter_id, header, dead)
     VALUES (?1, (SELECT coalesce(max(ordinal), 0) + 1 FROM dead_rows WHERE run_sequence = ?1), ?2, ?3, ?4)`,
    place.runSequence,
    id,
    headerOf(db, dead.row),
    JSON.stringify({ ...dead, row: withoutHeader(dead.row) }),
  );
  db.run(
    `INSERT INTO dead_row_counts (run_sequence, class, code, "rows") VALUES (?, ?, ?, 1)
     ON CONFLICT (run_sequence, class, code) DO UPDATE SET "rows" = "rows" + 1`,
    place.runSequence,
    dead.class,
    dead.code,
  );
  if (death.closesOthersOfKey) {
    db.run(
      `UPDATE letters SET state = 'closed', settled = 1, redrive_run_id = NULL
       WHERE feed = ? AND key = ? AND code <> ? AND redrive_run_id = ? AND state = 'redriven'`,
      place.feed,
      dead.key,
      dead.code,
      place.runId,
    );
  }
  return death.isNew;
}

function headerOf(db: Database, row: Row | null): number | null {
  if (row?.kind !== 'cells') return null;
  const text = JSON.stringify(row.columns);
  db.run('INSERT INTO letter_headers (columns) VALUES (?) ON CONFLICT DO NOTHING', text);
  return Number(db.get('SELECT number FROM letter_headers WHERE columns = ?', text)?.number);
}

function withoutHeader(row: Row | null): object | null {
  return row?.kind === 'cells' ? { ...row, columns: undefined } : row;
}

function putLetter(db: Database, id: string, letter: LetterContent, seenAgain: boolean): void {
  db.run(
    `INSERT INTO letters (id, feed, identity, code, key, class, run_id, first_run_id, file, line, field, message, hint,
       "row", header, desired, answer, sequence, redrive_run_id, first_at, last_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?19)
     ON CONFLICT (feed, identity, code) DO UPDATE SET key = ?5, class = ?6, run_id = ?7, file = ?8, line = ?9, field = ?10,
       message = ?11, hint = ?12, "row" = ?13, header = ?14, desired = ?15, answer = ?16,
       sequence = ?17, redrive_run_id = ?18, last_at = ?19,
       seen_count = seen_count + ?20, state = 'open', settled = 0`,
    id,
    letter.feed,
    letter.identity,
    letter.code,
    letter.key,
    letter.class,
    letter.runId,
    letter.file,
    letter.line,
    letter.field,
    letter.message,
    letter.hint,
    json(withoutHeader(letter.row)),
    headerOf(db, letter.row),
    json(letter.desired),
    json(letter.answer),
    letter.sequence,
    letter.redriveRunId,
    letter.atMs,
    seenAgain ? 1 : 0,
  );
}

/** The letter has nothing left to be done. For use inside a transaction. */
export function closeLetter(db: Database, id: string): void {
  db.run(
    `UPDATE letters SET state = 'closed', settled = 1, redrive_run_id = NULL WHERE id = ? AND state IN (${unsettled})`,
    id,
  );
}

/** Closes what is unsettled of these keys. For use inside a transaction. */
export function closeLettersOf(db: Database, feed: string, keys: readonly string[]): void {
  db.run(
    `UPDATE letters SET state = 'closed', settled = 1, redrive_run_id = NULL WHERE feed = ? AND key ${inList} AND state IN (${unsettled})`,
    feed,
    JSON.stringify(keys),
  );
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

function toKnown(row: ResultRow | null): KnownLetter | null {
  if (row === null) return null;
  return {
    id: String(row.id),
    identity: String(row.identity),
    code: String(row.code),
    file: String(row.file),
    sequence: Number(row.sequence),
    // Written by this ledger from a value of that type.
    state: String(row.state) as DeadLetterState,
    runId: String(row.run_id),
    firstRunId: String(row.first_run_id),
    redriveRunId: textOrNull(row.redrive_run_id),
  };
}
