/** The tables of dead letters and of rejected rows in SQLite. */
import type { SQLInputValue } from 'node:sqlite';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { numberOrNull, parseJson } from '#src/ledger/records/columns.ts';
import {
  deadRowCounts,
  type HeaderNumbers,
  type Headers,
  headerOf,
  headerTextsOf,
  letterValues,
  redriveValues,
  storedDeadRow,
  toDeadCount,
  toDeadRow,
  toFacts,
  toLetter,
  toLetterCount,
  toRedrive,
} from '#src/ledger/records/letter.ts';
import { settledStates } from '#src/ledger/rules/letters.ts';
import type { LetterChange, LetterPage, LettersSought, LetterTables, MetPlace } from '#src/ledger/tables/letters.ts';
import type { Row } from '#src/sources/row.ts';
import type { Statements } from './connection.ts';
import type { ResultRow } from './database.ts';

const inList = 'IN (SELECT value FROM json_each(?))';
const factColumns = `id, feed, identity, code, key, class, field, file, line, sequence, state, run_id, first_run_id, redrive_run_id, last_at`;
const inOrderMet = '(sequence, line, id) > (?, ?, ?) ORDER BY sequence, line, id LIMIT ?';
const settledList = settledStates.map((state) => `'${state}'`).join(', ');

export function letterTables(statements: Statements): LetterTables {
  const headersOf = (numbers: readonly (number | null)[]) => readHeaders(statements, numbers);
  const toLetters = async (rows: readonly ResultRow[]): Promise<readonly DeadLetter[]> => {
    const headers = await headersOf(rows.map(({ header }) => numberOrNull(header)));
    return rows.map((row) => toLetter(row, headers));
  };

  return {
    facts: async (sought) => {
      const found: ResultRow[] = [];
      // What a page of a list is put together from are two queries; of the second, what the first has left.
      for (const { sql, parameters } of factQueries(sought)) {
        const limit = 'limit' in sought ? [sought.limit - found.length] : [];
        if (limit[0] !== 0) found.push(...(await statements.all(sql, ...parameters, ...limit)));
      }
      return found.map(toFacts);
    },

    read: async (ids) =>
      toLetters(await statements.all(`SELECT * FROM letters WHERE id ${inList}`, JSON.stringify(ids))),

    write: async (letters) => {
      const headers = await enterHeaders(
        statements,
        letters.map(({ row }) => row),
      );
      await statements.runMany(
        putLetter,
        letters.map((letter) => letterValues(letter, headers)),
      );
    },

    change: async (ids, change) => {
      if (ids.length === 0) return;
      const { assignments, parameters } = assigned(change);
      await statements.run(`UPDATE letters SET ${assignments} WHERE id ${inList}`, ...parameters, JSON.stringify(ids));
    },

    counts: async (by, { states, code, runId, feed }) => {
      const columns = { all: [], reason: ['class', 'code', 'field'], run: ['feed', 'run_id'] }[by];
      const given = [
        { condition: `state ${inList}`, value: JSON.stringify(states) },
        ...(code === undefined ? [] : [{ condition: 'code = ?', value: code }]),
        ...(runId === undefined ? [] : [{ condition: 'run_id = ?', value: runId }]),
        ...(feed === undefined ? [] : [{ condition: 'feed = ?', value: feed }]),
      ];
      const order = {
        all: '1',
        reason: 'letters DESC, code, class, field',
        run: '(SELECT sequence FROM runs WHERE id = run_id), run_id',
      };
      const rows = await statements.all(
        `SELECT ${[...columns, 'sum(letters) AS letters'].join(', ')} FROM letter_counts
         WHERE ${given.map(({ condition }) => condition).join(' AND ')}
         ${columns.length === 0 ? '' : `GROUP BY ${columns.join(', ')}`} ORDER BY ${order[by]}`,
        ...given.map(({ value }) => value),
      );
      return rows.map(toLetterCount);
    },

    revision: async () => Number((await statements.get('SELECT revision FROM letter_revision'))?.revision),

    forget: async (beforeMs, limit) => {
      const forgotten = await statements.run(
        `DELETE FROM letters WHERE number IN (
           SELECT number FROM letters INDEXED BY letters_listed WHERE settled = 1 AND last_at < ? ORDER BY last_at DESC LIMIT ?)`,
        beforeMs,
        limit,
      );
      if (forgotten > 0) {
        await statements.run(
          `DELETE FROM letter_headers WHERE NOT EXISTS (SELECT 1 FROM letters WHERE header = letter_headers.number)
             AND NOT EXISTS (SELECT 1 FROM dead_rows WHERE header = letter_headers.number)`,
        );
      }
      return forgotten;
    },

    redrives: async () => (await statements.all('SELECT * FROM redrives ORDER BY run_id')).map(toRedrive),

    putRedrive: async (runId, redrive) => {
      if (redrive === null) {
        await statements.run('DELETE FROM redrives WHERE run_id = ?', runId);
        return;
      }
      await statements.run(
        `INSERT INTO redrives (run_id, feed, choice, after, is_taking) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (run_id) DO UPDATE SET choice = excluded.choice, after = excluded.after, is_taking = excluded.is_taking`,
        ...redriveValues(runId, redrive),
      );
    },

    addDeadRows: async (runSequence, rows) => {
      if (rows.length === 0) return;
      const headers = await enterHeaders(
        statements,
        rows.map(({ dead }) => dead.row),
      );
      const last = await statements.get(
        'SELECT max(ordinal) AS last FROM dead_rows WHERE run_sequence = ?',
        runSequence,
      );
      const first = Number(last?.last ?? 0) + 1;
      await statements.runMany(
        'INSERT INTO dead_rows (run_sequence, ordinal, letter_id, header, dead) VALUES (?, ?, ?, ?, ?)',
        rows.map(({ dead, letterId }, index) => [
          runSequence,
          first + index,
          letterId,
          headerOf(dead.row, headers),
          storedDeadRow(dead),
        ]),
      );
      await statements.runMany(
        `INSERT INTO dead_row_counts (run_sequence, class, code, "rows") VALUES (?, ?, ?, ?)
         ON CONFLICT (run_sequence, class, code) DO UPDATE SET "rows" = "rows" + excluded."rows"`,
        deadRowCounts(rows).map(({ class: of, code, count }) => [runSequence, of, code, count]),
      );
    },

    deadRows: async (runSequence, afterOrdinal, limit) => {
      const rows = await statements.all(
        'SELECT * FROM dead_rows WHERE run_sequence = ? AND ordinal > ? ORDER BY ordinal LIMIT ?',
        runSequence,
        afterOrdinal,
        limit,
      );
      const headers = await headersOf(rows.map(({ header }) => numberOrNull(header)));
      return rows.flatMap((row) => toDeadRow(row, headers));
    },

    deadCounts: async (runSequence) =>
      (
        await statements.all(
          'SELECT class, code, "rows" FROM dead_row_counts WHERE run_sequence = ? ORDER BY "rows" DESC, code',
          runSequence,
        )
      ).map(toDeadCount),
  };
}

