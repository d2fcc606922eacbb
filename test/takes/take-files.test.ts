/** A feed that takes from a glob or from a path. */
import { appendFile, copyFile, mkdir, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PatchbayError } from '#src/errors.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { chooseFiles } from '#src/takes/take-files.ts';
import { openTakesBench, quickClock, type TakesBench } from './support/takes-bench.ts';

const pattern = (bench: TakesBench, rest = '*.csv') => join(bench.folder, 'exports', rest);
const delta = { kind: 'delta' } as const;

describe('a glob of full exports', () => {
  it('takes the newest file not yet taken; older ones are passed over for good', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/b.csv', 'old', 1);
    await bench.write('exports/a.csv', 'new', 2);
    const message = '1 older file was skipped';
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'run', message });
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'nothingNew', code: 'fileTaken' });
    await bench.write('exports/c.csv', 'newer', 3);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'run', message: null });
    // Also where each file counts from now on.
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'nothingNew', code: 'fileTaken' });
    expect(await bench.contents()).toEqual(['new', 'newer']);
  });

  it('never takes an older file after a newer one', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/today.csv', 'new', 9);
    await bench.take(pattern(bench));
    await rm(pattern(bench, 'today.csv'));
    await bench.write('exports/late.csv', 'late', 8);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'nothingNew', code: 'fileOlder' });
    await bench.write('exports/today.csv', 'put back', 7);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'nothingNew', code: 'fileOlder' });
    await bench.write('exports/next.csv', 'between', 8);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'nothingNew', code: 'fileOlder' });
    expect(await bench.contents()).toEqual(['new']);
  });

  it('takes from another folder what is older than all it took before', async () => {
    const bench = await openTakesBench();
    await bench.write('wrong/today.csv', 'wrong', 9);
    await bench.take(join(bench.folder, 'wrong', '*.csv'));
    await bench.write('exports/crm.csv', 'right', 1);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'run' });
    await bench.write('exports/old.csv', 'old', 0);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'nothingNew', code: 'fileOlder' });
    expect(await bench.contents()).toEqual(['wrong', 'right']);
  });

  it('refuses a file that is too large before it is copied, without its name', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/sparse.csv', 'a', 1);
    await truncate(pattern(bench, 'sparse.csv'), 2 * 1024 ** 3 + 1);
    expect(await bench.take(pattern(bench))).toMatchObject({
      ...{ outcome: 'failed', code: 'fileTooLarge', message: 'a file to take is longer than 2147483648 bytes' },
    });
    expect(await bench.contents()).toEqual([]);
  });

  it('is not held up for ever by a file from the future', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/future.csv', 'future', 3_000_000_000);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'run' });
    const second = (Date.now() - Date.UTC(2026, 0, 1)) / 1_000;
    await bench.write('exports/now.csv', 'now', second + 60);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['future', 'now']);
  });

  it('waits for the newest rather than to take an older one', async () => {
    const bench = await openTakesBench({ clock: quickClock(() => appendFile(pattern(bench, 'b.csv'), '+')) });
    await bench.write('exports/a.csv', 'old', 1);
    await bench.write('exports/b.csv', 'new', 2);
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'nothingNew', code: 'fileMoving' });
    expect(await bench.contents()).toEqual([]);
  });

  it('takes the older one after all where the newest is gone before it came to rest', async () => {
    let grows = true;
    const grow = async () => {
      if (grows) await appendFile(pattern(bench, 'b.csv'), '+');
    };
    const bench = await openTakesBench({ clock: quickClock(grow) });
    await bench.write('exports/a.csv', 'old', 1);
    await bench.write('exports/b.csv', 'new', 2);
    expect(await bench.take(pattern(bench))).toMatchObject({ code: 'fileMoving' });
    grows = false;
    await rm(pattern(bench, 'b.csv'));
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['old']);
  });
});

