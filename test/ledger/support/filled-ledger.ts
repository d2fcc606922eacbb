/** A ledger in a file with rows in every table and a value in every column, text among them that databases are fussy about. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { copiedTables, quoted } from '#src/ledger/copy/copied-tables.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { createdAtMs } from '#test/contracts/support/build.ts';

/** A null character, what stands for one in PostgreSQL, an escape of an array, quotes, a character beyond 16 bits, nothing. */
const texts = ['a\0b', '\uFDD0', '\\x61', '"q"\'s', '😀,{}', '', 'NULL', 'ä\n\tß'] as const;
const manyMs = createdAtMs + 40 * 365 * 86_400_000;

/** What must be told apart by a row's number, or is read when the copy is settled. */
const given: Readonly<Record<string, (row: number) => SQLInputValue>> = {
  'runs.feed': (row) => `feed ${row}`,
  'feeds.name': (row) => `feed ${row}`,
  'runs.bytes': (row) => 2 ** 52 + row,
  'staged.outcome': (row) => (row % 2 === 0 ? 'created' : null),
  'staged.place': (row) => row * 2 ** 23 + 1,
  'batches.done': () => 0,
  'letters.header': (row) => row,
  'dead_rows.header': (row) => row,
  'records.kind': (row) => ['engine', 'worker', 'delivery', 'audit', 'tick'][row % 5] ?? '',
  'records.state': (row) => ['', '', 'noticeWaits', 'waiting', 'ended'][row % 5] ?? '',
  'records.at': () => manyMs,
  'records.document': (row) => JSON.stringify({ dueAtMs: manyMs, words: `${texts[row % texts.length]}${row}` }),
};

/** Of each table. */
export const filledRows = 12;
/** Of `runs` and `records`, where the last rows were deleted. */
export const lastGiven = 4_711;

export async function fillLedger(file: string, rowsOf = (_table: string): number => filledRows): Promise<void> {
  await openSqliteLedger(file).close();
  const db = new DatabaseSync(file);
  db.exec('BEGIN');
  for (const { name, filled } of copiedTables) {
    if (filled !== 'byRows') continue;
    const columns = db.prepare('SELECT name, type, "notnull", pk FROM pragma_table_info(?)').all(name);
    const names = columns.map((column) => String(column.name));
    const insert = db.prepare(`INSERT INTO ${name} (${quoted(names)}) VALUES (${names.map(() => '?').join(', ')})`);
    for (let row = 1; row <= rowsOf(name); row += 1) {
      insert.run(
        ...columns.map((column, index) => {
          const own = given[`${name}.${column.name}`];
          if (own !== undefined) return own(row);
          if (column.notnull === 0 && column.pk === 0 && (row + index) % 4 === 0) return null;
          if (column.type === 'INTEGER') return row;
          if (column.type === 'BLOB') return Uint8Array.from([0, 255, row % 256, 92, 120]);
          return `${texts[(row + index) % texts.length]}${row}`;
        }),
      );
    }
  }
  db.exec(`COMMIT; UPDATE letter_revision SET revision = 99; UPDATE sqlite_sequence SET seq = ${lastGiven}`);
  db.close();
}