interface Query {
  readonly sql: string;
  /** Without that of the limit, where there is one. */
  readonly parameters: readonly SQLInputValue[];
}

function factQueries(sought: LettersSought): readonly Query[] {
  const select = `SELECT ${factColumns} FROM`;
  const after = (place: MetPlace | null) => (place === null ? [-1, -1, ''] : [place.sequence, place.line, place.id]);
  switch (sought.by) {
    case 'identity': {
      const pairs = JSON.stringify(sought.of.map(({ identity, code }) => [identity, code]));
      const sql = `${select} (SELECT value ->> 0 AS of_identity, value ->> 1 AS of_code FROM json_each(?))
        CROSS JOIN letters ON feed = ? AND identity = of_identity AND code = of_code`;
      return [{ sql, parameters: [pairs, sought.feed] }];
    }
    case 'id':
      return [{ sql: `${select} letters WHERE id ${inList}`, parameters: [JSON.stringify(sought.ids)] }];
    case 'key': {
      const sql = `${select} letters INDEXED BY letters_by_key WHERE feed = ? AND key ${inList} AND settled = 0`;
      return [{ sql, parameters: [sought.feed, JSON.stringify(sought.keys)] }];
    }
    case 'met': {
      const sql = `${select} letters INDEXED BY letters_met
        WHERE feed = ? AND settled = 0 AND state ${inList} AND ${inOrderMet}`;
      return [{ sql, parameters: [sought.feed, JSON.stringify(sought.states), ...after(sought.after)] }];
    }
    case 'keyless': {
      const sql = `${select} letters INDEXED BY letters_without_key
        WHERE feed = ? AND key IS NULL AND settled = 0 AND state = 'open' AND sequence < ?
        AND ${inOrderMet}`;
      return [{ sql, parameters: [sought.feed, sought.beforeSequence, ...after(sought.after)] }];
    }
    case 'redrive': {
      const sql = `${select} letters INDEXED BY letters_by_redrive
        WHERE redrive_run_id = ? AND (state = 'redriven' OR state = 'open' AND run_id = redrive_run_id) AND ${inOrderMet}`;
      return [{ sql, parameters: [sought.runId, ...after(sought.after)] }];
    }
    case 'reason':
      return sought.reasons.map(({ class: reasonClass, code, field }) => ({
        sql: `${select} letters INDEXED BY letters_by_reason
          WHERE code = ? AND class = ? AND field IS ? AND state = 'open' AND settled = 0 LIMIT 1`,
        parameters: [code, reasonClass, field],
      }));
    case 'list':
      return listQueries(sought);
  }
}

