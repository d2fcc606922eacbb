/** How letters without a key end (`docs/rules.md`, "Dead letters"): no later success can name them. */
import { describe, expect, it } from 'vitest';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { csv, fillers, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { defaultGuards } from '#test/runs/support/tallies.ts';

const states = async (bench: RunsBench): Promise<readonly string[]> => {
  const letters = await bench.letters();
  const textOf = ({ code, state, row }: DeadLetter): string =>
    `${row?.kind === 'cells' ? row.cells[1] : ''} ${code} ${state}`;
  return letters.map(textOf).toSorted();
};

const load = (bench: RunsBench, rows: readonly string[], feed = 'crm') =>
  bench.import('report.csv', csv([...fillers(3), ...rows]), { feed });

describe('a letter without a key', () => {
  it('of a report’s footer that changes each night is closed by the next report: one is open, and the run says it', async () => {
    const bench = await openRunsBench();
    for (const night of [1, 2, 3]) await load(bench, [`,Generated on night ${night},x`]);
    expect(await states(bench)).toEqual([
      'Generated on night 1 keyMissing closed',
      'Generated on night 2 keyMissing closed',
      'Generated on night 3 keyMissing open',
    ]);
    const [last] = await bench.ledger.runs.list({ limit: 1 });
    const note = 'closed 1 dead letter without a key: the file does not hold its row any more';
    expect(last?.notes).toContain(note);
    if (last !== undefined) expect((await bench.report(last)).notes).toContain(note);
  });

  it('stays open while each file holds its row, and is closed by the one that does not', async () => {
    const bench = await openRunsBench();
    await load(bench, [',nobody,x']);
    await load(bench, [',nobody,x']);
    expect(await states(bench)).toEqual(['nobody keyMissing open']);
    await load(bench, []);
    expect(await states(bench)).toEqual(['nobody keyMissing closed']);
  });

  it.each([
    ['main, whose files need not be about the same people', 'main'],
    ['a delta', 'part'],
  ])('is not closed by a file of %s', async (_name, feed) => {
    const bench = await openRunsBench({ configured: { part: { kind: 'delta' } } });
    await load(bench, [',nobody,x'], feed);
    await load(bench, [], feed);
    expect(await states(bench)).toEqual(['nobody keyMissing open']);
  });

  it('is not closed by a file that a guard stops, before somebody lets it go on', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, rowsFloor: 3 } });
    await load(bench, [',nobody,x']);
    expect((await bench.import('half.csv', csv(fillers(2)), { feed: 'crm' })).state).toBe('stopped');
    expect(await states(bench)).toEqual(['nobody keyMissing open']);
  });

  it('is not closed by its own fix-file, whose other rows it says nothing about', async () => {
    const bench = await openRunsBench();
    const run = await load(bench, [',nobody,x', ',no one,x']);
    const [head, first] = (await bench.fixFile(run)).text.trimEnd().split('\r\n');
    const mended = `${head}\r\n${first?.replace(',nobody', 'c-1,nobody')}\r\n`;
    expect(await bench.import('fix.csv', mended)).toMatchObject({ state: 'done', kind: 'fixFile' });
    expect(await states(bench)).toEqual(['no one keyMissing open', 'nobody keyMissing closed']);
  });
});

describe('a letter with a key', () => {
  const header = 'externalId,firstName,role,phone';
  const good = 'c-1,Ann,Engineer,+14155550100';
  const openOf = async (bench: RunsBench) => (await bench.letters()).map(({ key, state }) => `${key} ${state}`);

  it.each(['crm', 'main'])('is closed by a file of %s whose row says what was settled before', async (feed) => {
    const bench = await openRunsBench();
    const given = (name: string, row: string) =>
      bench.import(name, csv([row, 'c-2,Bob,Boss,call me'], header), { feed });
    await given('a.csv', good);
    await given('b.csv', 'c-1,Ann,Engineer,call me');
    expect(await openOf(bench)).toEqual(expect.arrayContaining(['c-1 open', 'c-2 open']));
    const run = await given('c.csv', good);
    expect(run.counts).toMatchObject({ rows: 2, unchanged: 1, dead: 1 });
    expect((await openOf(bench)).toSorted()).toEqual(['c-1 closed', 'c-2 open']);
  });
});
