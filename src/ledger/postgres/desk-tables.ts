/** The tables of the desk in PostgreSQL (`migrations/first-schema.ts`). Each order of a list has an index there. */
import { toRecord, toTouched, toVersion } from '#src/ledger/records/desk.ts';
import type { DeskRecord, DeskTables, RecordFilter, VersionFilter } from '#src/ledger/tables/desk.ts';
import type { Statements } from './pool.ts';
import type { Parameter } from './values.ts';
import { where } from './where.ts';

/** How a list is ordered, what is behind a record in that order, and what of the record says so. */
const orders: Readonly<
  Record<
    RecordFilter['order'],
    {
      readonly by: string;
      readonly behind: (first: number) => string;
      readonly place: (after: Pick<DeskRecord, 'number' | 'id' | 'atMs'>) => readonly Parameter[];
    }
  >
> = {
  id: { by: 'id', behind: (first) => `id > $${first}`, place: ({ id }) => [id] },
  oldest: { by: 'number', behind: (first) => `number > $${first}::bigint`, place: ({ number }) => [number] },
  newest: { by: 'number DESC', behind: (first) => `number < $${first}::bigint`, place: ({ number }) => [number] },
  due: {
    by: 'at, number',
    behind: (first) => `(at, number) > ($${first}::bigint, $${first + 1}::bigint)`,
    place: ({ atMs, number }) => [atMs, number],
  },
  latest: {
    by: 'at DESC, id DESC',
    behind: (first) => `(at, id) < ($${first}::bigint, $${first + 1}::text)`,
    place: ({ atMs, id }) => [atMs, id],
  },
};

