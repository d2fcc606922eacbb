/** The same key twice in a file (`docs/rules.md`, "Workspace, feed, key"). A slice is 500 rows. */
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { csv, expectCounts, fillers, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const header = 'externalId,firstName,role';
/** Puts the two rows into different slices. */
const apart = (first: string, second: string): string => csv([first, ...fillers(600), second]);
const firstLine = 2;
const lastLine = 603;

async function deadOf(bench: RunsBench, run: RunRecord) {
  const rows = await bench.deadRows(run);
  return rows
    .map(({ line, key, code, problems }) => ({ line, key, code, message: problems[0]?.message }))
    .toSorted((a, b) => a.line - b.line);
}

/** The row of that key that waits to be written. */
async function stagedOf({ ledger }: RunsBench, runId: string, key: string) {
  const positions = Array.from({ length: 1_000 }, (_, index) => index + 1);
  return (await ledger.runs.stagedAt(runId, positions)).find((record) => record.key === key);
}

describe('identical after mapping', () => {
  it('the rows collapse: the second is skipped as a duplicate', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,Engineer', 'c-2,Bob,Engineer', 'c-1, Ann ,Engineer']));
    expect(run.state).toBe('done');
    expectCounts(run, { rows: 3, created: 2, skipped: 1 });
    const { outcomes } = await bench.report(run);
    expect(outcomes).toEqual([
      {
        kind: 'skipped',
        line: 4,
        key: 'c-1',
        code: 'duplicate',
        field: null,
        message: 'line 2 already has the same contact',
      },
    ]);
  });

  it('the rows collapse across slices', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', apart('c-1,Ann,Engineer', 'c-1,Ann,Engineer')));
    expectCounts(run, { rows: 602, pending: 601, skipped: 1 });
  });

  it('the rows collapse where both are unchanged', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Engineer']));
    const run = await bench.import('b.csv', csv(['c-1,Ann,Engineer', 'c-1,Ann,Engineer']));
    expectCounts(run, { rows: 2, unchanged: 1, skipped: 1 });
  });
});

describe('differing', () => {
  it('all are dead, with both line numbers', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,Engineer', 'c-2,Bob,Engineer', 'c-1,Ann,Boss']));
    expect(run.state).toBe('doneWithDead');
    expectCounts(run, { rows: 3, created: 1, dead: 2 });
    const message = 'lines 2 and 4 have the same key and differ';
    expect((await bench.report(run)).problems).toEqual([
      expect.objectContaining({ line: 2, code: 'duplicateKey', value: 'c-1' }),
      expect.objectContaining({ line: 4, code: 'duplicateKey', value: 'c-1' }),
    ]);
    expect((await bench.letters()).map((letter) => [letter.key, letter.class, letter.message])).toEqual([
      ['c-1', 'invalid', message],
    ]);
  });

  it('all are dead, in whatever number they come', async () => {
    const bench = await openRunsBench();
    const rows = ['c-1,Ann,A', 'c-1,Ann,B', 'c-1,Ann,C', 'c-1,Ann,A'];
    const run = await bench.stage(await bench.submit('a.csv', csv(rows)));
    expectCounts(run, { rows: 4, dead: 4 });
    expect((await deadOf(bench, run)).map(({ line }) => line)).toEqual([2, 3, 4, 5]);
  });

  it('all are dead also when they are in different slices, and nothing of them is written', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', apart('c-1,Ann,Engineer', 'c-1,Ann,Boss')));
    expectCounts(run, { rows: 602, pending: 600, dead: 2 });
    expect(await deadOf(bench, run)).toEqual([
      { line: firstLine, key: 'c-1', code: 'duplicateKey', message: 'lines 2 and 603 have the same key and differ' },
      { line: lastLine, key: 'c-1', code: 'duplicateKey', message: 'lines 2 and 603 have the same key and differ' },
    ]);
    expect(await stagedOf(bench, run.id, 'c-1')).toBeUndefined();
  });

  it('an unchanged row is dead too, with its cells in the fix-file', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Engineer']));
    const run = await bench.import('b.csv', csv(['c-1,Ann,Engineer', 'c-1,Ann,Boss']));
    expectCounts(run, { rows: 2, dead: 2 });
    const { text } = await bench.fixFile(run);
    expect(text).toContain('c-1,Ann,Engineer,');
    expect(text).toContain('c-1,Ann,Boss,');
  });

  it('an unchanged row of an earlier slice is dead too: its cells are read again for the fix-file', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Engineer']));
    const staged = await bench.stage(await bench.submit('b.csv', apart('c-1,Ann,Engineer', 'c-1,Ann,Boss')));
    expectCounts(staged, { rows: 602, pending: 600, dead: 2 });
    await bench.ledger.runs.skipPending(staged.id, 'cancelled', 1);
    const run = await bench.finish(staged);
    expect(run.state).toBe('doneWithDead');
    const { text } = await bench.fixFile(run);
    expect(text).toMatch(/\nc-1,Ann,Engineer,d[0-9a-f]+,2,duplicateKey,"lines 2 and 603/);
    expect(text).toMatch(/\nc-1,Ann,Boss,d[0-9a-f]+,603,duplicateKey,"lines 2 and 603/);
  });

  it('an unchanged row of an earlier slice is told from its neighbours in a JSON file of one line', async () => {
    const bench = await openRunsBench();
    const person = (externalId: string, role: string) => ({ externalId, firstName: 'Ann', role });
    const others = Array.from({ length: 600 }, (_, index) => person(`f-${index}`, 'Engineer'));
    await bench.import('a.json', JSON.stringify([person('c-1', 'Engineer')]));
    const content = JSON.stringify([person('c-1', 'Engineer'), ...others, person('c-1', 'Boss')]);
    const run = await bench.stage(await bench.submit('b.json', content));
    expectCounts(run, { rows: 602, pending: 600, dead: 2 });
    const rows = await bench.deadRows(run);
    expect(rows.map(({ row }) => (row?.kind === 'object' ? row.object.role : null)).toSorted()).toEqual([
      'Boss',
      'Engineer',
    ]);
  });

  it('an unchanged row that came twice in an earlier slice is dead once in a JSON file of one line', async () => {
    const bench = await openRunsBench();
    const person = (externalId: string, role: string) => ({ externalId, firstName: 'Ann', role });
    const many = Array.from({ length: 600 }, (_, index) => person(`f-${index}`, 'Engineer'));
    await bench.import('a.json', JSON.stringify([person('c-1', 'Engineer'), ...many]));
    const twice = [person('c-1', 'Engineer'), person('c-1', 'Engineer')];
    const run = await bench.stage(
      await bench.submit('b.json', JSON.stringify([...twice, ...many, person('c-1', 'Boss')])),
    );
    expectCounts(run, { rows: 603, unchanged: 600, skipped: 1, dead: 2 });
    expect(await bench.deadRows(run)).toHaveLength(2);
  });
});

