/** Files that were undone: the next file is compared with the one before them (`docs/rules.md`, "Guards"). */
import { describe, expect, it, test } from 'vitest';
import { noOptions, type RunRecord, zeroCounts } from '#src/ledger/runs.ts';
import { undoneBy } from '#src/runs/undone-files.ts';
import { undoRun } from '#test/plans/support/undo-runs.ts';
import { csv, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const right = fillers(30);
const others = (name: string) => right.map((row) => row.replace(/^[^,]*/, (key) => `${name}-${key}`));
const inCrm = { feed: 'crm' };

/** Two right files, and one with other people that a person let pass. */
async function openWrong(): Promise<{ readonly bench: RunsBench; readonly wrong: RunRecord }> {
  const bench = await openRunsBench({ guards: defaultGuards, configured: { crm: {} } });
  await bench.import('a.csv', csv(right), inCrm);
  const last = await bench.import('b.csv', csv(changed('Pilot')), inCrm);
  expect(last.state).toBe('done');
  const wrong = await bench.import('w.csv', csv(others('w')), { ...inCrm, options: { accept: true } });
  return { bench, wrong };
}

const changed = (role: string) => right.map((row, index) => (index === 0 ? row.replace('Engineer', role) : row));
const undo = (bench: RunsBench, run: RunRecord) => undoRun(bench, run, { deleteCreated: true, accept: true });

describe('the file behind one that was undone whole', () => {
  it('is compared with the last one that was not undone', async () => {
    const { bench, wrong } = await openWrong();
    const next = csv(changed('Chief'));
    const stopped = await bench.import('c.csv', next, inCrm);
    expect(stopped.reason?.message).toContain('the file has 0 of the 30 keys of the previous file');
    expect((await undo(bench, wrong)).counts).toMatchObject({ deleted: 30 });
    expect(await bench.import('c.csv', next, inCrm)).toMatchObject({
      state: 'done',
      counts: { updated: 1, unchanged: 29 },
    });
  });

  it('is stopped where it has none of its keys, or fewer rows', async () => {
    const { bench, wrong } = await openWrong();
    await undo(bench, wrong);
    const strangers = await bench.import('d.csv', csv(others('d')), inCrm);
    expect(strangers.reason?.message).toContain('the file has 0 of the 30 keys of the previous file');
    const short = await bench.import('e.csv', csv(right.slice(0, 20)), inCrm);
    expect(short.reason?.message).toContain('the file has 20 rows, and the previous file had 30');
  });

  it('turns nothing back where all that came since was undone', async () => {
    const { bench, wrong } = await openWrong();
    const again = csv(changed('Pilot'));
    expect((await bench.import('b.csv', again, inCrm)).reason?.code).toBe('guardKeys');
    await undo(bench, wrong);
    expect(await bench.import('b.csv', again, inCrm)).toMatchObject({ state: 'done', counts: { unchanged: 30 } });
    const oldest = await bench.import('a.csv', csv(right), inCrm);
    expect(oldest.reason?.message).toContain('2 newer files have been imported since');
  });
});

it('the file behind one that was undone in part says so where it stops', async () => {
  const { bench, wrong } = await openWrong();
  const part = await undoRun(bench, wrong);
  const run = await bench.import('c.csv', csv(changed('Chief')), inCrm);
  expect(run.reason?.code).toBe('guardKeys');
  expect(run.reason?.hint).toContain(
    `The previous file, of run ${wrong.id}, was undone by run ${part.id}, though not whole: if it was wrong`,
  );
});

describe('what was undone', () => {
  const done = { ...zeroCounts, rows: 3, updated: 3 };
  const undoOf = (id: string, undoes: string, counts: Partial<RunRecord['counts']> = {}) => {
    return { id, state: 'done' as const, options: { ...noOptions, undoes }, counts: { ...done, ...counts } };
  };

  test('is what an undo left nothing of', () => {
    expect(undoneBy([undoOf('u', 'r')])).toEqual({ whole: new Set(['r']), partly: new Map() });
    expect(undoneBy([undoOf('u', 'r', { skipped: 1 })])).toEqual({ whole: new Set(), partly: new Map([['r', 'u']]) });
    expect(undoneBy([undoOf('u', 'r', { heldFields: 1 })]).whole.size).toBe(0);
  });

  test('is there again where the undo was undone, and gone where that was undone, too', () => {
    const [first, second, third] = [undoOf('u', 'r'), undoOf('v', 'u'), undoOf('w', 'v')];
    expect(undoneBy([second, first])).toEqual({ whole: new Set(['u']), partly: new Map() });
    expect(undoneBy([third, second, first]).whole).toEqual(new Set(['v', 'r']));
  });
});
