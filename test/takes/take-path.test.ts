/** A feed that takes from one path. */
import { appendFile, mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTakesBench, quickClock } from './support/takes-bench.ts';

describe('a path', () => {
  it('is taken by a copy, and again when its file is another', async () => {
    const bench = await openTakesBench();
    const path = await bench.write('exports/crm.csv', 'one');
    expect(await bench.take(path)).toMatchObject({ outcome: 'run', runIds: [expect.any(String)] });
    expect(await bench.take(path)).toMatchObject({ outcome: 'nothingNew', code: 'fileTaken' });
    await bench.write('exports/crm.csv', 'two', 5);
    expect(await bench.take(path)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['one', 'two']);
    expect(await bench.runs()).toMatchObject([{ fileName: 'crm.csv', run: { feed: 'crm', state: 'queued' } }, {}]);
    expect(await bench.strays()).toEqual([]);
  });

  it('that is not there is nothing new: whether that is news is for `expectEvery` to say', async () => {
    const bench = await openTakesBench();
    for (const path of ['none.csv', 'none/at/all.csv']) {
      expect(await bench.take(join(bench.folder, path))).toMatchObject({ outcome: 'nothingNew', code: 'fileMissing' });
    }
  });

  it('whose file is still being written is waited for', async () => {
    let looks = 0;
    const bench = await openTakesBench({
      clock: quickClock(async () => {
        looks += 1;
        if (looks < 4) await appendFile(path, `+${looks}`);
      }),
    });
    const path = await bench.write('crm.csv', 'one');
    expect(await bench.take(path)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['one+1+2+3']);
  });

  it('whose file does not come to rest is left for the next time', async () => {
    const bench = await openTakesBench({ clock: quickClock(() => appendFile(path, '+')) });
    const path = await bench.write('crm.csv', 'one');
    expect(await bench.take(path)).toMatchObject({ outcome: 'nothingNew', code: 'fileMoving' });
    expect(await bench.contents()).toEqual([]);
  });

  it('may be a link to the latest file', async () => {
    const bench = await openTakesBench();
    const [monday] = [await bench.write('monday.csv', 'one'), await bench.write('tuesday.csv', 'two', 5)];
    const link = join(bench.folder, 'latest.csv');
    await symlink(monday, link);
    expect(await bench.take(link)).toMatchObject({ outcome: 'run' });
    await symlink('tuesday.csv', `${link}.new`);
    await rename(`${link}.new`, link);
    expect(await bench.take(link)).toMatchObject({ outcome: 'run' });
    expect(await bench.take(link)).toMatchObject({ code: 'fileTaken' });
    expect(await bench.contents()).toEqual(['one', 'two']);
  });

  it('may look like a pattern where a file is called so', async () => {
    const bench = await openTakesBench();
    await bench.write('export 1.csv', 'another');
    const path = await bench.write('export [1].csv', 'this one');
    expect(await bench.take(path)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['this one']);
  });

  it('is the same file where only its place on the disk is another', async () => {
    const bench = await openTakesBench();
    const path = await bench.write('crm.csv', 'one');
    await bench.take(path);
    await writeFile(`${path}.new`, 'one');
    await utimes(`${path}.new`, Date.UTC(2026, 0, 1) / 1_000, Date.UTC(2026, 0, 1) / 1_000);
    await rename(`${path}.new`, path);
    expect(await bench.take(path)).toMatchObject({ outcome: 'nothingNew', code: 'fileTaken' });
    expect(await bench.contents()).toEqual(['one']);
  });

  it('that can never be taken fails and says what to do', async () => {
    const bench = await openTakesBench();
    await mkdir(join(bench.folder, 'folder'));
    const end = async (name: string) => bench.take(join(bench.folder, name));
    expect(await end('folder')).toMatchObject({ outcome: 'failed', code: 'notAFile', message: /folder\/\*\.csv/ });
    await symlink('/dev/zero', join(bench.folder, 'zero.csv'));
    const device = { outcome: 'failed', code: 'notAFile', message: /zero\.csv is not a file but a device\./ };
    expect(await end('zero.csv')).toMatchObject(device);
    await symlink('round.csv', join(bench.folder, 'round.csv'));
    expect(await end('round.csv')).toMatchObject({ code: 'fileUnreadable', message: /circle/ });
    await bench.write('crm.xlsx', 'x');
    expect(await end('crm.xlsx')).toMatchObject({ outcome: 'failed', code: 'formatUnknown', message: /CSV UTF-8/ });
    await bench.write('crm.csv.part', 'x');
    expect(await end('crm.csv.part')).toMatchObject({ outcome: 'failed', code: 'formatUnknown' });
  });

  it('of a feed that names none is nothing to take', async () => {
    const bench = await openTakesBench();
    expect(await bench.take('', { take: null })).toMatchObject({ outcome: 'nothingNew', code: 'nothingToTake' });
  });
});