describe('a dead row and a good one', () => {
  const broken = 'c-1,Ann,Engineer,call me';
  const good = 'c-1,Ann,Engineer,+14155550100';
  const wide = `${header},phone`;

  it('are both dead, the good one first', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv([good, broken], wide)));
    expectCounts(run, { rows: 2, dead: 2 });
    expect((await deadOf(bench, run)).map(({ line, code }) => [line, code])).toEqual([
      [2, 'duplicateKey'],
      [3, 'phoneLetters'],
    ]);
  });

  it('are both dead, the dead one first', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv([broken, good], wide)));
    expectCounts(run, { rows: 2, dead: 2 });
    expect((await deadOf(bench, run)).map(({ line, code }) => [line, code])).toEqual([
      [2, 'phoneLetters'],
      [3, 'duplicateKey'],
    ]);
  });

  it('are both dead across slices, also where the good one was unchanged', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv([good], wide));
    const between = fillers(600).map((row) => `${row},`);
    const run = await bench.stage(await bench.submit('b.csv', csv([good, ...between, broken], wide)));
    expectCounts(run, { rows: 602, pending: 600, dead: 2 });
    expect((await deadOf(bench, run)).map(({ line, code }) => [line, code])).toEqual([
      [2, 'duplicateKey'],
      [603, 'phoneLetters'],
    ]);
  });

  it('with firstWins, the first one wins when it is the good one', async () => {
    const bench = await openRunsBench();
    const first = mapping({ duplicateKeys: 'firstWins', phones: [{ column: 'phone' }] });
    const run = await bench.import('a.csv', csv([good, broken], wide), { mapping: first });
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
  });

  it('with lastWins, the last one wins when it is the good one', async () => {
    const bench = await openRunsBench();
    const last = mapping({ duplicateKeys: 'lastWins', phones: [{ column: 'phone' }] });
    const run = await bench.import('a.csv', csv([broken, good], wide), { mapping: last });
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
  });
});

describe('firstWins', () => {
  const first = mapping({ duplicateKeys: 'firstWins' });

  it('takes the first row and skips the others', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A', 'c-1,Ann,B', 'c-1,Ann,C']), { mapping: first });
    expectCounts(run, { rows: 3, created: 1, skipped: 2 });
    expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('A');
  });

  it('takes the first row across slices', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', apart('c-1,Ann,A', 'c-1,Ann,B'), { mapping: first }));
    expectCounts(run, { rows: 602, pending: 601, skipped: 1 });
    expect((await stagedOf(bench, run.id, 'c-1'))?.desired.scalars.role).toBe('A');
  });

  it('takes the first row where it is unchanged', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A']), { mapping: first });
    const run = await bench.import('b.csv', csv(['c-1,Ann,A', 'c-1,Ann,B']), { mapping: first });
    expectCounts(run, { rows: 2, unchanged: 1, skipped: 1 });
  });
});

describe('lastWins', () => {
  const last = mapping({ duplicateKeys: 'lastWins' });

  it('takes the last row and skips the others, naming their lines', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A', 'c-1,Ann,B', 'c-1,Ann,C']), { mapping: last });
    expectCounts(run, { rows: 3, created: 1, skipped: 2 });
    expect(
      (await bench.report(run)).outcomes.map(({ line, code }: { line: number; code: string }) => [line, code]),
    ).toEqual([
      [2, 'duplicate'],
      [3, 'duplicate'],
    ]);
    expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('C');
  });

  it('takes the last row across slices', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', apart('c-1,Ann,A', 'c-1,Ann,B'), { mapping: last }));
    expectCounts(run, { rows: 602, pending: 601, skipped: 1 });
    expect(await bench.ledger.runs.pendingCount(run.id)).toBe(601);
    expect((await stagedOf(bench, run.id, 'c-1'))?.desired.scalars.role).toBe('B');
  });

  it('takes the last row where the first was unchanged, also across slices', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A']), { mapping: last });
    const run = await bench.stage(await bench.submit('b.csv', apart('c-1,Ann,A', 'c-1,Ann,B'), { mapping: last }));
    expectCounts(run, { rows: 602, pending: 601, skipped: 1 });
  });

  it('takes the last row where it is unchanged, also across slices', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A']), { mapping: last });
    const run = await bench.stage(await bench.submit('b.csv', apart('c-1,Ann,B', 'c-1,Ann,A'), { mapping: last }));
    expectCounts(run, { rows: 602, pending: 600, unchanged: 1, skipped: 1 });
    expect(await stagedOf(bench, run.id, 'c-1')).toBeUndefined();
  });
});
