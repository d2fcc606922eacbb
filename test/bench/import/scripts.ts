/** Cases that have a benchmark of their own, which prints its own lines and ends with 1 where a limit is missed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { launchFlags } from '../launch-flags.ts';
import type { BenchCase } from './bench.ts';
import { thisCheckout } from './processes.ts';

export const rate = scriptCase(
  'rate',
  'share of the allowed rate at 10, 50 and 200 requests/s by 1, 2 and 4 processes',
  'rate-gate.ts',
);
export const mapping = scriptCase(
  'mapping',
  'processor time of one row from its cells to its fingerprint',
  'mapping.ts',
);

function scriptCase(name: string, what: string, program: string): BenchCase {
  return {
    name,
    what,
    run: async () => {
      const path = join(import.meta.dirname, '..', program);
      const child = spawn(process.execPath, [...launchFlags, path], { stdio: ['ignore', 'inherit', 'inherit'] });
      const [code] = await once(child, 'exit');
      const measured = code === 0 ? 'keeps its limits' : 'see above';
      const limit = { is: 'most', value: 0 } as const;
      const figure = { name: `${name}, limits missed`, baseline: null, measured, value: code === 0 ? 0 : 1, limit };
      return new Map([[thisCheckout, [figure]]]);
    },
  };
}