function listQueries({ settled, after, states, code, runId, feed }: LetterPage): readonly Query[] {
  const conditions: readonly (readonly [string, string | undefined])[] = [
    [`state ${inList}`, states && JSON.stringify(states)],
    ['code = ?', code],
    ['run_id = ?', runId],
    ['feed = ?', feed],
  ];
  const given = conditions.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  const query = (place: string, of: readonly SQLInputValue[], order: string): Query => {
    const where = ['settled = ?', place, ...given.map(({ condition }) => condition)].join(' AND ');
    return {
      sql: `SELECT ${factColumns} FROM letters INDEXED BY letters_listed WHERE ${where} ORDER BY ${order} LIMIT ?`,
      parameters: [settled ? 1 : 0, ...of, ...given.map(({ value }) => value)],
    };
  };
  const order = 'last_at DESC, line, id';
  if (after === null) return [query('TRUE', [], order)];
  const { lastAtMs, line, id } = after;
  // Two ranges of the index: a comparison of all three would not be one, since the first goes down and the others up.
  return [
    query('last_at = ? AND (line, id) > (?, ?)', [lastAtMs, line, id], 'line, id'),
    query('last_at < ?', [lastAtMs], order),
  ];
}

const putLetter = `INSERT INTO letters (id, feed, identity, code, key, class, run_id, first_run_id, file, line, field, message, hint,
     "row", header, desired, answer, sequence, redrive_run_id, first_at, last_at, problems)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?19, ?21)
   ON CONFLICT (feed, identity, code) DO UPDATE SET key = ?5, class = ?6, run_id = ?7, file = ?8, line = ?9, field = ?10,
     message = ?11, hint = ?12, "row" = ?13, header = ?14, desired = ?15, answer = ?16, sequence = ?17, redrive_run_id = ?18,
     last_at = ?19, seen_count = seen_count + ?20, problems = ?21, state = 'open', settled = 0`;

function assigned({ state, redriveRunId, attemptsBy, seenBy, lastAtMs }: LetterChange) {
  const changes: readonly (readonly [string, SQLInputValue | undefined])[] = [
    ['state = ?', state],
    [`settled = ? IN (${settledList})`, state],
    ['redrive_run_id = ?', redriveRunId],
    ['attempts = attempts + ?', attemptsBy],
    ['seen_count = seen_count + ?', seenBy],
    ['last_at = ?', lastAtMs],
  ];
  const given = changes.flatMap(([assignment, value]) => (value === undefined ? [] : [{ assignment, value }]));
  return {
    assignments: given.map(({ assignment }) => assignment).join(', '),
    parameters: given.map(({ value }) => value),
  };
}

async function enterHeaders(statements: Statements, rows: readonly (Row | null)[]): Promise<HeaderNumbers> {
  const texts = headerTextsOf(rows);
  const numbers = new Map<string, number>();
  for (const text of texts) {
    await statements.run('INSERT INTO letter_headers (columns) VALUES (?) ON CONFLICT DO NOTHING', text);
    const row = await statements.get('SELECT number FROM letter_headers WHERE columns = ?', text);
    numbers.set(text, Number(row?.number));
  }
  return numbers;
}

async function readHeaders(statements: Statements, numbers: readonly (number | null)[]): Promise<Headers> {
  const wanted = [...new Set(numbers.filter((number) => number !== null))];
  if (wanted.length === 0) return new Map();
  const rows = await statements.all(
    `SELECT number, columns FROM letter_headers WHERE number ${inList}`,
    JSON.stringify(wanted),
  );
  return new Map(rows.map(({ number, columns }) => [Number(number), parseJson<string[]>(columns) ?? []]));
}
