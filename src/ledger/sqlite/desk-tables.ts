/** The tables of the desk in SQLite (`migrations/desk.ts`). Each order of a list has an index there. */
import type { DeskRecord, DeskTables, RecordFilter } from '#src/ledger/tables/desk.ts';
import type { Statements } from './connection.ts';
import { numberOrNull, type Parameters, parseJson, type ResultRow, textOrNull } from './database.ts';

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
  };
}

function toRecord(row: ResultRow): DeskRecord {
  return {
    number: Number(row.number),
    id: String(row.id),
    owner: textOrNull(row.owner),
    state: String(row.state),
    atMs: numberOrNull(row.at),
    document: parseJson<unknown>(row.document),
  };
}
