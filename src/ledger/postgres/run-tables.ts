/** The tables of runs in PostgreSQL (`migrations/first-schema.ts`). */
import { jsonOrNull, parseJson, type ResultRow } from '#src/ledger/records/columns.ts';
import {
  changeColumns,
  type RunColumns,
  storedHost,
  toBatch,
  toPending,
  toPlace,
  toRowFacts,
  toRowState,
  toRun,
  toStoredBatch,
} from '#src/ledger/records/run.ts';
import type { RunChange } from '#src/ledger/rules/runs.ts';
import { zeroCounts } from '#src/ledger/runs.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import type { BitmapKind, NewRows, RowChange, RunPart, RunTables, RunWhere } from '#src/ledger/tables/runs.ts';
import type { Statements } from './pool.ts';
import type { Parameter } from './values.ts';
import { where } from './where.ts';

/** More positions than a run may have rows. */
const positionsMax = 2 ** 23;

/** Where a row lies among the rows of all runs. */
const placeOf = (sequence: number, position: number): number => sequence * positionsMax + position;
const positionOf = (row: ResultRow): number => Number(row.place) % positionsMax;
const placesOf = (sequence: number, positions: readonly number[]): readonly number[] =>
  positions.map((position) => placeOf(sequence, position));

export function postgresRunTables(statements: Statements): RunTables {
  const { all, get, run } = statements;
  return {
    insertRun: async (one) => {
      await run(
        'INSERT INTO feeds (name, created_at) SELECT $1::text, $2::bigint WHERE NOT EXISTS (SELECT 1 FROM feeds WHERE name = $1)',
        one.feed,
        one.createdAtMs,
      );
      await run(
        `INSERT INTO runs (id, feed, kind, file_name, claimed_path, import_folder, sha256, bytes, state, options, mapping,
           key_prefix, source_label, refusal, created_at, host)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $11, $12, $13, $14, $15)`,
        ...[one.id, one.feed, one.kind, one.fileName, one.claimedPath, one.importFolder, one.sha256, one.bytes],
        ...[
          JSON.stringify(one.options),
          jsonOrNull(one.mapping),
          one.mapping?.keyPrefix || null,
          one.sourceLabel ?? null,
        ],
        ...[jsonOrNull(one.refusal), one.createdAtMs, storedHost(one.host)],
      );
    },

    findRuns: async (where, limit, oldestFirst = false) => {
      const order = oldestFirst ? 'ASC' : 'DESC';
      // By feed or id an index gives few rows in the right order; by state alone each state gives its own.
      const isByState = where.states !== undefined && where.feed === undefined && where.ids === undefined;
      const choices = isByState ? (where.states ?? []).map((state) => ({ ...where, states: [state] })) : [where];
      if (choices.length === 0) return [];
      const parameters: Parameter[] = [limit];
      const selects = choices.map((choice) => {
        const given = runConditions(choice, parameters.length + 1);
        parameters.push(...given.parameters);
        return `(SELECT sequence FROM runs WHERE ${given.sql} ORDER BY sequence ${order} LIMIT $1)`;
      });
      const rows = await all(
        `SELECT * FROM runs WHERE sequence IN (${selects.join(' UNION ALL ')}) ORDER BY sequence ${order} LIMIT $1`,
        ...parameters,
      );
      return rows.map(toRun);
    },

    countRuns: async (where) => {
      const { sql, parameters } = runConditions(where);
      return Number((await get(`SELECT count(*) AS runs FROM runs WHERE ${sql}`, ...parameters))?.runs);
    },

    place: async (id) => {
      const row = await get(
        `SELECT sequence, feed, kind, state, file_name, pending,
           (SELECT max(place) FROM staged
             WHERE place > runs.sequence * ${positionsMax} AND place < (runs.sequence + 1) * ${positionsMax}) AS place,
           (SELECT max(ordinal) FROM run_events WHERE run_sequence = runs.sequence) AS event
         FROM runs WHERE id = $1`,
        id,
      );
      return row === null ? null : toPlace(id, row, positionOf(row));
    },

    keyPrefixes: async (limit) => {
      const rows = await all(
        `SELECT key_prefix FROM runs WHERE key_prefix IS NOT NULL GROUP BY key_prefix ORDER BY max(sequence) DESC LIMIT $1`,
        limit,
      );
      return rows.map((row) => String(row.key_prefix));
    },

    changeRun: async (sequence, change: RunChange, add = {}, resetCounts = false) => {
      const zero: RunColumns = resetCounts ? Object.keys(zeroCounts).map((name) => [`"${name}"`, 0]) : [];
      const set = [...zero, ...changeColumns(change)];
      const added = Object.entries(add).filter(([, by]) => by !== 0 && by !== undefined);
      if (set.length > 0) {
        const assignments = set.map(([name], index) => `${name} = $${index + 2}`).join(', ');
        await run(`UPDATE runs SET ${assignments} WHERE sequence = $1`, sequence, ...set.map(([, value]) => value));
      }
      if (added.length > 0) {
        const assignments = added.map(([name], index) => `"${name}" = "${name}" + $${index + 2}`).join(', ');
        await run(`UPDATE runs SET ${assignments} WHERE sequence = $1`, sequence, ...added.map(([, by]) => by ?? 0));
      }
    },

    headers: async (sequence) => {
      const rows = await all('SELECT number, columns FROM headers WHERE run_sequence = $1', sequence);
      return new Map(rows.map((row) => [Number(row.number), parseJson<string[]>(row.columns) ?? []]));
    },

    insertRows: (sequence, staged) => insertRows(statements, sequence, staged),

    pendingRows: async (sequence, positions) => {
      const rows = await all(
        `SELECT * FROM staged JOIN staged_content USING (place) WHERE place = ANY ($1::bigint[]) AND outcome IS NULL ORDER BY place`,
        placesOf(sequence, positions),
      );
      return rows.map((row) => toPending(row, positionOf(row)));
    },

    rowFacts: async (sequence, positions) => {
      const rows = await all(
        `SELECT place, line, fingerprint, letter_id, sent FROM staged JOIN staged_content USING (place)
         WHERE place = ANY ($1::bigint[]) AND outcome IS NULL`,
        placesOf(sequence, positions),
      );
      return rows.map((row) => toRowFacts(row, positionOf(row)));
    },

    rowStates: async (sequence, { first, last }, waiting) => {
      const rows = await all(
        `SELECT place, key, outcome, sent, not_before FROM staged WHERE place >= $1 AND place <= $2 ${
          waiting === undefined
            ? 'ORDER BY place'
            : 'AND outcome IS NULL AND not_before <= $3 ORDER BY not_before, place LIMIT $4'
        }`,
        ...[placeOf(sequence, first), placeOf(sequence, last)],
        ...(waiting === undefined ? [] : [waiting.untilMs, waiting.limit]),
      );
      return rows.map((row) => toRowState(row, positionOf(row)));
    },

    changeRows: (sequence, changes) => changeRows(statements, sequence, changes),

    batch: async (sequence, batch) => {
      const row = await get('SELECT * FROM batches WHERE run_sequence = $1 AND batch = $2', sequence, batch);
      return row === null ? null : toStoredBatch(row);
    },

    nextBatches: async (untilMs, limit) => {
      const waiting = (when: string, most: number) =>
        all(
          `SELECT batches.*, runs.id AS run_id FROM runs JOIN batches ON batches.run_sequence = runs.sequence AND batches.done = 0
           WHERE runs.state = 'applying' AND due_at ${when} $1::bigint ORDER BY runs.sequence, batch LIMIT $2`,
          untilMs,
          most,
        );
      const due = await waiting('<=', limit);
      const later = due.length < limit ? await waiting('>', limit - due.length) : [];
      return [...due, ...later].map((row) => ({ ...toBatch(row), runId: String(row.run_id) }));
    },

    changeBatch: async (sequence, batch, { isDone, dueAtMs, generation }) => {
      const changed = await run(
        `UPDATE batches SET done = $3, generation = generation + 1, due_at = $4
         WHERE run_sequence = $1 AND batch = $2 AND generation = coalesce($5, generation) AND done = 0`,
        ...[sequence, batch, isDone ? 1 : 0, dueAtMs, generation ?? null],
      );
      return changed > 0;
    },

    insertEvents: async (sequence, events) => {
      if (events.length === 0) return;
      await run(
        'INSERT INTO run_events (run_sequence, ordinal, event) SELECT $1, * FROM unnest($2::bigint[], $3::text[])',
        sequence,
        events.map(({ ordinal }) => ordinal),
        events.map(({ event }) => JSON.stringify(event)),
      );
    },

    events: async (sequence, afterOrdinal, limit) => {
      const rows = await all(
        'SELECT * FROM run_events WHERE run_sequence = $1 AND ordinal > $2::bigint ORDER BY ordinal LIMIT $3',
        ...[sequence, afterOrdinal, limit],
      );
      return rows.flatMap((row) => {
        const event = parseJson<RunEvent>(row.event);
        return event === null ? [] : [{ ...event, ordinal: Number(row.ordinal) }];
      });
    },

    putBitmap: async (sequence, kind, bits) => {
      await run(
        `INSERT INTO bitmaps (run_sequence, kind, bits) VALUES ($1, $2, $3)
         ON CONFLICT (run_sequence, kind) DO UPDATE SET bits = excluded.bits`,
        ...[sequence, kind, bits],
      );
    },

    bitmaps: async (feed, kind, from, to, limit) => {
      const rows = await all(
        `SELECT bitmaps.run_sequence, bits FROM bitmaps JOIN runs ON runs.sequence = run_sequence
         WHERE run_sequence >= $1::bigint AND run_sequence <= $2::bigint AND bitmaps.kind = $3 AND feed = $4
         ORDER BY run_sequence DESC LIMIT $5`,
        ...[from, to, kind, feed, limit ?? null],
      );
      return rows.flatMap(({ run_sequence, bits }) =>
        bits instanceof Uint8Array ? [{ sequence: Number(run_sequence), bits }] : [],
      );
    },

    deletePart: async (sequence, part, limit) => {
      switch (part) {
        case 'rows':
          return deleteRows(statements, sequence, limit);
        case 'unchanged':
        case 'answered':
        case 'withheld':
        case 'overtaken':
        case 'met':
        case 'missing':
          return run('DELETE FROM bitmaps WHERE run_sequence = $1 AND kind = $2', sequence, part);
        case 'run':
          return run('DELETE FROM runs WHERE sequence = $1', sequence);
        case 'deadRows': {
          const forgotten = await run(partDeletion(part), sequence, limit);
          // The counts leave with the last ones.
          if (forgotten < limit) await run('DELETE FROM dead_row_counts WHERE run_sequence = $1', sequence);
          return forgotten;
        }
        default:
          return run(partDeletion(part satisfies PartOfTable), sequence, limit);
      }
    },
  };
}

