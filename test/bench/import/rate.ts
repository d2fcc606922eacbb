/** The share of the allowed rate, as its own benchmark measures it (`test/bench/rate-gate.ts`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchCase } from './bench.ts';
import { thisCheckout } from './processes.ts';

export const rate: BenchCase = {
  name: 'rate',
  what: 'share of the allowed rate at 10, 50 and 200 requests/s by 1, 2 and 4 processes; a table of its own',
  run: async ({ checkouts }) => {
    const program = join(import.meta.dirname, '../rate-gate.ts');
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit'] });
    const [code] = await once(child, 'exit');
    const measured = code === 0 ? 'all lines keep it' : 'see above';
    const limit = { is: 'most', value: 0 } as const;
    const figure = { name: 'rate, lines short of 98 %', baseline: null, measured, value: code === 0 ? 0 : 1, limit };
    return new Map([[checkouts[0] ?? thisCheckout, [figure]]]);
  },
};