describe('a glob of what changed', () => {
  it('says of a file that comes late that it is older than the one taken last', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/b.csv', 'newer', 2);
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'run', message: null });
    await bench.write('exports/a.csv', 'late', 1);
    await bench.write('exports/c.csv', 'newest', 3);
    const message =
      '1 file is older than the one taken last: what newer ones said of the same people may be overwritten';
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ runIds: { length: 2 }, message });
  });

  it('passes a file over that is too large where others are taken, and says so', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/a.csv', 'a', 1);
    await truncate(pattern(bench, 'a.csv'), 2 * 1024 ** 3 + 1);
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'failed', code: 'fileTooLarge' });
    await bench.write('exports/b.csv', 'right', 2);
    const taken = await bench.take(pattern(bench), delta);
    expect(taken).toMatchObject({ runIds: { length: 1 }, message: expect.stringContaining('1 file was skipped') });
    expect(await bench.contents()).toEqual(['right']);
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'nothingNew' });
  });

  it('takes all that were not taken yet, oldest first', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/b.csv', 'first', 1);
    await bench.write('exports/a.csv', 'second', 2);
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ runIds: { length: 2 } });
    await bench.write('exports/late.csv', 'third', 0);
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ runIds: { length: 1 } });
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'nothingNew', code: 'fileTaken' });
    expect(await bench.contents()).toEqual(['first', 'second', 'third']);
  });

  it('takes so many at once, and the rest the next time', async () => {
    const bench = await openTakesBench({ limits: { filesPerTickMax: 2 } });
    for (const name of ['a', 'b', 'c']) await bench.write(`exports/${name}.csv`, name, 1);
    const message = '1 more file waits for the next time';
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'run', message });
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'run', message: null });
    expect(await bench.contents()).toEqual(['a', 'b', 'c']);
  });

  it('takes those before the one that is still being written', async () => {
    const bench = await openTakesBench({ clock: quickClock(() => appendFile(pattern(bench, 'b.csv'), '+')) });
    for (const [second, name] of ['a', 'b', 'c'].entries()) await bench.write(`exports/${name}.csv`, name, second);
    expect(await bench.take(pattern(bench), delta)).toMatchObject({
      outcome: 'run',
      message: expect.stringMatching(/still being written/),
    });
    expect(await bench.contents()).toEqual(['a']);
  });
});

describe('a glob', () => {
  it('knows *, ?, [a-z], {a,b} and **', async () => {
    const bench = await openTakesBench();
    await bench.write('exports/2026/01/a1.csv', 'a1', 1);
    await bench.write('exports/2026/b2.json', 'b2', 2);
    await bench.write('exports/c3.csv', 'c3', 3);
    for (const rest of ['**/*.csv', '2026/??.json', '[a-c]3.*', '{x,2026}/b2.{csv,json}']) {
      expect(await bench.take(pattern(bench, rest), delta)).toMatchObject({ outcome: expect.any(String) });
    }
    expect(await bench.contents()).toEqual(['a1', 'c3', 'b2']);
  });

  it('looks at regular files alone: no folder, no link, no hidden or unfinished file', async () => {
    const bench = await openTakesBench();
    await bench.write('elsewhere/secret.csv', 'secret');
    await mkdir(pattern(bench, 'folder.csv'), { recursive: true });
    await symlink(join(bench.folder, 'elsewhere/secret.csv'), pattern(bench, 'link.csv'));
    await symlink(join(bench.folder, 'elsewhere'), pattern(bench, 'linked'));
    for (const name of ['.hidden.csv', '_own.csv', 'a.csv.part', 'b.csv~', '~$c.csv']) {
      await bench.write(`exports/${name}`, name);
    }
    for (const rest of ['*', '**', '*/*', '**/*.csv']) {
      expect(await bench.take(pattern(bench, rest), delta)).toMatchObject({ code: 'fileMissing' });
    }
    const links = {
      code: 'fileMissing',
      message: expect.stringMatching(/links and folders are taken only if a path names them/),
    };
    expect(await bench.take(pattern(bench, 'l*.csv'))).toMatchObject(links);
    // The way through a link that the pattern itself names is meant.
    expect(await bench.take(pattern(bench, 'linked/*.csv'))).toMatchObject({ outcome: 'run' });
  });

  it('without a match is nothing new; with names that cannot be read alone it fails', async () => {
    const bench = await openTakesBench();
    const folderMissing = { outcome: 'nothingNew', code: 'fileMissing', message: expect.stringMatching(/folder/) };
    expect(await bench.take(pattern(bench))).toMatchObject(folderMissing);
    await bench.write('exports/a.xls', 'x');
    expect(await bench.take(pattern(bench))).toMatchObject({ outcome: 'nothingNew', code: 'fileMissing' });
    expect(await bench.take(pattern(bench, '*'))).toMatchObject({ outcome: 'failed', code: 'formatUnknown' });
    await bench.write('exports/a.csv', 'a');
    expect(await bench.take(pattern(bench, '*'))).toMatchObject({ outcome: 'run' });
  });

  it('that matches too much, leads through too much or takes too long fails', async () => {
    const bench = await openTakesBench();
    for (const name of ['a', 'b', 'c']) await bench.write(`exports/${name}.csv`, name);
    const end = (limits: object) => bench.take(pattern(bench, '**/*.csv'), {}, { limits });
    expect(await end({ matchesMax: 2 })).toMatchObject({ outcome: 'failed', code: 'tooManyMatches' });
    expect(await end({ entriesMax: 2 })).toMatchObject({ outcome: 'failed', code: 'tooManyEntries' });
    expect(await end({ globMaxMs: -1 })).toMatchObject({ outcome: 'failed', code: 'globTooSlow' });
  });
});

