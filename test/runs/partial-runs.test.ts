/**
 * Runs that apply some rows of a file, or none: none of them is a file that its feed accepted, whom it lacks has not left, and what
 * waits for a person goes on waiting (`docs/rules.md`, "Modes" and "Drift").
 */
import { describe, expect, it } from 'vitest';
import type { RunOptions } from '#src/ledger/runs.ts';
import { exitCodeOfRun } from '#src/runs/exit-code.ts';
import { openPlanBench } from '#test/plans/support/plan-bench.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const row = (number: number, role = 'Boss') => `v-${number},Ann,${role}`;
const file = (count: number, role?: string) => csv(Array.from({ length: count }, (_, index) => row(index + 1, role)));

const openBench = (onMissing = 'clear role') =>
  openRunsBench({ guards: defaultGuards, configured: { crm: { onMissing } } });
const put = (bench: RunsBench, name: string, content: string, options: Partial<RunOptions> = {}) =>
  bench.import(name, content, { feed: 'crm', options });
const rolesOf = async ({ world }: RunsBench) =>
  (await world.contacts()).map(({ defaultFields }) => defaultFields.role).toSorted();

const modes: readonly (readonly [string, Partial<RunOptions>])[] = [
  ['--verify', { verify: true }],
  ['--only', { only: ['v-1'] }],
  ['--limit', { limit: 3 }],
  ['--create-only', { createOnly: true }],
  ['--update-only', { updateOnly: true }],
];

describe.each(modes)('a run with %s', (_, options) => {
  it('is not the previous file of the next one, and tells of no person as one who left', async () => {
    const bench = await openBench();
    await put(bench, 'a.csv', file(12));
    const partial = await put(bench, 'nine.csv', file(9), options);
    expect(partial.state).toBe('done');
    // The file lacks them, which is told; they have not left by that.
    expect(partial.shape?.missing).toEqual({ count: 3, new: 3 });
    expect(await bench.ledger.missing.count('crm')).toBe(0);
    const next = await put(bench, 'five.csv', file(5));
    const facts = { rowsCount: 5, rowsBase: 12, keysCount: 5, keysBase: 12 };
    expect(next).toMatchObject({ state: 'stopped', reason: { facts } });
    expect(new Set(await rolesOf(bench))).toEqual(new Set(['Boss']));
  });

  it('leaves a run that is stopped as it is, whichever file it reads', async () => {
    const bench = await openBench('report');
    await put(bench, 'a.csv', file(12));
    const stopped = await put(bench, 'b.csv', file(12, 'Chief'));
    expect(stopped).toMatchObject({ state: 'stopped', reason: { code: 'guardUpdates' } });
    const few = csv([row(1, 'Clerk'), ...Array.from({ length: 11 }, (_, index) => row(index + 2))]);
    for (const text of [few, file(12), file(12, 'Chief')]) {
      const run = await put(bench, 'c.csv', text, { ...options, accept: true });
      expect(run.state).toBe('done');
      expect(run.id).not.toBe(stopped.id);
      expect(run.notes.join()).not.toContain('takes the place');
      expect((await bench.again(stopped)).state).toBe('stopped');
    }
  });
});

