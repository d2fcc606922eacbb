/** Rows that a person wanted written, and that a later file of their feed has overtaken: the run says so. */
import { expect, it } from 'vitest';
import { approveRun } from '#src/operations/run-acts.ts';
import { csv, expectCounts, fillers, openRunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

it('a stopped run that is approved after a later file names those that it skips', async () => {
  const bench = await openRunsBench({ guards: defaultGuards });
  const people = (role: string) => csv(fillers(20)).replaceAll('Engineer', role);
  await bench.import('a.csv', people('Engineer'));
  const stopped = await bench.import('b.csv', people('Pilot'));
  expect(stopped.state).toBe('stopped');
  await bench.import('c.csv', people('Captain'), { options: { accept: true } });
  await approveRun(bench.parts, stopped, null, null);
  const run = await bench.finish(await bench.apply(await bench.again(stopped)));
  expectCounts(run, { rows: 20, skipped: 20 });
  expect((await bench.again(run)).notes).toEqual([
    '20 rows were skipped (superseded), the first in line 2: a later file has set their contacts since this one was read. To write such rows all the same, import the file again.',
  ]);
  const again = await bench.import('b.csv', people('Pilot'), { options: { accept: true } });
  expectCounts(again, { rows: 20, updated: 20 });
});
