/** The tables of runs in SQLite (`migrations/runs.ts`). */
import type { SQLInputValue } from 'node:sqlite';
import { jsonOrNull, parseJson } from '#src/ledger/records/columns.ts';
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
import type { RowChange, RunTables, RunWhere } from '#src/ledger/tables/runs.ts';
import type { Statements } from './connection.ts';

/** More positions than a run may have rows. */
const positionsMax = 2 ** 23;
const inList = 'IN (SELECT value FROM json_each(?))';

/** Where a row lies among the rows of all runs. */
const placeOf = (sequence: number, position: number): number => sequence * positionsMax + position;
const positionOf = (place: SQLInputValue | undefined): number => Number(place) % positionsMax;

export function sqliteRunTables(statements: Statements): RunTables {
  const { all, get, run, runMany } = statements;
  const deleteOf = (table: string, place: string, order: 'ASC' | 'DESC', sequence: number, limit: number) =>
    run(
      `DELETE FROM ${table} WHERE run_sequence = ?1 AND ${place} IN (
         SELECT ${place} FROM ${table} WHERE run_sequence = ?1 ORDER BY ${place} ${order} LIMIT ?2)`,
      sequence,
      limit,
    );
  return {
    insertRun: async (one) => {
      await run('INSERT INTO feeds (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING', one.feed, one.createdAtMs);
      await run(
        `INSERT INTO runs (id, feed, kind, file_name, claimed_path, import_folder, sha256, bytes, state, options, mapping,
           key_prefix, source_label, refusal, created_at, host)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?)`,
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
      const parts = choices.map(conditionsOf);
      const selects = parts.map(
        ({ sql }) => `SELECT * FROM (SELECT sequence FROM runs WHERE ${sql} ORDER BY sequence ${order} LIMIT ?)`,
      );
      if (selects.length === 0) return [];
      const rows = await all(
        `SELECT * FROM runs WHERE sequence IN (${selects.join(' UNION ALL ')}) ORDER BY sequence ${order} LIMIT ?`,
        ...parts.flatMap(({ values }) => [...values, limit]),
        limit,
      );
      return rows.map(toRun);
    },

    countRuns: async (where) => {
      const { sql, values } = conditionsOf(where);
      return Number((await get(`SELECT count(*) AS runs FROM runs WHERE ${sql}`, ...values))?.runs);
    },

    place: async (id) => {
      const row = await get(
        `SELECT sequence, feed, kind, state, file_name, pending,
           (SELECT max(place) FROM staged
             WHERE place > runs.sequence * ${positionsMax} AND place < (runs.sequence + 1) * ${positionsMax}) AS last,
           (SELECT max(ordinal) FROM run_events WHERE run_sequence = runs.sequence) AS event
         FROM runs WHERE id = ?`,
        id,
      );
      return row === null ? null : toPlace(id, row, positionOf(row.last ?? 0));
    },

    keyPrefixes: async (limit) => {
      const rows = await all(
        `SELECT key_prefix FROM runs WHERE key_prefix IS NOT NULL GROUP BY key_prefix ORDER BY max(sequence) DESC LIMIT ?`,
        limit,
      );
      return rows.map((row) => String(row.key_prefix));
    },

    changeRun: async (sequence, change: RunChange, add = {}, resetCounts = false) => {
      const zero: RunColumns = resetCounts ? Object.keys(zeroCounts).map((name) => [`"${name}"`, 0]) : [];
      const set = [...zero, ...changeColumns(change)];
      if (set.length > 0)
        await run(
          `UPDATE runs SET ${set.map(([name]) => `${name} = ?`).join(', ')} WHERE sequence = ?`,
          ...set.map(([, value]) => value),
          sequence,
        );
      const added = Object.entries(add).filter(([, by]) => by !== 0 && by !== undefined);
      if (added.length > 0)
        await run(
          `UPDATE runs SET ${added.map(([name]) => `"${name}" = "${name}" + ?`).join(', ')} WHERE sequence = ?`,
          ...added.map(([, by]) => by ?? 0),
          sequence,
        );
    },

    headers: async (sequence) => {
      const rows = await all('SELECT number, columns FROM headers WHERE run_sequence = ?', sequence);
      return new Map(rows.map((row) => [Number(row.number), parseJson<string[]>(row.columns) ?? []]));
    },

    insertRows: async (sequence, { rows, headers, batches }) => {
      await runMany(
        'INSERT INTO headers (run_sequence, number, columns) VALUES (?, ?, ?)',
        [...headers].map(([number, columns]) => [sequence, number, JSON.stringify(columns)]),
      );
      await runMany(
        'INSERT INTO staged (place, key) VALUES (?, ?)',
        rows.map(({ position, key }) => [placeOf(sequence, position), key]),
      );
      await runMany(
        `INSERT INTO staged_content (place, line, sequence, row_hash, fingerprint, mapping_version, letter_id, header, record,
           desired, content, beyond)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        rows.map((row) => [
          ...[placeOf(sequence, row.position), row.line, row.sequence, row.rowHash, row.fingerprint],
          ...[row.mappingVersion, row.letterId ?? null, row.header, row.record],
          ...[typeof row.desired === 'string' ? row.desired : JSON.stringify(row.desired), JSON.stringify(row.content)],
          row.beyond === null ? null : JSON.stringify(row.beyond),
        ]),
      );
      await runMany(
        `INSERT INTO batches (run_sequence, batch, first, last) VALUES (?, ?, ?, ?)
         ON CONFLICT (run_sequence, batch) DO UPDATE SET last = excluded.last`,
        batches.map(({ batch, first, last }) => [sequence, batch, first, last]),
      );
      await run('UPDATE runs SET pending = pending + ? WHERE sequence = ?', rows.length, sequence);
    },

    pendingRows: async (sequence, positions) => {
      const rows = await all(
        `SELECT * FROM staged JOIN staged_content USING (place) WHERE place ${inList} AND outcome IS NULL ORDER BY place`,
        JSON.stringify(positions.map((position) => placeOf(sequence, position))),
      );
      return rows.map((row) => toPending(row, positionOf(row.place)));
    },

    rowFacts: async (sequence, positions) => {
      const rows = await all(
        `SELECT place, line, fingerprint, letter_id, sent FROM staged JOIN staged_content USING (place)
         WHERE place ${inList} AND outcome IS NULL`,
        JSON.stringify(positions.map((position) => placeOf(sequence, position))),
      );
      return rows.map((row) => toRowFacts(row, positionOf(row.place)));
    },

    rowStates: async (sequence, { first, last }, waiting) => {
      const rows = await all(
        `SELECT place, key, outcome, sent, not_before FROM staged WHERE place >= ? AND place <= ? ${
          waiting === undefined
            ? 'ORDER BY place'
            : 'AND outcome IS NULL AND not_before <= ? ORDER BY not_before, place LIMIT ?'
        }`,
        ...[placeOf(sequence, first), placeOf(sequence, last)],
        ...(waiting === undefined ? [] : [waiting.untilMs, waiting.limit]),
      );
      return rows.map((row) => toRowState(row, positionOf(row.place)));
    },

    changeRows: async (sequence, changes) => {
      const sql = `UPDATE staged SET outcome = ?, not_before = coalesce(?, not_before), attempts = attempts + ?,
        sent = max(sent, ?), link = coalesce(?, link) WHERE place = ? AND outcome IS NULL`;
      const values = (one: RowChange) => [...columnsOf(one), placeOf(sequence, one.position)];
      const ended = await runMany(sql, changes.filter(({ outcome }) => outcome !== undefined).map(values));
      if (ended > 0) await run('UPDATE runs SET pending = pending - ? WHERE sequence = ?', ended, sequence);
      return ended + (await runMany(sql, changes.filter(({ outcome }) => outcome === undefined).map(values)));
    },

    batch: async (sequence, batch) => {
      const row = await get('SELECT * FROM batches WHERE run_sequence = ? AND batch = ?', sequence, batch);
      return row === null ? null : toStoredBatch(row);
    },

    nextBatches: async (untilMs, limit) => {
      const waiting = (when: string, most: number) =>
        all(
          `SELECT batches.*, runs.id AS run_id FROM runs CROSS JOIN batches INDEXED BY batches_due
             ON batches.run_sequence = runs.sequence AND batches.done = 0
           WHERE runs.state = 'applying' AND due_at ${when} ? ORDER BY runs.sequence, batch LIMIT ?`,
          untilMs,
          most,
        );
      const due = await waiting('<=', limit);
      const later = due.length < limit ? await waiting('>', limit - due.length) : [];
      return [...due, ...later].map((row) => ({ ...toBatch(row), runId: String(row.run_id) }));
    },

    changeBatch: async (sequence, batch, { isDone, dueAtMs, generation }) => {
      const changed = await run(
        `UPDATE batches SET done = ?, generation = generation + 1, due_at = ?
         WHERE run_sequence = ? AND batch = ? AND generation = coalesce(?, generation) AND done = 0`,
        ...[isDone ? 1 : 0, dueAtMs, sequence, batch, generation ?? null],
      );
      return changed > 0;
    },

    insertEvents: async (sequence, events) => {
      await runMany(
        'INSERT INTO run_events (run_sequence, ordinal, event) VALUES (?, ?, ?)',
        events.map(({ ordinal, event }) => [sequence, ordinal, JSON.stringify(event)]),
      );
    },

    events: async (sequence, afterOrdinal, limit) => {
      const rows = await all(
        'SELECT * FROM run_events WHERE run_sequence = ? AND ordinal > ? ORDER BY ordinal LIMIT ?',
        ...[sequence, afterOrdinal, limit],
      );
      return rows.flatMap((row) => {
        const event = parseJson<RunEvent>(row.event);
        return event === null ? [] : [{ ...event, ordinal: Number(row.ordinal) }];
      });
    },

    putBitmap: async (sequence, kind, bits) => {
      await run(
        `INSERT INTO bitmaps (run_sequence, kind, bits) VALUES (?, ?, ?)
         ON CONFLICT (run_sequence, kind) DO UPDATE SET bits = excluded.bits`,
        ...[sequence, kind, bits],
      );
    },

    bitmaps: async (feed, kind, from, to, limit = -1) => {
      const rows = await all(
        `SELECT bitmaps.run_sequence, bits FROM bitmaps JOIN runs ON runs.sequence = run_sequence
         WHERE run_sequence >= ? AND run_sequence <= ? AND bitmaps.kind = ? AND feed = ? ORDER BY run_sequence DESC LIMIT ?`,
        ...[from, to, kind, feed, limit],
      );
      return rows.flatMap(({ run_sequence, bits }) =>
        bits instanceof Uint8Array ? [{ sequence: Number(run_sequence), bits }] : [],
      );
    },

    deletePart: async (sequence, part, limit) => {
      switch (part) {
        case 'rows': {
          const [from, to] = [placeOf(sequence, 0), placeOf(sequence + 1, 0)];
          const places = 'SELECT place FROM staged WHERE place > ? AND place < ? ORDER BY place DESC LIMIT ?';
          await run('UPDATE runs SET pending = 0 WHERE sequence = ? AND pending > 0', sequence);
          await run(`DELETE FROM staged_content WHERE place IN (${places})`, from, to, limit);
          return run(`DELETE FROM staged WHERE place IN (${places})`, from, to, limit);
        }
        case 'unchanged':
        case 'answered':
        case 'withheld':
        case 'overtaken':
        case 'met':
        case 'missing':
          return run('DELETE FROM bitmaps WHERE run_sequence = ? AND kind = ?', sequence, part);
        case 'deadRows': {
          const forgotten = await deleteOf('dead_rows', 'ordinal', 'ASC', sequence, limit);
          // The counts leave with the last ones.
          if (forgotten < limit) await run('DELETE FROM dead_row_counts WHERE run_sequence = ?', sequence);
          return forgotten;
        }
        case 'touched':
          return deleteOf('touched_keys', 'position', 'ASC', sequence, limit);
        case 'run':
          return run('DELETE FROM runs WHERE sequence = ?', sequence);
        default: {
          const [table, order] = partTables[part];
          return deleteOf(table, order, 'DESC', sequence, limit);
        }
      }
    },
  };
}

const partTables: Readonly<Record<'batches' | 'headers' | 'events', readonly [string, string]>> = {
  batches: ['batches', 'batch'],
  headers: ['headers', 'number'],
  events: ['run_events', 'ordinal'],
};

/** An older version did not know every option. */
const isUnset = (option: string): string => `coalesce(json_extract(options, '$.${option}'), 0) = 0`;

const applies: Readonly<Record<NonNullable<RunWhere['applies']>, string>> = {
  rows: isUnset('verify'),
  allRows: [
    ...['verify', 'createOnly', 'updateOnly'].map(isUnset),
    "json_extract(options, '$.limit') IS NULL",
    "coalesce(json_array_length(options, '$.only'), 0) = 0",
  ].join(' AND '),
};

const firstInLine = `state = 'queued' AND sequence IN (SELECT min(sequence) FROM runs INDEXED BY runs_in_line
  WHERE state IN ('queued', 'staging', 'applying') GROUP BY feed)`;

/** The same where hosts may be away, as the text of a JSON list. Kinds without a file are written at once, whatever waits. */
const firstAmongHosts = `state = 'queued' AND NOT EXISTS (SELECT 1 FROM runs AS other INDEXED BY runs_in_line
  WHERE other.feed = runs.feed AND other.sequence <> runs.sequence AND other.state IN ('queued', 'staging', 'applying')
    AND (other.sequence < runs.sequence OR (other.state <> 'queued' AND other.kind IN ('file', 'fixFile')))
    AND NOT (other.host ${inList} AND (other.state <> 'applying' OR other.pending = 0)))`;

function conditionsOf(where: RunWhere): { readonly sql: string; readonly values: readonly (string | number)[] } {
  const conditions: readonly (readonly [string, string | number | undefined])[] = [
    [`id ${inList}`, where.ids && JSON.stringify(where.ids)],
    ['feed = ?', where.feed],
    ['kind = ?', where.kind],
    ['sha256 = ?', where.sha256],
    ['sequence < ?', where.beforeSequence],
    ['sequence > ?', where.afterSequence],
    [`host ${inList}`, where.hosts && JSON.stringify(where.hosts.map(storedHost))],
    [firstAmongHosts, typeof where.isFirstInLine === 'object' ? JSON.stringify(where.isFirstInLine.away) : undefined],
  ];
  const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const states = where.states?.map((state) => `'${state}'`).join(', ');
  const sql = [
    ...given.map((one) => one.sql),
    ...(states === undefined ? [] : [`state IN (${states})`]),
    ...(where.unpruned ? ['pruned = 0 AND finished_at IS NOT NULL'] : []),
    ...(where.nonePending ? ['pending = 0'] : []),
    ...(where.hasLook ? ['look IS NOT NULL'] : []),
    ...(where.applies === undefined ? [] : [applies[where.applies]]),
    ...(where.isFirstInLine === true ? [firstInLine] : []),
  ];
  return { sql: sql.join(' AND ') || 'TRUE', values: given.map(({ value }) => value) };
}

function columnsOf({ outcome, notBeforeMs, attempts, sent, link }: RowChange): readonly SQLInputValue[] {
  return [outcome ?? null, notBeforeMs ?? null, attempts ?? 0, sent === true ? 1 : 0, jsonOrNull(link)];
}