/** All of a slice in one statement. */
async function insertRows(statements: Statements, sequence: number, staged: NewRows): Promise<void> {
  const { rows, headers, batches } = staged;
  await statements.run(
    `WITH entered_headers AS (
       INSERT INTO headers (run_sequence, number, columns) SELECT $1, * FROM unnest($2::bigint[], $3::text[])),
     entered AS (INSERT INTO staged (place, key) SELECT * FROM unnest($4::bigint[], $5::text[])),
     contents AS (
       INSERT INTO staged_content (place, line, sequence, row_hash, fingerprint, mapping_version, letter_id, header, record, desired,
         content, beyond)
       SELECT * FROM unnest($4::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[],
         $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[])),
     entered_batches AS (
       INSERT INTO batches (run_sequence, batch, first, last) SELECT $1, * FROM unnest($17::bigint[], $18::bigint[], $19::bigint[])
       ON CONFLICT (run_sequence, batch) DO UPDATE SET last = excluded.last)
     UPDATE runs SET pending = pending + $20 WHERE sequence = $1`,
    sequence,
    [...headers.keys()],
    [...headers.values()].map((columns) => JSON.stringify(columns)),
    rows.map(({ position }) => placeOf(sequence, position)),
    rows.map(({ key }) => key),
    rows.map(({ line }) => line),
    rows.map((row) => row.sequence),
    rows.map(({ rowHash }) => rowHash),
    rows.map(({ fingerprint }) => fingerprint),
    rows.map(({ mappingVersion }) => mappingVersion),
    rows.map(({ letterId }) => letterId ?? null),
    rows.map(({ header }) => header),
    rows.map(({ record }) => record),
    rows.map(({ desired }) => (typeof desired === 'string' ? desired : JSON.stringify(desired))),
    rows.map(({ content }) => JSON.stringify(content)),
    rows.map(({ beyond }) => jsonOrNull(beyond)),
    batches.map(({ batch }) => batch),
    batches.map(({ first }) => first),
    batches.map(({ last }) => last),
    rows.length,
  );
}

