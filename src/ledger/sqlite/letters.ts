/** Dead letters in SQLite: one per feed, key and code. */
import { randomUUID } from 'node:crypto';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { DeadClass } from '#src/contacts/outcome.ts';
import type {
  DeadLetter,
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterLedger,
  DeadLetterState,
  LetterChoice,
} from '#src/ledger/letters.ts';
import {
  closedUnmetNote,
  type DeathPlace,
  type KnownLetter,
  type LetterContent,
  letterIdentity,
  redriveName,
  rejectRow,
  settledStates,
  unsettledStates,
} from '#src/ledger/rules/letters.ts';
import type { DeadRow, ServiceAnswer } from '#src/ledger/staging.ts';
import type { Row } from '#src/sources/row.ts';
import { type Database, parseJson, type ResultRow, textOrNull } from './database.ts';
import { addNotes, insertRun } from './runs.ts';

export function sqliteDeadLetters(db: Database): DeadLetterLedger {
  return {
    list: async ({ limit, after, ...filter }) => {
      const { where, parameters } = fitting(filter);
      const { lastAtMs = Number.MAX_SAFE_INTEGER, line = 0, id = '' } = after ?? {};
      return db
        .all(
          `SELECT * FROM dead_letters WHERE ${where} AND last_at <= ? AND (-last_at, line, id) > (?, ?, ?)
           ORDER BY last_at DESC, line, id LIMIT ?`,
          ...parameters,
          lastAtMs,
          -lastAtMs,
          line,
          id,
          limit,
        )
        .map(toLetter);
    },

    get: async (id) => {
      const row = db.get('SELECT * FROM dead_letters WHERE id = ?', id);
      return row === null ? null : toLetter(row);
    },

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

    openByRun: async (choice) => {
      const { where, parameters } = fitting({ ...choice, states: ['open'] });
      return db
        .all(
          `SELECT feed, run_id, count(*) AS letters FROM dead_letters WHERE ${where}
           GROUP BY feed, run_id ORDER BY min(sequence), run_id`,
          ...parameters,
        )
        .map((row) => ({ feed: String(row.feed), runId: String(row.run_id), count: Number(row.letters) }));
    },

    enterRedrive: async (run, { metBy, ...choice }) =>
      db.durable(() => {
        const { where, parameters } = fitting({ ...choice, states: ['open'] });
        const taken = db.run(
          `INSERT INTO redriven_letters (run_id, ordinal, letter_id)
           SELECT ?, row_number() OVER (ORDER BY sequence, line, id), id FROM dead_letters
           WHERE feed = ? AND run_id ${inList} AND ${where}`,
          run.id,
          run.feed,
          JSON.stringify(metBy),
          ...parameters,
        );
        if (taken === 0) return null;
        db.run(
          `UPDATE dead_letters SET state = 'redriven', redrive_run_id = ?1, attempts = attempts + 1
           WHERE id IN (SELECT letter_id FROM redriven_letters WHERE run_id = ?1)`,
          run.id,
        );
        const first = db.get('SELECT letter_id FROM redriven_letters WHERE run_id = ? AND ordinal = 1', run.id);
        return insertRun(db, { ...run, kind: 'redrive', fileName: redriveName(taken, String(first?.letter_id)) });
      }),

    lettersOf: async (runId, afterOrdinal, limit) =>
      db
        .all(
          `SELECT taken.ordinal, letter.* FROM redriven_letters AS taken
           JOIN dead_letters AS letter ON letter.id = taken.letter_id
           WHERE taken.run_id = ? AND taken.ordinal > ?
             AND (letter.redrive_run_id = taken.run_id OR letter.state = 'open' AND letter.run_id = taken.run_id)
           ORDER BY taken.ordinal LIMIT ?`,
          runId,
          afterOrdinal,
          limit,
        )
        .map((row) => ({ ...toLetter(row), ordinal: Number(row.ordinal) })),

    closeUnmet: async (runId) =>
      db.transaction(() => {
        const closed = db.run(
          `UPDATE dead_letters SET state = 'closed' WHERE state = 'open' AND key IS NULL
             AND feed = (SELECT feed FROM runs WHERE id = ?1) AND sequence < (SELECT sequence FROM runs WHERE id = ?1)`,
          runId,
        );
        const note = closedUnmetNote(closed);
        if (note !== null) addNotes(db, runId, [note]);
        return closed;
      }),
  };
}

const quoted = (states: readonly DeadLetterState[]): string => states.map((state) => `'${state}'`).join(', ');
/** As the indexes of these rows have them. */
const unsettled = quoted(unsettledStates);
const settled = quoted(settledStates);
const inList = 'IN (SELECT value FROM json_each(?))';

