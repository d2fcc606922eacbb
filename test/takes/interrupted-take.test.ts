/** A process that dies in the middle of a take loses no file and makes no second run of the same content. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import type { TakeLedger } from '#src/ledger/takes.ts';
import { removeStrayDownloads } from '#src/takes/enter.ts';
import type { TakeParts } from '#src/takes/take.ts';
import { takeFiles } from '#src/takes/take.ts';
import { csvText, startFileServer } from './support/file-server.ts';
import { openTakesBench, quickClock, type TakesBench } from './support/takes-bench.ts';

/** The ledger of a process that dies when it comes to that step. */
function dyingAt(bench: TakesBench, step: keyof TakeLedger): Pick<TakeParts, 'ledger'> {
  const dies = () => Promise.reject(new Error('killed'));
  return { ledger: { ...bench.ledger, takes: { ...bench.ledger.takes, [step]: dies } } };
}

async function finish(bench: TakesBench): Promise<void> {
  for (const { run } of await bench.runs()) await bench.ledger.runs.move(run.id, ['queued'], 'done', { atMs: 1 });
}

describe('a take that was cut off', () => {
  it('before its run was entered takes the file again', async () => {
    const bench = await openTakesBench();
    const path = await bench.write('crm.csv', 'one');
    await expect(bench.take(path, {}, dyingAt(bench, 'begin'))).rejects.toThrow('killed');
    expect(await bench.contents()).toEqual([]);
    expect(await bench.take(path)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['one']);
  });

  it.each(['at work', 'ended'])('before it was noted finds its run, which is %s', async (state) => {
    const bench = await openTakesBench();
    const path = await bench.write('crm.csv', 'one');
    await expect(bench.take(path, {}, dyingAt(bench, 'noteFile'))).rejects.toThrow('killed');
    if (state === 'ended') await finish(bench);
    const [entered] = await bench.runs();
    expect(await bench.take(path)).toMatchObject({ outcome: 'run', runIds: [entered?.run.id] });
    expect(await bench.runs()).toHaveLength(1);
    expect(await bench.take(path)).toMatchObject({ code: 'fileTaken' });
    expect(await bench.strays()).toEqual([]);
  });

  it('from a URL asks again, and finds its run', async () => {
    const server = await startFileServer();
    const { parts } = await openTakesBench();
    const bench = await openTakesBench({ download: { ...parts.download, privateAddresses: true } });
    const url = `${server.origin}/crm.csv`;
    const given = { clock: systemClock() };
    await expect(bench.take(url, {}, { ...given, ...dyingAt(bench, 'noteUrl') })).rejects.toThrow('killed');
    await finish(bench);
    expect(await bench.take(url, {}, given)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual([csvText]);
    expect(await bench.take(url, {}, given)).toMatchObject({ outcome: 'nothingNew', code: 'sameContent' });
  });

  it('leaves files that the next process removes before its first take, and no take of another file does', async () => {
    const bench = await openTakesBench();
    const downloads = join(bench.folder, 'downloads');
    await mkdir(downloads);
    await writeFile(join(downloads, 'half.part'), 'half');
    // The wall clock jumps while something else is downloaded.
    const clock = quickClock();
    await bench.take('/none.csv', {}, { clock: { ...clock, nowMs: () => clock.nowMs() + 3_700_000 } });
    expect(await bench.strays()).toEqual(['half.part']);
    expect(await removeStrayDownloads(bench.parts.downloads, bench.parts.log)).toBe(1);
    expect(await bench.strays()).toEqual([]);
  });

  it('is not carried on by a process that stops', async () => {
    const stop = new AbortController();
    const bench = await openTakesBench({ clock: quickClock(() => stop.abort(new Error('stopping'))) });
    const feed = { ...(await bench.parts.submit.feeds.get('crm')), take: await bench.write('crm.csv', 'one') };
    await expect(takeFiles(bench.parts, feed, stop.signal)).rejects.toThrow('stopping');
    expect(await bench.contents()).toEqual([]);
  });
});
