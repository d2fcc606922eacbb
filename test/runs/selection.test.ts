/** Runs that apply some rows of a file (`docs/rules.md`, "Modes"): what is left out is counted, and not settled. */
import { describe, expect, it } from 'vitest';
import { csv, expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const file = (role: string, ...more: readonly string[]) =>
  csv([...['c-1', 'c-2', 'c-3', 'c-4'].map((key) => `${key},Ann,${role}`), ...more]);

const rolesOf = async ({ world }: RunsBench) =>
  (await world.contacts()).map(({ externalId, defaultFields }) => `${externalId} ${defaultFields.role}`).toSorted();

describe('a run with --limit', () => {
  it('applies the first changed rows, and the next run of the same file goes on with the others', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', file('Buyer'));
    const first = await bench.import('b.csv', file('Seller'), { options: { limit: 1 } });
    expectCounts(first, { rows: 4, updated: 1, skipped: 3 });
    expect(first.notes).toContain('3 rows were left out by --limit');
    const second = await bench.import('b.csv', file('Seller'), { options: { limit: 2 } });
    expectCounts(second, { rows: 4, unchanged: 1, updated: 2, skipped: 1 });
    const rest = await bench.import('b.csv', file('Seller'));
    expectCounts(rest, { rows: 4, unchanged: 3, updated: 1 });
    expect(new Set(await rolesOf(bench))).toEqual(new Set(['c-1 Seller', 'c-2 Seller', 'c-3 Seller', 'c-4 Seller']));
  });

  it('still rejects both rows of a key that differ', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', file('Buyer', 'c-1,Ann,Seller'), { options: { limit: 1 } });
    expectCounts(run, { rows: 5, skipped: 3, dead: 2 });
  });
});

describe('a run with --only', () => {
  it('applies the rows with these keys, and rejects no other', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', file('Buyer'));
    const changed = file('Seller', ',Cleo,nobody');
    const run = await bench.import('b.csv', changed, { options: { only: ['c-3', 'c-9'] } });
    expectCounts(run, { rows: 5, updated: 1, skipped: 4 });
    expect(run.state).toBe('done');
    expect(run.notes).toContain('4 rows were left out by --only');
    expect(run.notes).toContain('no row has the key "c-9" (--only)');
    expect(await rolesOf(bench)).toContain('c-3 Seller');
    expect(await rolesOf(bench)).toContain('c-1 Buyer');
    expectCounts(await bench.import('b.csv', changed), { rows: 5, unchanged: 1, updated: 3, dead: 1 });
  });

  it('names the keys that no row has, and none of an unchanged row, which is not read', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', file('Buyer'));
    // c-9 is known to the feed, and not in the second file.
    await bench.import('b.csv', file('Buyer', 'c-9,Zed,Buyer'));
    const run = await bench.import('c.csv', file('Buyer'), { options: { only: ['c-1', 'c-8', 'c-9'] } });
    expectCounts(run, { rows: 4, unchanged: 4 });
    expect(run.notes).toContain('no row has the keys "c-8", "c-9" (--only)');
  });

  it('leaves older rows of other keys that wait as they are', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, updatesFloor: 1 } });
    await bench.import('a.csv', file('Buyer'));
    const stopped = await bench.stage(await bench.submit('b.csv', file('Seller')));
    expect(stopped.state).toBe('stopped');
    await bench.import('c.csv', file('Clerk'), { options: { only: ['c-1'], accept: true } });
    await bench.ledger.runs.move(stopped.id, ['stopped'], 'applying', { atMs: 1 });
    const run = await bench.finish(await bench.apply(stopped));
    expect(run.counts).toMatchObject({ updated: 3, skipped: 1 });
    expect(await rolesOf(bench)).toEqual(['c-1 Clerk', 'c-2 Seller', 'c-3 Seller', 'c-4 Seller']);
  });
});

describe('an unchanged row that is not among the chosen ones', () => {
  it.each([
    ['--only', { only: ['c-1'] }, 'c-1 Buyer'],
    ['--create-only', { createOnly: true }, 'c-1 Seller'],
    ['--update-only', { updateOnly: true }, null],
    ['--limit', { limit: 1 }, null],
  ])('lets older rows of its key wait as they are: %s', async (_, options, first) => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, updatesFloor: 1 } });
    await bench.import('a.csv', file('Buyer'));
    const stopped = await bench.stage(await bench.submit('b.csv', file('Seller')));
    const chosen = await bench.import('c.csv', file('Buyer'), { options });
    expectCounts(chosen, { rows: 4, unchanged: 4 });
    await bench.ledger.runs.move(stopped.id, ['stopped'], 'applying', { atMs: 1 });
    await bench.finish(await bench.apply(stopped));
    // Where all rows are looked at, the newer file has the word.
    const others = ['c-2', 'c-3', 'c-4'].map((key) => `${key} ${first === null ? 'Buyer' : 'Seller'}`);
    expect(await rolesOf(bench)).toEqual([first ?? 'c-1 Buyer', ...others]);
  });
});

describe('a run with --create-only', () => {
  it('costs no request for rows whose key its feed knows, and no guard counts them', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, updatesFloor: 1 } });
    await bench.import('a.csv', file('Buyer'));
    const run = await bench.import('b.csv', file('Seller', 'c-5,Bea,Clerk'), { options: { createOnly: true } });
    expectCounts(run, { rows: 5, created: 1, skipped: 4 });
    expect(run.requests).toMatchObject({ post: 1, patch: 0 });
    expect(run.notes).toContain('4 rows were left out by --create-only');
  });
});

describe('a run with --update-only', () => {
  it('is not stopped for contacts that it does not make', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, createsFloor: 1 } });
    await bench.import('a.csv', file('Buyer'));
    const more = ['c-5', 'c-6', 'c-7'].map((key) => `${key},Bea,Clerk`);
    const run = await bench.import('b.csv', file('Buyer', ...more), { options: { updateOnly: true } });
    expectCounts(run, { rows: 7, unchanged: 4, skipped: 3 });
    expect(run.requests).toMatchObject({ post: 0, patch: 0 });
  });
});
