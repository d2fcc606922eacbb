/** A file is known by feed and content (`docs/contract.md`, "Two commands on a fresh machine"). */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { enterFiles } from '#src/operations/import.ts';
import {
  enterOrphans,
  hasOrphans,
  removeStrays,
  type SubmittedRun,
  submitFile,
  takeFile,
} from '#src/runs/enter-run.ts';
import { newRunId, runIdOf } from '#src/runs/run-files.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { generousGuards } from './support/tallies.ts';

const ofMain = async ({ parts }: RunsBench) => ({ feed: await parts.feeds.get('main') });
const rows = csv(['c-1,Ann,Engineer']);

describe('a file that is named on the command line', () => {
  it('stays where it is: a copy is taken', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', rows);
    expect(run).toMatchObject({ feed: 'main', kind: 'file', fileName: 'a.csv', state: 'queued', bytes: rows.length });
    expect(await readFile(join(bench.folder, 'a.csv'), 'utf8')).toBe(rows);
    expect(await readFile(run.claimedPath, 'utf8')).toBe(rows);
  });

  it('goes on with its run where that is not at rest, also under another name', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', rows);
    await bench.stage(run);
    const again = await submitFile(bench.parts, await bench.write('b.csv', rows), noOptions, await ofMain(bench));
    expect(again).toMatchObject({ resumed: true, run: { id: run.id, fileName: 'a.csv' } });
    expect(await bench.ledger.runs.list({ limit: 10 })).toHaveLength(1);
    expect(await bench.names('handed-over')).toHaveLength(1);
  });

  it('has a run of its own beside another file of the same content, also where that goes on with its run', async () => {
    const bench = await openRunsBench();
    const interrupted = await bench.submit('a.csv', rows);
    const files = await Promise.all(['a.csv', 'b.csv', 'c.csv'].map((name) => bench.write(name, rows)));
    const home = { submit: bench.parts, actor: bench.parts.actor };
    const runs: SubmittedRun[] = [];
    await enterFiles(home, files, noOptions, await ofMain(bench), {
      patiently: (work) => work(),
      onEntered: (entered) => runs.push(entered),
      onRefused: (error) => expect.unreachable(error.message),
    });
    expect(runs.map(({ run, resumed }) => [run.fileName, resumed])).toEqual([
      ['a.csv', true],
      ['b.csv', false],
      ['c.csv', false],
    ]);
    expect(runs[0]?.run.id).toBe(interrupted.id);
    const ended: RunRecord[] = [];
    for (const { run } of runs) ended.push(await bench.carryOut(run));
    expect(ended.map(({ counts }) => [counts.created, counts.unchanged])).toEqual([
      [1, 0],
      [0, 1],
      [0, 1],
    ]);
  });

  it('has a run of its own behind one with other options, which goes first', async () => {
    const bench = await openRunsBench();
    const three = csv(['c-1,Ann,A', 'c-2,Bo,B', 'c-3,Cy,C']);
    const limited = await bench.submit('a.csv', three, { options: { limit: 1 } });
    const again = await submitFile(bench.parts, await bench.write('a.csv', three), noOptions, await ofMain(bench));
    expect(again).toMatchObject({ resumed: false, ahead: { run: { id: limited.id }, options: ['--limit 1'] } });
    expect(again.run.id).not.toBe(limited.id);
    // The same command once more goes on with the run that it stands for: other rows of an older one change nothing of that.
    for (const [options, run] of [
      [noOptions, again.run],
      [{ ...noOptions, limit: 1 }, limited],
    ] as const) {
      const same = await submitFile(bench.parts, join(bench.folder, 'a.csv'), options, await ofMain(bench));
      expect(same).toMatchObject({ resumed: true, ahead: null, run: { id: run.id } });
    }
    expect((await bench.ledger.runs.nextQueued(10)).map(({ id }) => id)).toEqual([limited.id]);
    expectCounts(await bench.carryOut(limited), { rows: 3, created: 1, skipped: 2 });
    expectCounts(await bench.carryOut(again.run), { rows: 3, created: 2, unchanged: 1 });
  });

  it('has a run of its own, too, where one behind its own reads the file in another way: the newest command has the last word', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A']));
    const blank = csv(['c-1,Ann,']);
    const keeping = await bench.submit('b.csv', blank);
    const clearing = await bench.submit('b.csv', blank, { options: { onBlank: 'clear' } });
    const again = await submitFile(bench.parts, join(bench.folder, 'b.csv'), noOptions, await ofMain(bench));
    expect(again).toMatchObject({ resumed: false, ahead: { run: { id: clearing.id }, options: ['--on-blank clear'] } });
    await bench.carryOut(keeping);
    expectCounts(await bench.carryOut(clearing), { rows: 1, updated: 1 });
  });

  it('says which flags do not count where it goes on with a run that was begun without them', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', rows);
    const options = { ...noOptions, accept: true, acceptReason: 'why' };
    const again = await submitFile(bench.parts, join(bench.folder, 'a.csv'), options, await ofMain(bench));
    expect(again).toMatchObject({ resumed: true, uncounted: ['--accept', '--reason'], run: { id: run.id } });
  });

  it('is read again where its run has ended, and found unchanged', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', rows);
    const again = await submitFile(bench.parts, await bench.write('a.csv', rows), noOptions, await ofMain(bench));
    expect(again.resumed).toBe(false);
    expectCounts(await bench.carryOut(again.run), { rows: 1, unchanged: 1 });
  });

  it('takes the place of its stopped run, which says so', async () => {
    const bench = await openRunsBench({
      guards: { ...generousGuards, deadMax: 0, deadFloor: 1 },
    });
    const content = csv(['c-1,Ann,A', ',nobody,A']);
    const stopped = await bench.import('a.csv', content);
    expect(stopped.state).toBe('stopped');
    const run = await bench.import('a.csv', content, { options: { accept: true } });
    expect(run.state).toBe('doneWithDead');
    expect(await bench.finish(stopped)).toMatchObject({
      state: 'cancelled',
      reason: { code: 'replaced', message: `run ${run.id} read the same file again and took its place` },
    });
  });

  it('is read anew where its run is being cancelled', async () => {
    const bench = await openRunsBench();
    const cancelled = await bench.submit('a.csv', rows);
    await bench.ledger.runs.move(cancelled.id, ['queued'], 'cancelling', { atMs: 1 });
    const again = await submitFile(bench.parts, await bench.write('a.csv', rows), noOptions, await ofMain(bench));
    expect(again.resumed).toBe(false);
    expectCounts(await bench.carryOut(again.run), { rows: 1, created: 1 });
  });

  it('keeps the options and the mapping that were named for it', async () => {
    const bench = await openRunsBench();
    const named = mapping({ name: 'named' });
    const run = await bench.submit('a.csv', rows, { options: { maxDead: 0.5, acceptReason: 'why' }, mapping: named });
    expect(run).toMatchObject({ mapping: named, options: { maxDead: 0.5, acceptReason: 'why' } });
  });

  it('is read in the generic layout where a person asks for it, whatever is configured', async () => {
    const bench = await openRunsBench({ mapping: mapping({ key: 'Nr' }) });
    expectCounts(await bench.import('a.csv', rows, { mapping: null }), { rows: 1, created: 1 });
  });

  it('that is not there is told by its name', async () => {
    const bench = await openRunsBench();
    await expect(
      submitFile(bench.parts, join(bench.folder, 'none.csv'), noOptions, await ofMain(bench)),
    ).rejects.toMatchObject({
      kind: 'file',
      code: 'fileMissing',
      message: 'none.csv is not there',
    });
    expect(await bench.ledger.runs.list({ limit: 1 })).toEqual([]);
  });

  it('that is a folder is refused', async () => {
    const bench = await openRunsBench();
    await expect(submitFile(bench.parts, bench.folder, noOptions, await ofMain(bench))).rejects.toMatchObject({
      code: 'notAFile',
    });
  });
});

