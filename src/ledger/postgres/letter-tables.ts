/** The tables of dead letters and of rejected rows in PostgreSQL. */
import { createHash } from 'node:crypto';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { numberOrNull, parseJson, type ResultRow } from '#src/ledger/records/columns.ts';
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
import type { LetterChange, LetterTables } from '#src/ledger/tables/letters.ts';
import type { Row } from '#src/sources/row.ts';
import { factQueries } from './letter-facts.ts';
import type { Statements } from './pool.ts';
import type { Value } from './values.ts';
import { where } from './where.ts';

const settledList = settledStates.map((state) => `'${state}'`).join(', ');

export function postgresLetterTables(statements: Statements): LetterTables {
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

    read: async (ids) => toLetters(await statements.all('SELECT * FROM letters WHERE id = ANY ($1::text[])', ids)),

    write: async (letters) => {
      if (letters.length === 0) return;
      const headers = await enterHeaders(
        statements,
        letters.map(({ row }) => row),
      );
      const rows = letters.map((letter) => letterValues(letter, headers));
      await statements.run(putLetters, ...Array.from({ length: letterColumns }, (_, column) => columnOf(rows, column)));
    },

    change: async (ids, change) => {
      if (ids.length === 0) return;
      const { assignments, parameters } = assigned(change);
      if (assignments !== '') {
        await statements.run(`UPDATE letters SET ${assignments} WHERE id = ANY ($1::text[])`, ids, ...parameters);
      }
    },

    counts: async (by, { states, code, runId, feed }) => {
      const columns = { all: [], reason: ['class', 'code', 'field'], run: ['feed', 'run_id'] }[by];
      const order = {
        all: '1',
        reason: 'letters DESC, code, class, field',
        run: '(SELECT sequence FROM runs WHERE id = run_id) NULLS FIRST, run_id',
      };
      const { sql, parameters } = where([
        ['state = ANY ($::text[])', states],
        ['code = $', code],
        ['run_id = $', runId],
        ['feed = $', feed],
      ]);
      const rows = await statements.all(
        `SELECT ${[...columns, 'sum(letters)::bigint AS letters'].join(', ')} FROM letter_counts WHERE ${sql}
         ${columns.length === 0 ? '' : `GROUP BY ${columns.join(', ')}`} ORDER BY ${order[by]}`,
        ...parameters,
      );
      return rows.map(toLetterCount);
    },

    revision: async () => Number((await statements.get('SELECT revision FROM letter_revision'))?.revision),

    forget: async (beforeMs, limit) => {
      const forgotten = await statements.run(
        `DELETE FROM letters WHERE number IN (
           SELECT number FROM letters WHERE settled = 1 AND last_at < $1::bigint ORDER BY last_at DESC LIMIT $2)`,
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
        await statements.run('DELETE FROM redrives WHERE run_id = $1', runId);
        return;
      }
      await statements.run(
        `INSERT INTO redrives (run_id, feed, choice, after, is_taking) VALUES ($1, $2, $3, $4, $5)
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
      const counts = deadRowCounts(rows);
      await statements.run(
        `WITH entered AS (
           INSERT INTO dead_rows (run_sequence, ordinal, letter_id, header, dead)
           SELECT $1, (SELECT coalesce(max(ordinal), 0) FROM dead_rows WHERE run_sequence = $1) + place, letter_id, header, dead
           FROM unnest($2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY AS given (letter_id, header, dead, place))
         INSERT INTO dead_row_counts (run_sequence, class, code, "rows")
         SELECT $1, * FROM unnest($5::text[], $6::text[], $7::bigint[])
         ON CONFLICT (run_sequence, class, code) DO UPDATE SET "rows" = dead_row_counts."rows" + excluded."rows"`,
        runSequence,
        rows.map(({ letterId }) => letterId),
        rows.map(({ dead }) => headerOf(dead.row, headers)),
        rows.map(({ dead }) => storedDeadRow(dead)),
        counts.map((one) => one.class),
        counts.map(({ code }) => code),
        counts.map(({ count }) => count),
      );
    },

    deadRows: async (runSequence, afterOrdinal, limit) => {
      const rows = await statements.all(
        'SELECT * FROM dead_rows WHERE run_sequence = $1 AND ordinal > $2::bigint ORDER BY ordinal LIMIT $3',
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
          'SELECT class, code, "rows" FROM dead_row_counts WHERE run_sequence = $1 ORDER BY "rows" DESC, code',
          runSequence,
        )
      ).map(toDeadCount),
  };
}

/** As `letterValues` orders them, with the types of their columns. */
const letterTypes = [
  ...[
    'id text',
    'feed text',
    'identity text',
    'code text',
    'key text',
    'class text',
    'run_id text',
    'file text',
    'line bigint',
  ],
  ...[
    'field text',
    'message text',
    'hint text',
    'row text',
    'header bigint',
    'desired text',
    'answer text',
    'sequence bigint',
  ],
  ...['redrive_run_id text', 'at bigint', 'seen_by bigint', 'problems text'],
];
const letterColumns = letterTypes.length;
const given = letterTypes.map((one) => `"${one.split(' ')[0]}"`).join(', ');
const arrays = letterTypes.map((one, index) => `$${index + 1}::${one.split(' ')[1]}[]`).join(', ');

/** One statement changes those that are there, another one enters the rest: an upsert could not add what is not stored. */
const putLetters = `WITH given AS (SELECT * FROM unnest(${arrays}) WITH ORDINALITY AS given (${given}, place)),
  changed AS (
    UPDATE letters SET key = given.key, class = given.class, run_id = given.run_id, file = given.file, line = given.line,
      field = given.field, message = given.message, hint = given.hint, "row" = given."row", header = given.header,
      desired = given.desired, answer = given.answer, sequence = given.sequence, redrive_run_id = given.redrive_run_id,
      last_at = given.at, seen_count = seen_count + given.seen_by, problems = given.problems, state = 'open', settled = 0
    FROM given WHERE letters.feed = given.feed AND letters.identity = given.identity AND letters.code = given.code
    RETURNING letters.number),
  entered AS (
    INSERT INTO letters (id, feed, identity, code, key, class, run_id, first_run_id, file, line, field, message, hint, "row",
      header, desired, answer, sequence, redrive_run_id, first_at, last_at, problems)
    SELECT id, feed, identity, code, key, class, run_id, run_id, file, line, field, message, hint, "row", header, desired, answer,
      sequence, redrive_run_id, at, at, problems
    FROM given WHERE NOT EXISTS (SELECT 1 FROM letters
      WHERE letters.feed = given.feed AND letters.identity = given.identity AND letters.code = given.code)
    ORDER BY place RETURNING number)
  SELECT number FROM changed UNION ALL SELECT number FROM entered`;

function columnOf(rows: readonly (readonly (string | number | null)[])[], column: number): readonly Value[] {
  return rows.map((row) => row[column] ?? null);
}

/** Behind the ids, which are $1. */
function assigned({ state, redriveRunId, attemptsBy, seenBy, lastAtMs }: LetterChange) {
  const changes: readonly (readonly [string, Value | undefined])[] = [
    ['state = $', state],
    [`settled = CASE WHEN $::text IN (${settledList}) THEN 1 ELSE 0 END`, state],
    ['redrive_run_id = $', redriveRunId],
    ['attempts = attempts + $', attemptsBy],
    ['seen_count = seen_count + $', seenBy],
    ['last_at = $', lastAtMs],
  ];
  const chosen = changes.flatMap(([assignment, value]) => (value === undefined ? [] : [{ assignment, value }]));
  return {
    assignments: chosen.map(({ assignment }, index) => assignment.replace('$', `$$${index + 2}`)).join(', '),
    parameters: chosen.map(({ value }) => value),
  };
}

/** A header may be longer than what an index takes: it is found by its hash. */
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

async function enterHeaders(statements: Statements, rows: readonly (Row | null)[]): Promise<HeaderNumbers> {
  const texts = [...headerTextsOf(rows)];
  if (texts.length === 0) return new Map();
  const hashes = texts.map(hashOf);
  const find = "SELECT number, encode(hash, 'hex') AS hash FROM letter_headers WHERE hash = ANY ($1::bytea[])";
  const numbersBy = (found: readonly ResultRow[]) =>
    new Map(found.map((row) => [String(row.hash), Number(row.number)]));
  let numbers = numbersBy(await statements.all(find, hashes));
  if (numbers.size < texts.length) {
    await statements.run(
      'INSERT INTO letter_headers (hash, columns) SELECT * FROM unnest($1::bytea[], $2::text[]) ON CONFLICT DO NOTHING',
      hashes,
      texts,
    );
    numbers = numbersBy(await statements.all(find, hashes));
  }
  return new Map(texts.map((text, index) => [text, numbers.get(hashes[index]?.toString('hex') ?? '') ?? 0]));
}

async function readHeaders(statements: Statements, numbers: readonly (number | null)[]): Promise<Headers> {
  const wanted = [...new Set(numbers.filter((number) => number !== null))];
  if (wanted.length === 0) return new Map();
  const rows = await statements.all(
    'SELECT number, columns FROM letter_headers WHERE number = ANY ($1::bigint[])',
    wanted,
  );
  return new Map(rows.map(({ number, columns }) => [Number(number), parseJson<string[]>(columns) ?? []]));
}