/** The condition names only what is asked for: else no index helps. */
function fitting({ ids, code, runId, states, feed }: LetterChoice & Pick<DeadLetterFilter, 'states' | 'feed'>): {
  readonly where: string;
  readonly parameters: readonly string[];
} {
  const conditions: readonly (readonly [string, string | undefined])[] = [
    [`id ${inList}`, ids && JSON.stringify(ids)],
    ['code = ?', code],
    ['run_id = ?', runId],
    ['feed = ?', feed],
    [`state ${inList}`, states && JSON.stringify(states)],
  ];
  const given = conditions.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  return {
    where: given.map(({ condition }) => condition).join(' AND ') || 'TRUE',
    parameters: given.map(({ value }) => value),
  };
}

/** For use inside a transaction. */
export function forgetLetters(db: Database, beforeMs: number): void {
  db.run(`DELETE FROM dead_letters WHERE state IN (${settled}) AND last_at < ?`, beforeMs);
}

/** How many are not settled. */
export function openLetters(db: Database): number {
  return Number(db.get(`SELECT count(*) AS open FROM dead_letters WHERE state IN (${unsettled})`)?.open ?? 0);
}

export function deathPlace(
  db: Database,
  { runId, feed, atMs }: Pick<DeathPlace, 'runId' | 'feed' | 'atMs'>,
): DeathPlace {
  const run = db.get('SELECT sequence, kind, file_name FROM runs WHERE id = ?', runId);
  const [file, isRedrive] = [String(run?.file_name), run?.kind === 'redrive'];
  return { runId, feed, file, isRedrive, sequence: Number(run?.sequence), atMs };
}

/**
 * Enters a rejected row: its letter, and the row in its run. For use inside a transaction.
 * @returns whether the letter is new with this run.
 */
export function enterDeadRow(db: Database, place: DeathPlace, dead: DeadRow): boolean {
  const fixed =
    dead.letterId === undefined
      ? null
      : toKnown(db.get('SELECT * FROM dead_letters WHERE id = ? AND feed = ?', dead.letterId, place.feed));
  const identity = letterIdentity(dead, fixed);
  const known = toKnown(
    db.get('SELECT * FROM dead_letters WHERE feed = ? AND identity = ? AND code = ?', place.feed, identity, dead.code),
  );
  const id = known?.id ?? `d${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const death = rejectRow(place, dead, fixed, known);
  if (death.closes !== null) closeLetter(db, death.closes);
  if (death.letter.kind === 'enter') putLetter(db, id, death.letter.content, death.letter.seenAgain);
  else db.run('UPDATE dead_letters SET seen_count = seen_count + 1, last_at = ? WHERE id = ?', place.atMs, id);
  db.run(
    `INSERT INTO dead_rows (run_id, ordinal, letter_id, dead)
     VALUES (?1, (SELECT coalesce(max(ordinal), 0) + 1 FROM dead_rows WHERE run_id = ?1), ?2, ?3)`,
    place.runId,
    id,
    JSON.stringify(dead),
  );
  if (death.closesOthersOfKey) {
    db.run(
      `UPDATE dead_letters SET state = 'closed', redrive_run_id = NULL
       WHERE feed = ? AND key = ? AND code <> ? AND redrive_run_id = ?`,
      place.feed,
      dead.key,
      dead.code,
      place.runId,
    );
  }
  return death.isNew;
}

function putLetter(db: Database, id: string, letter: LetterContent, seenAgain: boolean): void {
  db.run(
    `INSERT INTO dead_letters (id, feed, identity, code, key, class, run_id, first_run_id, file, line, field, message, hint,
       "row", desired, answer, sequence, first_at, last_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?17)
     ON CONFLICT (feed, identity, code) DO UPDATE SET key = ?5, class = ?6, run_id = ?7, file = ?8, line = ?9, field = ?10,
       message = ?11, hint = ?12, "row" = ?13, desired = ?14, answer = ?15,
       sequence = ?16, last_at = ?17,
       seen_count = seen_count + ?18, state = 'open', redrive_run_id = NULL`,
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
    json(letter.row),
    json(letter.desired),
    json(letter.answer),
    letter.sequence,
    letter.atMs,
    seenAgain ? 1 : 0,
  );
}

/** The letter has nothing left to be done. For use inside a transaction. */
export function closeLetter(db: Database, id: string): void {
  db.run(
    `UPDATE dead_letters SET state = 'closed', redrive_run_id = NULL WHERE id = ? AND state IN (${unsettled})`,
    id,
  );
}

/** Closes what is unsettled of these keys. For use inside a transaction. */
export function closeLettersOf(db: Database, feed: string, keys: readonly string[]): void {
  db.run(
    `UPDATE dead_letters SET state = 'closed', redrive_run_id = NULL
     WHERE feed = ? AND key ${inList} AND state IN (${unsettled})`,
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
  };
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
