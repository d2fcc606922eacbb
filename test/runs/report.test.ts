/** How long a run took, in its summary: the time it was stopped does not count. */
import { expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { summarise } from '#src/runs/report.ts';
import { csv, fillers, openRunsBench } from './support/runs-bench.ts';
import { defaultGuards, generousGuards } from './support/tallies.ts';

const { rowsMin, rowsFloor } = defaultGuards;

it('a stopped run’s duration stops, and what it waited for an approval or a cancellation is not counted', async () => {
  const bench = await openRunsBench({ guards: { ...generousGuards, rowsMin, rowsFloor } });
  const { clock } = bench.world;
  const seconds = (run: RunRecord): number =>
    summarise(run, { serviceName: '', reportPath: '', fixFile: null, nowMs: clock.nowMs() }).seconds;
  const load = (rows: number): Promise<RunRecord> => bench.import('export.csv', csv(fillers(rows)), { feed: 'crm' });
  await load(10);
  const stopped = await load(2);
  expect(stopped.state).toBe('stopped');
  const atOnce = seconds(stopped);
  clock.advance(600_000);
  expect(seconds(stopped)).toBe(atOnce);
  expect(seconds(await bench.again(stopped))).toBe(atOnce);

  await bench.ledger.runs.move(stopped.id, ['stopped'], 'applying', { atMs: clock.nowMs(), reason: null });
  const done = await bench.finish(await bench.apply(await bench.again(stopped)));
  expect(done.state).toBe('done');
  expect(seconds(done)).toBeLessThan(60);
  expect((await bench.report(done)).seconds).toBe(seconds(done));

  await load(10);
  const other = await load(2);
  clock.advance(600_000);
  await bench.ledger.runs.move(other.id, ['stopped'], 'cancelling', { atMs: clock.nowMs(), reason: null });
  expect(seconds(await bench.finish(other))).toBeLessThan(60);
});

it('a run that waited for an engine, and was cancelled before it began, took no time', async () => {
  const bench = await openRunsBench();
  const { clock } = bench.world;
  const run = await bench.submit('export.csv', csv(fillers(3)));
  clock.advance(600_000);
  await bench.ledger.runs.move(run.id, ['queued'], 'cancelling', { atMs: clock.nowMs(), reason: null });
  const ended = await bench.finish(await bench.again(run));
  expect(ended).toMatchObject({ state: 'cancelled', startedAtMs: null });
  expect((await bench.report(ended)).seconds).toBe(0);
});

it('a cell with two bad values is listed once, in the report and the fix-file; the letter keeps both of its problems', async () => {
  const bench = await openRunsBench();
  const text = csv(['c-1,Ann,anna@; bea@,012; 034'], 'externalId,firstName,email,phone');
  const run = await bench.import('export.csv', text);
  const listed = (await bench.report(run)).problems.map((one: { field: string; code: string }) => [
    one.field,
    one.code,
  ]);
  expect(listed).toEqual([
    ['email', 'emailInvalid'],
    ['phone', 'phoneCountryMissing'],
  ]);
  expect((await bench.fixFile(run)).text.match(/the part after the @/g)).toHaveLength(1);
  expect((await bench.letters()).map(({ problems }) => problems.length)).toEqual([3]);
});
