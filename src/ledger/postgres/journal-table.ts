/** The journal in PostgreSQL (`tables/keys.ts`); its changes are packed texts (`packed-memory.ts`). */
import { packWrite } from '#src/ledger/packed-memory.ts';
import { toJournalRow } from '#src/ledger/records/key.ts';
import type { JournalTables } from '#src/ledger/tables/keys.ts';
import type { Statements } from './pool.ts';
import { where } from './where.ts';

export function journalTable(statements: Statements): JournalTables {
  return {
    addJournal: async (rows) => {
      if (rows.length === 0) return;
      await statements.run(
        `INSERT INTO journal (run_sequence, key, contact_id, at, kind, changes)
         SELECT sequence, given.key, contact_id, at, given.kind, changes
         FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
           WITH ORDINALITY AS given (run_id, key, contact_id, at, kind, changes, place)
         JOIN runs ON runs.id = given.run_id ORDER BY place`,
        rows.map(({ runId }) => runId),
        rows.map(({ key }) => key),
        rows.map(({ contactId }) => contactId),
        rows.map(({ atMs }) => atMs),
        rows.map(({ kind }) => kind),
        rows.map(packWrite),
      );
    },

    journalPage: async ({ runId, key, newestFirst = false, after, limit }) => {
      const { sql, parameters, next } = where([
        ['run_sequence = (SELECT sequence FROM runs WHERE id = $)', runId],
        ['journal.key = $', key],
        [newestFirst ? 'number < $::bigint' : 'number > $::bigint', after],
      ]);
      const rows = await statements.all(
        `SELECT journal.*, runs.id AS run_id FROM journal LEFT JOIN runs ON runs.sequence = run_sequence
         WHERE ${sql} ORDER BY number ${newestFirst ? 'DESC' : 'ASC'} LIMIT $${next}`,
        ...parameters,
        limit,
      );
      return rows.map(toJournalRow);
    },
  };
}
