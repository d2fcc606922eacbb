/**
 * A ledger in PostgreSQL over one in a file, on the same machine in the same run: new rows that are staged, and rows that are settled
 * without a service. The server is one of this machine that syncs each commit; without it the case has no figures.
 */
import { findPostgres, startPostgres } from '#test/support/postgres-server.ts';
import { type BenchCase, emptyFolder, exportIn, forEachAble, inRounds, ratioFigure } from './bench.ts';
import { settleKnown } from './known-folder.ts';
import { benchFeed, type Checkout } from './processes.ts';
import { importNew, knownFew } from './staging.ts';

/** Of the speed of a file. */
const shareMin = 1 / 3;

export const postgres: BenchCase = {
  name: 'postgres',
  what: 'a ledger in PostgreSQL over one in a file: new rows staged, rows settled',
  run: async (bench) => {
    const programs = findPostgres();
    if (programs === null) {
      bench.note('there is no PostgreSQL on this machine');
      return new Map();
    }
    const [staged, applied] = [
      await exportIn(bench, 'rows', { count: bench.rows }),
      await exportIn(bench, 'rows', { count: bench.applied }),
    ];
    const server = await startPostgres(programs, { syncs: true });
    let schemas = 0;
    const newDatabase = (): { readonly DATABASE_URL: string } => {
      schemas += 1;
      return { DATABASE_URL: server.url(`&schema=bench_${schemas}`) };
    };
    try {
      return await forEachAble({ ...bench, checkouts: bench.checkouts.slice(0, 1) }, async (checkout: Checkout) => {
        const stage = async (env: Readonly<Record<string, string>>): Promise<number> => {
          const data = await knownFew(bench, checkout, env);
          return (await importNew(bench, checkout, data, staged, env)).document.seconds;
        };
        const settle = async (env: Readonly<Record<string, string>>): Promise<number> =>
          await settleKnown(checkout, bench.folder, await emptyFolder(bench, 'settled', benchFeed), applied, env);
        const measure = (work: typeof stage) =>
          inRounds(bench, [checkout], { baseline: () => work({}), measured: () => work(newDatabase()) });
        const [staging, settling] = [await measure(stage), await measure(settle)];
        return [
          ratioFigure('postgres, new', staging.get(checkout) ?? [], { is: 'least', value: shareMin }, bench.rows),
          ratioFigure('postgres, settled', settling.get(checkout) ?? [], null, bench.applied),
        ];
      });
    } finally {
      await server.close();
    }
  },
};