describe('a run with --verify', () => {
  it('does not stand for an import of the same file that has not ended, nor an import for it', async () => {
    const bench = await openBench();
    const enter = (verify: boolean) => bench.submit('a.csv', file(12), { feed: 'crm', options: { verify } });
    const run = await enter(false);
    const looking = await enter(true);
    expect(looking.id).not.toBe(run.id);
    expect([(await enter(false)).id, (await enter(true)).id]).toEqual([run.id, looking.id]);
  });

  it('leaves rows that wait, and dead letters, as they are, although it finds their people unchanged', async () => {
    const bench = await openBench('report');
    await put(bench, 'a.csv', file(12));
    const damaged = file(12).replace('v-12,Ann', 'v-12,A\u0007nn');
    await put(bench, 'dead.csv', damaged);
    const stopped = await put(bench, 'b.csv', file(11, 'Chief'));
    expect(stopped.state).toBe('stopped');
    await put(bench, 'a.csv', file(12), { verify: true });
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['open']);
    await bench.ledger.runs.move(stopped.id, ['stopped'], 'applying', { atMs: 1 });
    expectCounts(await bench.finish(await bench.apply(stopped)), { rows: 11, updated: 11 });
  });

  it('moves nothing of what its feed said, also where rows look otherwise and say the same', async () => {
    const bench = await openBench();
    await put(bench, 'a.csv', file(12));
    const { runs } = bench.ledger;
    const known = async () => [await runs.feedRevision('crm'), await runs.saidOf('crm', ['v-1', 'v-2'])];
    const before = await known();
    const wider = file(12).replaceAll('\r\n', ',\r\n').replace('role,', 'role,note');
    expectCounts(await put(bench, 'b.csv', wider, { verify: true }), { rows: 12, unchanged: 12 });
    expect(await known()).toEqual(before);
    await put(bench, 'b.csv', wider);
    expect(await known()).not.toEqual(before);
  });

  it('of a fix-file leaves its letters open', async () => {
    const bench = await openBench();
    const header = 'externalId,firstName,role,phone';
    const run = await put(bench, 'a.csv', csv(['v-1,Ann,Boss,', 'v-2,Bob,Boss,call me'], header));
    const { text } = await bench.fixFile(run);
    const mended = text.replace('call me', '+14155550101');
    await bench.import('mended.csv', mended, { options: { verify: true } });
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['open']);
    await bench.import('mended.csv', mended);
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed']);
  });

  it('is not stopped by guards, and notes what would stop an import of the file', async () => {
    const bench = await openBench();
    await put(bench, 'a.csv', file(12));
    const run = await put(bench, 'five.csv', file(5), { verify: true });
    expect([run.state, exitCodeOfRun(run), run.reason]).toEqual(['done', 0, null]);
    const note = run.notes.find((one) => one.startsWith('importing this file'));
    expect(note).toMatch(
      /^importing this file would stop before the first write: the file has 5 rows, and the previous file had 12 /,
    );
    const column = await put(bench, 'column.csv', csv(['v-1,Ann,+14155550101'], 'externalId,firstName,mobile no'), {
      verify: true,
    });
    expect(column.state).toBe('done');
    const planned = await openPlanBench(bench);
    const plan = await planned.plan('five.csv', file(5), { feed: 'crm', options: { verify: true } });
    expect([plan.plan.stop, plan.notes]).toEqual([null, run.notes]);
  });

  it('is no file of its feed that arrived', async () => {
    const bench = await openBench();
    const accepted = await put(bench, 'a.csv', file(12));
    const stopped = await put(bench, 'b.csv', file(5));
    bench.world.clock.advance(60_000);
    await put(bench, 'a.csv', file(12), { verify: true });
    const standings = await bench.ledger.deliveries.standings();
    expect(standings).toMatchObject([
      { feed: 'crm', last: { id: stopped.id, state: 'stopped' }, acceptedAtMs: accepted.createdAtMs },
    ]);
  });
});

describe('a run with --only', () => {
  it('does not make its feed a healthy one while the run of a whole file is stopped', async () => {
    const bench = await openBench();
    await put(bench, 'a.csv', file(12));
    const stopped = await put(bench, 'b.csv', file(5));
    const last = async () => (await bench.ledger.deliveries.standings())[0]?.last;
    const only = await put(bench, 'c.csv', csv([row(1, 'Clerk')]), { only: ['v-1'], accept: true });
    expect(only.state).toBe('done');
    expect(await last()).toMatchObject({ id: stopped.id, state: 'stopped' });
    await put(bench, 'a.csv', file(12), { accept: true });
    expect(await last()).toMatchObject({ state: 'done' });
    const later = await put(bench, 'c.csv', csv([row(1, 'Clerk')]), { only: ['v-1'], accept: true });
    expect(await last()).toMatchObject({ id: later.id, state: 'done' });
  });

  it('leaves the letter of a row without a key open, whose row the file still has', async () => {
    const bench = await openBench('report');
    const text = `${file(12)},Zed,Boss\r\n`;
    await put(bench, 'a.csv', text);
    const states = async () => (await bench.letters()).map(({ state }) => state);
    expect(await states()).toEqual(['open']);
    await put(bench, 'b.csv', text, { only: ['v-1'] });
    expect(await states()).toEqual(['open']);
    await put(bench, 'c.csv', file(12));
    expect(await states()).toEqual(['closed']);
  });
});

describe('a plan of a full file, where a run of its feed is stopped', () => {
  it('says what importing the file does to that run, and does nothing to it', async () => {
    const bench = await openBench();
    await put(bench, 'a.csv', file(12));
    const stopped = await put(bench, 'b.csv', file(5));
    const planned = await openPlanBench(bench);
    const plan = await planned.plan('c.csv', file(12, 'Boss'), { feed: 'crm' });
    expect(plan.notes).toContain(`importing this file takes the place of run ${stopped.id}, which is stopped`);
    expect((await bench.again(stopped)).state).toBe('stopped');
    const verified = await planned.plan('c.csv', file(12), { feed: 'crm', options: { verify: true } });
    expect(verified.notes.join()).not.toContain('takes the place');
    const run = await put(bench, 'c.csv', file(12));
    expect(run.notes).toContain(`takes the place of run ${stopped.id}, which was stopped`);
  });
});