/** A row with an outcome does not change any more: of two changes of a row, the first outcome counts. */
async function changeRows(statements: Statements, sequence: number, changes: readonly RowChange[]): Promise<number> {
  const [ending, going] = [true, false].map((ends) =>
    changes.filter(({ outcome }) => (outcome !== undefined) === ends),
  );
  let changed = 0;
  for (const some of [ending ?? [], going ?? []]) {
    for (const once of inRounds(some)) {
      const row = await statements.change(
        `WITH changed AS (
           UPDATE staged SET outcome = given.outcome, not_before = coalesce(given.not_before, staged.not_before),
             attempts = staged.attempts + given.attempts, sent = greatest(staged.sent, given.sent),
             link = coalesce(given.link, staged.link)
           FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::smallint[], $7::text[])
             AS given (place, outcome, not_before, attempts, sent, link)
           WHERE staged.place = given.place AND staged.outcome IS NULL RETURNING given.outcome),
         counts AS (SELECT count(*) AS changed, count(outcome) AS ended FROM changed),
         kept AS (UPDATE runs SET pending = pending - ended FROM counts WHERE sequence = $1 AND ended > 0)
         SELECT changed FROM counts WHERE changed > 0`,
        sequence,
        placesOf(
          sequence,
          once.map(({ position }) => position),
        ),
        once.map(({ outcome }) => outcome ?? null),
        once.map(({ notBeforeMs }) => notBeforeMs ?? null),
        once.map(({ attempts }) => attempts ?? 0),
        once.map(({ sent }) => (sent === true ? 1 : 0)),
        once.map(({ link }) => jsonOrNull(link)),
      );
      changed += Number(row[0]?.changed ?? 0);
    }
  }
  return changed;
}

