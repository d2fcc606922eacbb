/** The folder that a feed gets with the first file that names it, and when it goes again. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { cancelRun } from '#src/operations/run-acts.ts';
import { submitFile } from '#src/runs/enter-run.ts';
import { finishCancelled } from '#src/runs/finish-run.ts';
import { csv, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const unread = 'Nr,Vorname\r\nc-1,Ann\r\n';
const feed = 'hubspto';
const folders = async (bench: RunsBench): Promise<readonly string[]> =>
  (await bench.names('import')).filter((name) => !name.startsWith('_'));

/** A file that nothing can read as what it is: its run fails. */
async function failed(bench: RunsBench, name = 'a.csv'): Promise<RunRecord> {
  const run = await bench.stage(await bench.submit(name, unread, { feed }));
  expect(run.state).toBe('failed');
  return run;
}

describe('The folder of a feed that a command names for the first time', () => {
  it('stays with a file that is read', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(fillers(2)), { feed });
    await failed(bench);
    expect(await folders(bench)).toEqual([feed]);
  });

  it('goes again with a file that cannot be read, and comes with the next one', async () => {
    const bench = await openRunsBench();
    await failed(bench);
    expect(await folders(bench)).toEqual([]);
    await failed(bench, 'b.csv');
    expect(await folders(bench)).toEqual([]);
    await bench.import('c.csv', csv(fillers(2)), { feed });
    expect(await folders(bench)).toEqual([feed]);
  });

  it('goes again with a run that a person cancels before it has sent anything', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, deadFloor: 1 } });
    const stopped = await bench.stage(await bench.submit('a.csv', csv(fillers(2)), { feed }));
    expect(await folders(bench)).toEqual([feed]);
    await cancelRun(bench.parts, stopped, 'the wrong feed');
    await finishCancelled(bench.parts, stopped.id);
    expect((await bench.again(stopped)).state).toBe('cancelled');
    expect(await folders(bench)).toEqual([]);
  });

  it('stays where a further file of the feed waits', async () => {
    const bench = await openRunsBench();
    const first = await bench.submit('a.csv', unread, { feed });
    await bench.submit('b.csv', csv(fillers(2)), { feed });
    expect((await bench.stage(first)).state).toBe('failed');
    expect(await folders(bench)).toEqual([feed]);
  });

  it('stays where a person has made it, or has put something into it', async () => {
    const bench = await openRunsBench();
    await mkdir(join(bench.folder, 'import', feed));
    await failed(bench);
    expect(await folders(bench)).toEqual([feed]);
    const other = await openRunsBench();
    const run = await other.submit('a.csv', unread, { feed });
    await writeFile(join(other.folder, 'import', feed, '_mapping.yaml'), '');
    await other.stage(run);
    expect(await folders(other)).toEqual([feed]);
  });

  it('is not left where the run cannot be entered', async () => {
    const bench = await openRunsBench();
    const { ledger } = bench.parts;
    const create = async () => Promise.reject(new Error('the ledger cannot be written'));
    const parts = { ...bench.parts, ledger: { ...ledger, runs: { ...ledger.runs, create } } };
    const choice = { feed: await parts.feeds.get(feed) };
    const path = await bench.write('a.csv', csv(fillers(2)));
    await expect(submitFile(parts, path, noOptions, choice)).rejects.toThrow('cannot be written');
    expect(await folders(bench)).toEqual([]);
  });
});
