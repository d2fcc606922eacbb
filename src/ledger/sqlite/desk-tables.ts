/** The tables of the desk in SQLite (`migrations/desk.ts`). Each order of a list has an index there. */
import { toRecord, toTouched, toVersion } from '#src/ledger/records/desk.ts';
import type { DeskRecord, DeskTables, RecordFilter, VersionFilter } from '#src/ledger/tables/desk.ts';
import type { Statements } from './connection.ts';
import type { Parameters } from './database.ts';

/** How a list is ordered, what is behind a record in that order, and what of the record says so. */
const orders: Readonly<
  Record<
    RecordFilter['order'],
    {
      readonly by: string;
      readonly behind: string;
      readonly place: (after: Pick<DeskRecord, 'number' | 'id' | 'atMs'>) => Parameters;
    }
  >
> = {
  id: { by: 'id', behind: 'id > ?', place: ({ id }) => [id] },
  oldest: { by: 'number', behind: 'number > ?', place: ({ number }) => [number] },
  newest: { by: 'number DESC', behind: 'number < ?', place: ({ number }) => [number] },
  due: { by: 'at, number', behind: '(at, number) > (?, ?)', place: ({ atMs, number }) => [atMs, number] },
  latest: { by: 'at DESC, id DESC', behind: '(at, id) < (?, ?)', place: ({ atMs, id }) => [atMs, id] },
};

export function deskTables(statements: Statements): DeskTables {
  return {
    records: async (kind, ids) => {
      const sql = 'SELECT * FROM records WHERE kind = ? AND id IN (SELECT value FROM json_each(?))';
      return (await statements.all(sql, kind, JSON.stringify(ids))).map(toRecord);
    },

    listRecords: async (kind, { owner, state, untilMs, order, after, limit }) => {
      const { by, behind, place } = orders[order];
      const wheres: readonly (readonly [sql: string, parameters: Parameters])[] = [
        ['kind = ?', [kind]],
        ...(owner === undefined ? [] : [['owner = ?', [owner]] as const]),
        ...(state === undefined ? [] : [['state = ?', [state]] as const]),
        // The index holds only those that have an instant.
        ...(order === 'due' || order === 'latest' ? [['at IS NOT NULL', []] as const] : []),
        ...(untilMs === undefined ? [] : [['at <= ?', [untilMs]] as const]),
        ...(after === undefined ? [] : [[behind, place(after)] as const]),
      ];
      const sql = `SELECT * FROM records WHERE ${wheres.map(([where]) => where).join(' AND ')} ORDER BY ${by} LIMIT ?`;
      return (await statements.all(sql, ...wheres.flatMap(([, parameters]) => parameters), limit)).map(toRecord);
    },

    countRecords: async (kind, { owner, state }) => {
      const sql = `SELECT count(*) AS records FROM records WHERE kind = ?${owner === undefined ? '' : ' AND owner = ?'}${
        state === undefined ? '' : ' AND state = ?'
      }`;
      const given = [owner, state].filter((one) => one !== undefined);
      return Number((await statements.get(sql, kind, ...given))?.records);
    },

    putRecords: async (kind, records) => {
      await statements.runMany(
        `INSERT INTO records (kind, id, owner, state, at, document) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id)
         DO UPDATE SET owner = excluded.owner, state = excluded.state, at = excluded.at, document = excluded.document`,
        records.map(({ id, owner, state, atMs, document }) => [kind, id, owner, state, atMs, JSON.stringify(document)]),
      );
    },

    removeRecords: async (kind, ids) =>
      statements.run(
        'DELETE FROM records WHERE kind = ? AND id IN (SELECT value FROM json_each(?))',
        kind,
        JSON.stringify(ids),
      ),

    versions: async (series, filter) => (await statements.all(...versionsSql(series, filter))).map(toVersion),

    turnVersions: async (series, ended, { versions, fromMs }) => {
      await statements.run(
        `UPDATE number_versions SET until_at = ? WHERE until_at IS NULL AND number_key IN (SELECT value FROM json_each(?))`,
        ended.untilMs,
        JSON.stringify(ended.keys),
      );
      const ids = JSON.stringify(versions.map(({ id }) => id));
      await statements.runMany(
        'INSERT INTO snapshot_numbers (series, id) VALUES (?, ?) ON CONFLICT DO NOTHING',
        versions.map(({ id }) => [series, id]),
      );
      const sql =
        'SELECT id, number_key FROM snapshot_numbers WHERE series = ? AND id IN (SELECT value FROM json_each(?))';
      const keys = new Map(
        (await statements.all(sql, series, ids)).map((row) => [String(row.id), Number(row.number_key)]),
      );
      await statements.runMany(
        'INSERT INTO number_versions (number_key, from_at, document) VALUES (?, ?, ?)',
        versions.map(({ id, text }) => [keys.get(id) ?? null, fromMs, text]),
      );
      return keys;
    },

    removeVersions: async (series, beforeMs, limit) => {
      const rows = await statements.all(
        `SELECT number_versions.rowid AS place, number_key FROM number_versions JOIN snapshot_numbers USING (number_key)
         WHERE until_at < ? AND series = ? LIMIT ?`,
        ...[beforeMs, series, limit],
      );
      const list = (column: string): string => JSON.stringify(rows.map((row) => Number(row[column])));
      await statements.run(
        'DELETE FROM number_versions WHERE rowid IN (SELECT value FROM json_each(?))',
        list('place'),
      );
      await statements.run(
        `DELETE FROM snapshot_numbers WHERE number_key IN (SELECT value FROM json_each(?))
           AND NOT EXISTS (SELECT 1 FROM number_versions WHERE number_versions.number_key = snapshot_numbers.number_key)`,
        list('number_key'),
      );
      return rows.length;
    },

    putTouched: async (runSequence, rows) => {
      await statements.runMany(
        'INSERT OR REPLACE INTO touched_keys (run_sequence, position, key, in_doubt) VALUES (?, ?, ?, ?)',
        rows.map(({ position, key, inDoubt }) => [runSequence, position, key, inDoubt ? 1 : 0]),
      );
    },

    touched: async (runSequence, after, limit, onlyInDoubt) => {
      const sql = `SELECT position, key, in_doubt FROM touched_keys WHERE run_sequence = ? AND position > ?${
        onlyInDoubt ? ' AND in_doubt = 1' : ''
      } ORDER BY position LIMIT ?`;
      const rows = await statements.all(sql, runSequence, after, limit);
      return rows.map(toTouched);
    },
  };
}

const ofSeries = 'SELECT * FROM snapshot_numbers JOIN number_versions USING (number_key) WHERE series = ?';

function versionsSql(series: string, filter: VersionFilter): [sql: string, ...parameters: Parameters] {
  if ('isOpen' in filter) return [`${ofSeries} AND until_at IS NULL`, series];
  if ('id' in filter) return [`${ofSeries} AND id = ? ORDER BY from_at`, series, filter.id];
  if ('fromMs' in filter) return [`${ofSeries} AND from_at = ?`, series, filter.fromMs];
  if ('untilMs' in filter) return [`${ofSeries} AND until_at = ?`, series, filter.untilMs];
  const sql = `SELECT number_versions.*, snapshot_numbers.id AS id FROM json_each(?) AS wanted
    JOIN snapshot_numbers ON snapshot_numbers.number_key = wanted.value
    JOIN number_versions ON number_versions.number_key = wanted.value
    AND from_at = (SELECT max(from_at) FROM number_versions WHERE number_key = wanted.value AND from_at <= ?)`;
  return [sql, JSON.stringify(filter.keys), filter.atMs];
}