/** Changes of the same row one after the other, those of different rows at once. Ends: each round takes one at least. */
function inRounds(changes: readonly RowChange[]): readonly (readonly RowChange[])[] {
  const rounds: RowChange[][] = [];
  const met = new Map<number, number>();
  for (const change of changes) {
    const round = met.get(change.position) ?? 0;
    met.set(change.position, round + 1);
    const rest = rounds[round];
    if (rest === undefined) rounds.push([change]);
    else rest.push(change);
  }
  return rounds;
}

/** The last ones first. */
async function deleteRows(statements: Statements, sequence: number, limit: number): Promise<number> {
  await statements.run('UPDATE runs SET pending = 0 WHERE sequence = $1 AND pending > 0', sequence);
  return statements.run(
    `WITH gone AS MATERIALIZED (SELECT place FROM staged WHERE place > $1 AND place < $2 ORDER BY place DESC LIMIT $3),
     contents AS (DELETE FROM staged_content USING gone WHERE staged_content.place = gone.place)
     DELETE FROM staged USING gone WHERE staged.place = gone.place`,
    placeOf(sequence, 0),
    placeOf(sequence + 1, 0),
    limit,
  );
}

/**
 * Options as `JSON.stringify` writes them, whose texts hold no quote that is not escaped: PostgreSQL takes no JSON apart that has an
 * escape of U+0000 or of half a surrogate pair. An older version did not know every option.
 */
