/** The journal in SQLite (`tables/keys.ts`); its changes are packed texts (`packed-memory.ts`). */
import { packWrite } from '#src/ledger/packed-memory.ts';
import { toJournalRow } from '#src/ledger/records/key.ts';
import type { JournalTables } from '#src/ledger/tables/keys.ts';
import type { Statements } from './connection.ts';

export function journalTable(statements: Statements): JournalTables {
  return {
    addJournal: async (rows) => {
      await statements.runMany(
        `INSERT INTO journal (run_sequence, key, contact_id, at, kind, changes)
         SELECT sequence, ?2, ?3, ?4, ?5, ?6 FROM runs WHERE id = ?1`,
        rows.map(({ runId, key, contactId, atMs, kind, ...write }) => [
          ...[runId, key, contactId, atMs, kind, packWrite(write)],
        ]),
      );
    },

    journalPage: async ({ runId, key, newestFirst = false, after, limit }) => {
      const wheres = [
        ...(runId === undefined ? [] : [['run_sequence = (SELECT sequence FROM runs WHERE id = ?)', runId] as const]),
        ...(key === undefined ? [] : [['journal.key = ?', key] as const]),
        ...(after === undefined ? [] : [[newestFirst ? 'number < ?' : 'number > ?', after] as const]),
      ];
      const rows = await statements.all(
        `SELECT journal.*, runs.id AS run_id FROM journal LEFT JOIN runs ON runs.sequence = run_sequence
         WHERE ${['1', ...wheres.map(([sql]) => sql)].join(' AND ')} ORDER BY number ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`,
        ...wheres.map(([, value]) => value),
        limit,
      );
      return rows.map(toJournalRow);
    },
  };
}