/** A feed that takes from one path. */
describe('a glob below a folder whose name looks like one', () => {
  it.each(['one [x]', 'a{b}c', 'what?', 'star*'])(
    '%s: what is advised for it takes its newest file, and no older one',
    async (name) => {
      const bench = await openTakesBench();
      await bench.write(`${name}/a.csv`, 'new', 2);
      const failure = await bench.take(join(bench.folder, name)).catch((error: unknown) => error);
      const [, advised] = /a pattern such as (.+)\.$/.exec((failure as PatchbayError).hint ?? '') ?? [];
      expect(advised).toBe(join(bench.folder, name, '*.csv'));
      expect(await bench.take(advised ?? '')).toMatchObject({ outcome: 'run' });
      await bench.write(`${name}/late.csv`, 'late', 1);
      expect(await bench.take(advised ?? '')).toMatchObject({ outcome: 'nothingNew', code: 'fileOlder' });
      expect(await bench.contents()).toEqual(['new']);
    },
  );

  it('is a pattern where no folder is called so', async () => {
    const bench = await openTakesBench();
    await bench.write('one x/a.csv', 'new', 2);
    expect(await bench.take(join(bench.folder, 'one [x]', '*.csv'))).toMatchObject({ outcome: 'run' });
  });
});

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

  it('is waited for some minutes where it is due, and for some seconds where a person waits', async () => {
    const waited = { due: 0, request: 0 };
    for (const trigger of ['due', 'request'] as const) {
      const clock = quickClock(async () => {
        waited[trigger] += 1;
        await appendFile(path, '+');
      });
      const bench = await openTakesBench({ clock, trigger });
      const path = await bench.write('crm.csv', 'one');
      const message = `a file at ${path} is still being written: it is looked at again when the feed is due next`;
      expect(await bench.take(path)).toMatchObject({ code: 'fileMoving', message });
    }
    expect(waited).toEqual({ due: 300, request: 10 });
  });

  it('whose file does not come to rest is left for the next time', async () => {
    const bench = await openTakesBench({ clock: quickClock(() => appendFile(path, '+')) });
    const path = await bench.write('crm.csv', 'one');
    expect(await bench.take(path)).toMatchObject({ outcome: 'nothingNew', code: 'fileMoving' });
    expect(await bench.contents()).toEqual([]);
  });

  it('does not hold up files of a pattern that are at rest', async () => {
    let waitedSeconds = 0;
    const grow = async (): Promise<void> => {
      waitedSeconds += 1;
      await appendFile(join(bench.folder, 'exports', 'b.csv'), '+');
    };
    const bench = await openTakesBench({ clock: quickClock(grow) });
    await bench.write('exports/a.csv', 'one');
    await bench.write('exports/b.csv', 'two', 5);
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['one']);
    expect(waitedSeconds).toBeLessThanOrEqual(10);
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

  it('that is a link back to an earlier file says when that was taken, and a copy of it is taken', async () => {
    let aheadMs = 0;
    const quick = quickClock();
    const bench = await openTakesBench({ clock: { ...quick, nowMs: () => quick.nowMs() + aheadMs } });
    const [monday] = [await bench.write('monday.csv', 'one'), await bench.write('tuesday.csv', 'two', 5)];
    const link = join(bench.folder, 'latest.csv');
    const lead = async (target: string): Promise<void> => {
      await symlink(target, `${link}.new`);
      await rename(`${link}.new`, link);
      aheadMs += 60_000;
    };
    for (const target of ['monday.csv', 'tuesday.csv']) {
      await lead(target);
      expect(await bench.take(link)).toMatchObject({ outcome: 'run' });
    }
    await lead('monday.csv');
    const message = expect.stringMatching(
      /was taken at .{16}Z, and another one at .{16}Z: .*a copy of it under another name/,
    );
    expect(await bench.take(link)).toMatchObject({ code: 'fileTaken', message });
    await copyFile(monday, join(bench.folder, 'again.csv'));
    await lead('again.csv');
    expect(await bench.take(link)).toMatchObject({ outcome: 'run' });
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
    expect(await end('folder')).toMatchObject({
      outcome: 'failed',
      code: 'notAFile',
      hint: expect.stringMatching(/folder\/\*\.csv/),
    });
    await symlink('/dev/zero', join(bench.folder, 'zero.csv'));
    const device = {
      outcome: 'failed',
      code: 'notAFile',
      message: expect.stringMatching(/zero\.csv is not a file but a device$/),
    };
    expect(await end('zero.csv')).toMatchObject(device);
    await symlink('round.csv', join(bench.folder, 'round.csv'));
    expect(await end('round.csv')).toMatchObject({ code: 'fileUnreadable', message: expect.stringMatching(/circle/) });
    await bench.write('crm.xls', 'x');
    expect(await end('crm.xls')).toMatchObject({
      outcome: 'failed',
      code: 'formatUnknown',
      hint: expect.stringMatching(/CSV UTF-8/),
    });
    await bench.write('crm.csv.part', 'x');
    expect(await end('crm.csv.part')).toMatchObject({ outcome: 'failed', code: 'formatUnknown' });
  });

  it('that leads into folders of Patchbay leaves alone what is in them', async () => {
    const bench = await openTakesBench();
    const [importFolder = ''] = bench.parts.ownFolders.slice(2);
    await bench.write('exports/crm.csv', 'export', 1);
    await mkdir(join(importFolder, '_done'), { recursive: true });
    await writeFile(join(importFolder, '_done', 'crm.csv'), 'archived');
    await bench.write('reports/r.json', '{}', 5);
    expect(await bench.take(join(bench.folder, '**', '*.{csv,json}'))).toMatchObject({ outcome: 'run', message: null });
    expect(await bench.contents()).toEqual(['export']);
    // A pattern that begins there means what people put there, and no archives.
    await writeFile(join(importFolder, 'put.csv'), 'put there');
    expect(await bench.take(join(importFolder, '**', '*.csv'), delta)).toMatchObject({ outcome: 'run' });
    expect(await bench.contents()).toEqual(['export', 'put there']);
  });

  it('of a feed that names none is nothing to take', async () => {
    const bench = await openTakesBench();
    expect(await bench.take('', { take: null })).toMatchObject({ outcome: 'nothingNew', code: 'nothingToTake' });
  });
});

