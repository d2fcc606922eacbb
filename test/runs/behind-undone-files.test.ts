/** A file that a guard compares with one that was undone since (`docs/rules.md`, "Guards"). */
import { expect, it } from 'vitest';
import { undoRun } from '#test/plans/support/undo-runs.ts';
import { csv, fillers, openRunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const right = fillers(30);
const others = right.map((row) => row.replace(/^[^,]*/, (key) => `w-${key}`));
const inCrm = { feed: 'crm' };
const hintOf = async (bench: Awaited<ReturnType<typeof openWrong>>['bench'], name: string) => {
  const stopped = await bench.import(name, csv(right.toReversed()), inCrm);
  expect(stopped.reason?.message).toContain('the file has 0 of the 30 keys of the previous file');
  return stopped.reason?.hint ?? '';
};

/** A right file, and one with other people that a person let pass. */
async function openWrong() {
  const bench = await openRunsBench({ guards: defaultGuards, configured: { crm: {} } });
  await bench.import('a.csv', csv(right), inCrm);
  return { bench, wrong: await bench.import('w.csv', csv(others), { ...inCrm, options: { accept: true } }) };
}

it('says that it was, and by which run, until that undo is undone', async () => {
  const { bench, wrong } = await openWrong();
  expect(await hintOf(bench, 'b.csv')).not.toContain('undone');
  const undo = await undoRun(bench, wrong, { deleteCreated: true, accept: true });
  expect(undo.counts).toMatchObject({ deleted: 30 });
  expect(await hintOf(bench, 'c.csv')).toContain(
    `The previous file, of run ${wrong.id}, was undone by run ${undo.id}: if it was wrong`,
  );
  await undoRun(bench, undo, { accept: true });
  expect(await hintOf(bench, 'd.csv')).not.toContain('undone');
});
