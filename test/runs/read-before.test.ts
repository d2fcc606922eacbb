/** The ledger was restored to a moment before a run had read its file, which has ended since (`docs/operations.md`, "Backup and restore"). */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { backUpLedger } from '#src/ledger/sqlite/back-up.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { submitFile } from '#src/runs/enter-run.ts';
import { expireFiles } from '#src/runs/expire-files.ts';
import { finishCancelled } from '#src/runs/finish-run.ts';
import { csv, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';

const rows = csv(fillers(3));
const restoredWords = 'the ledger was restored to a moment before this file had been read to its end';

/** A run that ended by `end` after the backup, and the parts of a bench on that backup. */
async function restoredAfter(end: (bench: RunsBench, run: RunRecord) => Promise<RunRecord>, content = rows) {
  const bench = await openRunsBench();
  const run = await bench.submit('a.csv', content);
  const backup = join(bench.folder, 'backup.sqlite');
  await backUpLedger(bench.world.ledgerFile, backup);
  const ended = await end(bench, run);
  const ledger = openSqliteLedger(backup);
  onTestFinished(() => ledger.close());
  const parts = { ...bench.parts, ledger };
  const archived = join(bench.folder, 'import', '_done', `${run.id}__a.csv`);
  const stage = async (): Promise<RunRecord> => {
    await bench.stage((await ledger.runs.get(run.id)) as RunRecord, { parts });
    return (await ledger.runs.get(run.id)) as RunRecord;
  };
  const earlier = join(bench.folder, 'reports', `${run.id}.earlier.json`);
  const earlierReport = async () => JSON.parse(await readFile(earlier, 'utf8'));
  return { bench, run, ended, parts, archived, stage, earlier, earlierReport };
}

const carryOut = (bench: RunsBench, run: RunRecord) => bench.carryOut(run);
const cancel = async (bench: RunsBench, run: RunRecord): Promise<RunRecord> => {
  await bench.stage(run);
  await bench.ledger.runs.move(run.id, ['applying'], 'cancelling', { atMs: bench.world.clock.nowMs() });
  await finishCancelled(bench.parts, run.id);
  return bench.again(run);
};

describe('a run that has ended since the backup', () => {
  it('reads its file again from the archive, and keeps the report of what it did', async () => {
    const { bench, run, ended, stage, earlier, earlierReport } = await restoredAfter(carryOut);
    expect(ended).toMatchObject({ state: 'done', counts: { created: 3 } });
    const now = await stage();
    expect(now).toMatchObject({ state: 'applying', counts: { rows: 3 } });
    expect(now.notes).toContain(`${restoredWords}: what became of it then is in ${earlier}`);
    expect(await readFile(run.claimedPath, 'utf8')).toBe(rows);
    expect(await bench.names('import', '_done')).toEqual([]);
    expect(await earlierReport()).toMatchObject({ state: 'done', created: 3 });
    expect(await bench.names('reports')).toEqual([`${run.id}.earlier.changes.csv`, `${run.id}.earlier.json`]);
    // Interrupted now, it is read once more from where it is.
    expect(await stage()).toMatchObject({ state: 'applying' });
  });

  it('says so where its file is not kept any more, and leaves the report', async () => {
    const { bench, archived, stage, earlier, earlierReport } = await restoredAfter(carryOut);
    await rm(archived);
    const now = await stage();
    expect(now).toMatchObject({
      state: 'failed',
      reason: {
        code: 'endedBefore',
        message: `a.csv is not read: ${restoredWords}; its run ended then, and the file is not kept as it came`,
        hint: `If its contacts are to be written, import the file again. What became of it then is in ${earlier}.`,
      },
    });
    expect(await earlierReport()).toMatchObject({ state: 'done', created: 3 });
    expect((await bench.report(now)).state).toBe('failed');
  });

  it('reads no file in its place that is another one by now', async () => {
    const { archived, stage } = await restoredAfter(carryOut);
    await writeFile(archived, csv(fillers(2)));
    expect((await stage()).reason?.code).toBe('endedBefore');
    expect(await readFile(archived, 'utf8')).toBe(csv(fillers(2)));
  });

  it('is not begun again where a person cancelled it then, unless the file is brought again', async () => {
    const { archived, stage } = await restoredAfter(cancel);
    const { state, reason } = await stage();
    expect([state, reason?.code]).toEqual(['failed', 'endedBefore']);
    expect(reason?.message).toContain('its run was cancelled then');
    expect(reason?.hint).toContain(`drop the file in again: ${archived}`);
    expect(await readFile(archived, 'utf8')).toBe(rows);
    const again = await restoredAfter(cancel);
    const path = await again.bench.write('b.csv', rows);
    const choice = { feed: await again.parts.feeds.get('main') };
    expect((await submitFile(again.parts, path, noOptions, choice)).run.id).toBe(again.run.id);
    expect(await again.stage()).toMatchObject({ state: 'applying', counts: { rows: 3 } });
    expect(await again.bench.names('import', '_done')).toEqual([]);
  });

  it('goes on with the file that a person brings where its own is not kept, and leaves that of any other run', async () => {
    const { bench, run, archived, parts, stage } = await restoredAfter(carryOut);
    await rm(archived);
    const path = await bench.write('b.csv', rows);
    const bring = async () => submitFile(parts, path, noOptions, { feed: await parts.feeds.get('main') });
    expect((await bring()).run.id).toBe(run.id);
    expect(await bench.names('handed-over')).toEqual([`${run.id}__a.csv`]);
    expect(await stage()).toMatchObject({ state: 'applying' });
    await rm(run.claimedPath);
    expect((await bring()).run.id).toBe(run.id);
    expect(await bench.names('handed-over')).toEqual([]);
  });

  it('fails again for the same reason where it failed then', async () => {
    const { bench, run, ended, stage } = await restoredAfter(carryOut, csv(['x'], 'a,b'));
    expect(ended).toMatchObject({ state: 'failed', reason: { code: 'keyColumnMissing' } });
    expect((await stage()).reason).toEqual(ended.reason);
    expect(await bench.names('import', '_failed')).toEqual([`${run.id}__a.csv`, `${run.id}__a.csv.reason.txt`]);
    expect(await bench.names('reports')).toEqual([`${run.id}.json`]);
  });

  it('keeps its report and its file where another process ends it while its staging begins', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', rows);
    const { giveBackEnded } = bench.ledger.deadLetters;
    const deadLetters = {
      ...bench.ledger.deadLetters,
      giveBackEnded: async (...given: Parameters<typeof giveBackEnded>) => {
        deadLetters.giveBackEnded = giveBackEnded;
        await bench.carryOut(run);
        return await giveBackEnded(...given);
      },
    };
    const parts = { ...bench.parts, ledger: { ...bench.ledger, deadLetters } };
    await bench.stage(run, { parts });
    const ended = await bench.again(run);
    expect(ended).toMatchObject({ state: 'done', counts: { created: 3 } });
    expect(ended.notes.join()).not.toContain(restoredWords);
    expect(await bench.names('reports')).toEqual([`${run.id}.changes.csv`, `${run.id}.json`]);
    expect(await bench.names('import', '_done')).toContain(`${run.id}__a.csv`);
    expect(await bench.names('handed-over')).toEqual([]);
  });

  it('takes no file of the data folder that its own is a copy of', async () => {
    const { bench, run, parts, archived } = await restoredAfter(carryOut);
    const copy = join(bench.folder, 'copy');
    const folders = {
      ...{ claimed: join(copy, 'claimed'), handedOver: join(copy, 'handed-over'), drafts: join(copy, 'drafts') },
      ...{ reports: join(copy, 'reports'), importFolders: [join(copy, 'import')] },
    };
    await bench.stage((await parts.ledger.runs.get(run.id)) as RunRecord, { parts: { ...parts, folders } });
    expect((await parts.ledger.runs.get(run.id))?.reason?.code).toBe('fileMissing');
    expect(await readFile(archived, 'utf8')).toBe(rows);
  });

  it('leaves its report as long as its other files, and no longer', async () => {
    const { bench, run, parts, stage } = await restoredAfter(carryOut);
    await stage();
    const { ledger, clock, log, folders } = parts;
    const expire = (nowMs: number) =>
      expireFiles({ clock: { nowMs: () => nowMs }, log, runs: ledger.runs, audits: ledger.audits }, folders, 1_000);
    await ledger.runs.move(run.id, ['applying'], 'cancelled', { atMs: clock.nowMs() });
    expect(await expire(clock.nowMs())).toBe(0);
    expect(await expire(clock.nowMs() + 2_000)).toBe(2);
    expect(await bench.names('reports')).toEqual([]);
  });
});