describe('a file that was dropped', () => {
  it('is taken out of the import folder, and its run stands in the ledger', async () => {
    const bench = await openRunsBench();
    const folder = join(bench.folder, 'import');
    await writeFile(join(folder, 'a.csv'), rows);
    const run = await takeFile(bench.parts, { importFolder: folder, folder: null, path: join(folder, 'a.csv') });
    expect(run).toMatchObject({ feed: 'main', fileName: 'a.csv', importFolder: folder, state: 'queued' });
    expect(await bench.names('import')).toEqual([]);
    expectCounts(await bench.carryOut(run), { rows: 1, created: 1 });
    expect(await bench.names('import', '_done')).toHaveLength(2);
  });

  it('is taken under any name, also one that is not UTF-8', async () => {
    const bench = await openRunsBench();
    const folder = join(bench.folder, 'import');
    const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('Kont\xe4.csv', 'latin1')]);
    await writeFile(path, rows);
    const run = await takeFile(bench.parts, { importFolder: folder, folder: null, path });
    expect(run).toMatchObject({ fileName: 'Kont\ufffd.csv', bytes: rows.length });
    expectCounts(await bench.carryOut(run), { rows: 1, created: 1 });
    expect(await bench.names('import', '_done')).toEqual([`${run.id}__Kont_.csv`, `${run.id}__Kont_.csv.txt`]);
  });

  it('takes the place of its stopped run too', async () => {
    const bench = await openRunsBench();
    const folder = join(bench.folder, 'import');
    const first = await bench.submit('a.csv', rows);
    await bench.ledger.runs.beginStaging(first.id, 1);
    await bench.ledger.runs.move(first.id, ['staging'], 'stopped', { atMs: 1 });
    await writeFile(join(folder, 'a.csv'), rows);
    const run = await takeFile(bench.parts, { importFolder: folder, folder: null, path: join(folder, 'a.csv') });
    expect(await bench.again(first)).toMatchObject({ state: 'cancelling', reason: { facts: { by: run.id } } });
  });
});