/** Which files of a glob are taken. */
const file = (path: string, modifiedAtMs: number): SeenFile => ({ path, modifiedAtMs, fingerprint: `print ${path}` });
const files = [file('/b', 20), file('/a', 10), file('/d', 30), file('/c', 30)];
const choose = (kind: 'full' | 'delta', newestTaken: SeenFile | null = null, some = files, filesMax = 100) => {
  const { take, passOver, waitingCount } = chooseFiles({ kind, files: some, newestTaken, filesMax });
  return { take: take.map(({ path }) => path), passOver: passOver.map(({ path }) => path), waitingCount };
};

describe('of files that each hold all', () => {
  it('the newest is taken, ties by name; the older ones are passed over', () => {
    expect(choose('full')).toEqual({ take: ['/d'], passOver: ['/a', '/b', '/c'], waitingCount: 0 });
  });

  it('of which the newest are empty, the newest with content goes first, and the empty ones wait', () => {
    const empty = (path: string, modifiedAtMs: number): SeenFile => ({
      ...file(path, modifiedAtMs),
      fingerprint: '0:1:2',
    });
    const some = [...files, empty('/e', 40), empty('/f', 50)];
    expect(choose('full', null, some)).toEqual({ take: ['/d'], passOver: ['/a', '/b', '/c'], waitingCount: 2 });
    // Once nothing newer has content they are taken, for the guards to see.
    expect(choose('full', file('/d', 30), some)).toMatchObject({ take: ['/f'], waitingCount: 0 });
    expect(choose('full', null, [empty('/e', 40)])).toMatchObject({ take: ['/e'] });
  });

  it('none is taken that is older than the one taken last', () => {
    expect(choose('full', file('/e', 30))).toEqual({ take: [], passOver: ['/a', '/b', '/c', '/d'], waitingCount: 0 });
    expect(choose('full', file('/c', 30)).take).toEqual(['/d']);
    expect(choose('full', null, []).take).toEqual([]);
  });
});

describe('of files that hold what changed', () => {
  it('all are taken, oldest first, also those that came late', () => {
    expect(choose('delta', file('/e', 30)).take).toEqual(['/a', '/b', '/c', '/d']);
  });

  it('those beyond the limit wait for the next time', () => {
    expect(choose('delta', null, files, 3)).toEqual({ take: ['/a', '/b', '/c'], passOver: [], waitingCount: 1 });
  });
});