export function postgresDeskTables(statements: Statements): DeskTables {
  return {
    records: async (kind, ids) =>
      (await statements.all('SELECT * FROM records WHERE kind = $1 AND id = ANY ($2::text[])', kind, ids)).map(
        toRecord,
      ),

    listRecords: async (kind, { owner, state, untilMs, order, after, limit }) => {
      const { by, behind, place } = orders[order];
      const given = where([
        ['kind = $', kind],
        ['owner = $', owner],
        ['state = $', state],
        ['at <= $::bigint', untilMs],
      ]);
      const conditions = [
        given.sql,
        // The index holds only those that have an instant.
        ...(order === 'due' || order === 'latest' ? ['at IS NOT NULL'] : []),
        ...(after === undefined ? [] : [behind(given.next)]),
      ];
      const behindOf = after === undefined ? [] : place(after);
      const sql = `SELECT * FROM records WHERE ${conditions.join(' AND ')} ORDER BY ${by} LIMIT $${given.next + behindOf.length}`;
      return (await statements.all(sql, ...given.parameters, ...behindOf, limit)).map(toRecord);
    },

    countRecords: async (kind, { owner, state }) => {
      const { sql, parameters } = where([
        ['kind = $', kind],
        ['owner = $', owner],
        ['state = $', state],
      ]);
      return Number(
        (await statements.get(`SELECT count(*) AS records FROM records WHERE ${sql}`, ...parameters))?.records,
      );
    },

    putRecords: async (kind, records) => {
      if (records.length === 0) return;
      // The last one of an id counts, as if they were put one after the other.
      const last = [...new Map(records.map((one) => [one.id, one])).values()];
      await statements.run(
        `WITH given AS (
           SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[])
             WITH ORDINALITY AS given (id, owner, state, at, document, place)),
         changed AS (
           UPDATE records SET owner = given.owner, state = given.state, at = given.at, document = given.document
           FROM given WHERE records.kind = $1 AND records.id = given.id RETURNING records.id),
         entered AS (
           INSERT INTO records (kind, id, owner, state, at, document)
           SELECT $1, id, owner, state, at, document FROM given
           WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.kind = $1 AND records.id = given.id) ORDER BY place RETURNING id)
         SELECT id FROM changed UNION ALL SELECT id FROM entered`,
        kind,
        last.map(({ id }) => id),
        last.map(({ owner }) => owner),
        last.map(({ state }) => state),
        last.map(({ atMs }) => atMs),
        last.map(({ document }) => JSON.stringify(document)),
      );
    },

    removeRecords: (kind, ids) =>
      statements.run('DELETE FROM records WHERE kind = $1 AND id = ANY ($2::text[])', kind, ids),

    versions: async (series, filter) => (await statements.all(...versionsSql(series, filter))).map(toVersion),

    turnVersions: async (series, ended, { versions, fromMs }) => {
      if (ended.keys.length > 0) {
        await statements.run(
          'UPDATE number_versions SET until_at = $1 WHERE until_at IS NULL AND number_key = ANY ($2::bigint[])',
          ended.untilMs,
          ended.keys,
        );
      }
      if (versions.length === 0) return new Map();
      const ids = versions.map(({ id }) => id);
      await statements.run(
        `INSERT INTO snapshot_numbers (series, id)
         SELECT $1, id FROM unnest($2::text[]) WITH ORDINALITY AS given (id, place)
         WHERE NOT EXISTS (SELECT 1 FROM snapshot_numbers WHERE series = $1 AND snapshot_numbers.id = given.id) ORDER BY place
         ON CONFLICT DO NOTHING`,
        series,
        ids,
      );
      const rows = await statements.change(
        `WITH keys AS (SELECT id, number_key FROM snapshot_numbers WHERE series = $1 AND id = ANY ($2::text[])),
         begun AS (
           INSERT INTO number_versions (number_key, from_at, document)
           SELECT number_key, $3, document FROM unnest($2::text[], $4::text[]) AS given (id, document) JOIN keys USING (id))
         SELECT id, number_key FROM keys`,
        series,
        ids,
        fromMs,
        versions.map(({ text }) => text),
      );
      return new Map(rows.map((row) => [String(row.id), Number(row.number_key)]));
    },

    removeVersions: async (series, beforeMs, limit) => {
      const rows = await statements.change(
        `DELETE FROM number_versions WHERE (number_key, from_at) IN (
           SELECT number_key, from_at FROM number_versions JOIN snapshot_numbers USING (number_key)
           WHERE until_at < $1::bigint AND series = $2 LIMIT $3) RETURNING number_key`,
        beforeMs,
        series,
        limit,
      );
      if (rows.length === 0) return 0;
      await statements.run(
        `DELETE FROM snapshot_numbers WHERE number_key = ANY ($1::bigint[])
           AND NOT EXISTS (SELECT 1 FROM number_versions WHERE number_versions.number_key = snapshot_numbers.number_key)`,
        rows.map((row) => Number(row.number_key)),
      );
      return rows.length;
    },

    putTouched: async (runSequence, rows) => {
      if (rows.length === 0) return;
      const last = [...new Map(rows.map((one) => [one.position, one])).values()];
      await statements.run(
        `INSERT INTO touched_keys (run_sequence, position, key, in_doubt)
         SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::smallint[])
         ON CONFLICT (run_sequence, position) DO UPDATE SET key = excluded.key, in_doubt = excluded.in_doubt`,
        runSequence,
        last.map(({ position }) => position),
        last.map(({ key }) => key),
        last.map(({ inDoubt }) => (inDoubt ? 1 : 0)),
      );
    },

    touched: async (runSequence, after, limit, onlyInDoubt) => {
      const sql = `SELECT position, key, in_doubt FROM touched_keys WHERE run_sequence = $1 AND position > $2::bigint${
        onlyInDoubt ? ' AND in_doubt = 1' : ''
      } ORDER BY position LIMIT $3`;
      return (await statements.all(sql, runSequence, after, limit)).map(toTouched);
    },
  };
}

const ofSeries = 'SELECT * FROM snapshot_numbers JOIN number_versions USING (number_key) WHERE series = $1';

function versionsSql(series: string, filter: VersionFilter): [sql: string, ...parameters: Parameter[]] {
  if ('isOpen' in filter) return [`${ofSeries} AND until_at IS NULL`, series];
  if ('id' in filter) return [`${ofSeries} AND id = $2 ORDER BY from_at`, series, filter.id];
  if ('fromMs' in filter) return [`${ofSeries} AND from_at = $2::bigint`, series, filter.fromMs];
  if ('untilMs' in filter) return [`${ofSeries} AND until_at = $2::bigint`, series, filter.untilMs];
  const sql = `SELECT version.*, snapshot_numbers.id AS id FROM unnest($1::bigint[]) AS wanted (number_key)
    JOIN snapshot_numbers USING (number_key)
    CROSS JOIN LATERAL (SELECT * FROM number_versions WHERE number_versions.number_key = wanted.number_key AND from_at <= $2::bigint
      ORDER BY from_at DESC LIMIT 1) AS version`;
  return [sql, filter.keys, filter.atMs];
}
