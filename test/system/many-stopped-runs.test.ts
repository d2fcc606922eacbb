/** Stopped runs pile up where no newer file takes their place, as those of delta feeds do: none of them is passed over. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { eraseFromFiles } from '#src/runs/erase/erase-files.ts';
import { noteStopped } from '#src/runs/stop-run.ts';
import { csv, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

/** More than a page of them. */
const count = 101;

/** Oldest first. */
async function stopMany(bench: RunsBench, feed: string): Promise<readonly RunRecord[]> {
  const runs: RunRecord[] = [];
  for (let index = 0; index < count; index += 1) {
    const run = await bench.submit('a.csv', csv([`k-17,Zelda,Clerk`, `c-${index},Ann,Clerk`]), { feed });
    await bench.ledger.runs.beginStaging(run.id, 1);
    await bench.ledger.runs.move(run.id, ['staging'], 'stopped', { atMs: 1 });
    runs.push(await bench.again(run));
  }
  return runs;
}

it('a forgotten person leaves the files of all of them, and each of them has its note as long as it waits', async () => {
  const bench = await openRunsBench({ configured: { changes: { kind: 'delta' } } });
  const runs = await stopMany(bench, 'changes');
  const { ledger, folders } = bench.parts;
  const { erased } = await eraseFromFiles({ ledger, folders, host: null }, { key: 'k-17', contactId: null, texts: [] });
  expect(erased).toHaveLength(count);
  for (const { claimedPath } of runs) expect(await readFile(claimedPath, 'utf8')).not.toContain('k-17');

  const noted = new Map<string, number | null>();
  const notes = () => bench.names('import', '_stopped');
  const all = runs.map(({ id }) => `${id}__a.csv.txt`).toSorted();
  await noteStopped(bench.parts, noted);
  await noteStopped(bench.parts, noted);
  expect(await notes()).toEqual(all);
  const [first] = runs;
  await ledger.runs.move(first?.id ?? '', ['stopped'], 'cancelling', { atMs: 1 });
  await noteStopped(bench.parts, noted);
  expect(await notes()).toEqual(all.slice(1));
});

it('a run that is stopped again while its note is looked after keeps the note', async () => {
  const bench = await openRunsBench();
  const run = await bench.submit('a.csv', csv(['c-1,Ann,Clerk']));
  await bench.ledger.runs.beginStaging(run.id, 1);
  await bench.ledger.runs.move(run.id, ['staging'], 'stopped', { atMs: 1 });
  const noted = new Map<string, number | null>();
  await noteStopped(bench.parts, noted);
  // It went on when the list was read.
  const runs = { ...bench.ledger.runs, list: async () => [] };
  await noteStopped({ ...bench.parts, ledger: { ...bench.ledger, runs } }, noted);
  expect(await bench.names('import', '_stopped')).toEqual([`${run.id}__a.csv.txt`]);
});

it('a full file takes the place of all of them', async () => {
  const bench = await openRunsBench({ configured: { crm: {} } });
  const runs = await stopMany(bench, 'crm');
  const newer = await bench.import('b.csv', csv(['c-1,Ann,Clerk']), { feed: 'crm' });
  for (const run of runs) {
    const { state, reason } = await bench.again(run);
    expect([state, reason?.facts.by]).toEqual(['cancelling', newer.id]);
  }
});