const lacks = (member: string): string => `strpos(options, '${member}') = 0`;
const isUnset = (option: string): string => lacks(`"${option}":true`);

const applies: Readonly<Record<NonNullable<RunWhere['applies']>, string>> = {
  rows: isUnset('verify'),
  allRows: [
    ...['verify', 'createOnly', 'updateOnly'].map(isUnset),
    'options !~ \'"limit":[0-9]\'',
    lacks('"only":["'),
  ].join(' AND '),
};

/** The first of each feed, by the index `runs_in_line`. */
const firstInLine = `state = 'queued' AND NOT EXISTS (SELECT 1 FROM runs AS earlier
  WHERE earlier.feed = runs.feed AND earlier.sequence < runs.sequence AND earlier.state IN ('queued', 'staging', 'applying'))`;

/** The same where hosts may be away: those of the parameter. Kinds without a file are written at once, whatever waits. */
const firstAmongHosts = `state = 'queued' AND NOT EXISTS (SELECT 1 FROM runs AS other
  WHERE other.feed = runs.feed AND other.sequence <> runs.sequence AND other.state IN ('queued', 'staging', 'applying')
    AND (other.sequence < runs.sequence OR (other.state <> 'queued' AND other.kind IN ('file', 'fixFile')))
    AND NOT (other.host = ANY ($::text[]) AND (other.state <> 'applying' OR other.pending = 0)))`;

/** Which runs are asked for, as conditions of a statement. */
function runConditions(asked: RunWhere, first = 1): ReturnType<typeof where> {
  const given = where(
    [
      ['id = ANY ($::text[])', asked.ids],
      ['feed = $', asked.feed],
      ['kind = $', asked.kind],
      ['sha256 = $', asked.sha256],
      ['sequence < $::bigint', asked.beforeSequence],
      ['sequence > $::bigint', asked.afterSequence],
      ['host = ANY ($::text[])', asked.hosts?.map(storedHost)],
      [firstAmongHosts, typeof asked.isFirstInLine === 'object' ? asked.isFirstInLine.away : undefined],
    ],
    first,
  );
  // States are words of ours, and partial indexes are found by them.
  const states = asked.states?.map((state) => `'${state}'`).join(', ');
  const sql = [
    given.sql,
    ...(states === undefined ? [] : [states === '' ? 'FALSE' : `state IN (${states})`]),
    ...(asked.unpruned ? ['pruned = 0 AND finished_at IS NOT NULL'] : []),
    ...(asked.nonePending ? ['pending = 0'] : []),
    ...(asked.hasLook ? ['look IS NOT NULL'] : []),
    ...(asked.applies === undefined ? [] : [applies[asked.applies]]),
    ...(asked.isFirstInLine === true ? [firstInLine] : []),
  ];
  return { ...given, sql: sql.join(' AND ') };
}

/** What of a run is deleted piece by piece, each from a table of its own. */
type PartOfTable = Exclude<RunPart, 'rows' | BitmapKind | 'run'>;

/** The table, the column that orders its rows, and which of them go first. */
const parts: Readonly<Record<PartOfTable, readonly [table: string, place: string, order: 'ASC' | 'DESC']>> = {
  batches: ['batches', 'batch', 'DESC'],
  headers: ['headers', 'number', 'DESC'],
  events: ['run_events', 'ordinal', 'DESC'],
  deadRows: ['dead_rows', 'ordinal', 'ASC'],
  touched: ['touched_keys', 'position', 'ASC'],
};

/** The statement: of the run $1, as many as $2. */
function partDeletion(part: PartOfTable): string {
  const [table, place, order] = parts[part];
  return `DELETE FROM ${table} WHERE run_sequence = $1 AND ${place} IN (
    SELECT ${place} FROM ${table} WHERE run_sequence = $1 ORDER BY ${place} ${order} LIMIT $2)`;
}
