/** How much disk a key takes that is known and at rest. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type BenchCase, forEachAble, knownRows } from './bench.ts';
import type { Figure } from './figures.ts';

const bytesPerKeyMax = 600;
const tablesShown = 6;

export const size: BenchCase = {
  name: 'size',
  what: 'bytes of the ledger per known key at rest, eight columns, without the journal',
  run: (bench) =>
    forEachAble(bench, async (checkout): Promise<readonly Figure[]> => {
      const data = await knownRows(bench, checkout, bench.rows);
      const tables = tableSizes(join(data, 'ledger.sqlite')).filter(({ table }) => table !== 'journal');
      const bytes = tables.reduce((sum, one) => sum + one.bytes, 0);
      const shown = tables.toSorted((left, right) => right.bytes - left.bytes).slice(0, tablesShown);
      bench.note(
        `${checkout.name}: ${shown.map((one) => `${one.table} ${Math.round(one.bytes / bench.rows)}`).join(', ')} bytes per key`,
      );
      return [
        {
          name: 'size per known key',
          baseline: null,
          measured: `${(bytes / 1e6).toFixed(0)} MB`,
          value: Math.round(bytes / bench.rows),
          limit: { is: 'most', value: bytesPerKeyMax },
        },
      ];
    }),
};

/** Bytes of the pages of each table, its indexes among them. Free pages do not count: the next rows fill them. */
function tableSizes(file: string): readonly { readonly table: string; readonly bytes: number }[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db
      .prepare(
        `SELECT coalesce(schema.tbl_name, pages.name) AS tbl, sum(pages.pgsize) AS bytes
         FROM dbstat AS pages LEFT JOIN sqlite_schema AS schema ON schema.name = pages.name
         WHERE pages.aggregate = TRUE GROUP BY 1`,
      )
      .all();
    return rows.map(({ tbl, bytes }) => ({ table: String(tbl), bytes: Number(bytes) }));
  } finally {
    db.close();
  }
}