describe('files that were claimed when the process died', () => {
  it('are entered once, under the run that claimed them', async () => {
    const bench = await openRunsBench();
    const id = newRunId(bench.world.clock.nowMs());
    const { claimed } = bench.parts.folders;
    await mkdir(claimed);
    await writeFile(join(claimed, `${id}__a.csv`), rows);
    expect(await hasOrphans(bench.parts)).toBe(true);
    expect(await enterOrphans(bench.parts)).toBe(1);
    expect(await hasOrphans(bench.parts)).toBe(false);
    expect(await enterOrphans(bench.parts)).toBe(0);
    const [run, ...others] = await bench.ledger.runs.list({ limit: 10 });
    expect(others).toEqual([]);
    expect(run).toMatchObject({ id, fileName: 'a.csv', state: 'queued' });
  });

  it('are left alone where no run claimed them', async () => {
    const bench = await openRunsBench();
    const { claimed } = bench.parts.folders;
    await mkdir(claimed);
    await writeFile(join(claimed, 'notes.txt'), 'x');
    expect(await enterOrphans(bench.parts)).toBe(0);
    expect(await bench.names('claimed')).toEqual(['notes.txt']);
  });

  it('are none where nothing was ever claimed', async () => {
    expect(await enterOrphans((await openRunsBench()).parts)).toBe(0);
  });
});

describe('copies whose run was never entered', () => {
  it('are removed after an hour; those of runs, and fresh ones, stay', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', rows);
    const stray = `${newRunId(0)}__b.csv`;
    await writeFile(join(bench.parts.folders.handedOver, stray), rows);
    await removeStrays(bench.parts);
    expect(await bench.names('handed-over')).toHaveLength(2);
    bench.world.clock.advance(3_700_000);
    await removeStrays(bench.parts);
    expect(await bench.names('handed-over')).toEqual([`${run.id}__a.csv`]);
  });
});

describe('a run’s id', () => {
  it('begins with the instant it arrived, in UTC, and sorts by it', () => {
    const early = newRunId(Date.UTC(2026, 10, 21, 14, 0, 0, 999));
    const late = newRunId(Date.UTC(2026, 10, 21, 14, 0, 1));
    expect(early).toMatch(/^20261121T140000Z-[0-9a-f]{6}$/);
    expect(early < late).toBe(true);
  });

  it('is no other one’s, however many files arrive within a second', () => {
    const nowMs = Date.UTC(2026, 10, 21, 14);
    expect(new Set(Array.from({ length: 50_000 }, () => newRunId(nowMs))).size).toBe(50_000);
  });

  it('is found again in the name of a claimed file', () => {
    expect(runIdOf('20261121T140000Z-0a1b2c__a__b.csv')).toEqual({
      runId: '20261121T140000Z-0a1b2c',
      name: 'a__b.csv',
    });
    expect(runIdOf('a.csv')).toBeNull();
    expect(runIdOf('20261121T140000Z-0a1b2c__')).toBeNull();
  });
});
