import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  archiveFile,
  checkOutFile,
  claimFile,
  copyIntoFolder,
  hashFile,
  type Rename,
  requireReadable,
} from '#src/sources/check-out.ts';
import { safeFileName } from '#src/sources/file-name.ts';
import { writeAsAsked, writeWholeFile } from '#src/whole-file.ts';
import { errorOf, useTempFolder } from '#test/sources/temp-files.ts';
import { mountSmallDisk } from '#test/support/small-disk.ts';

const probe = mountSmallDisk(1);
probe?.close();
const reason = probe === null ? ' (skipped: no disk can be mounted here)' : '';

const folder = useTempFolder();
const otherDevice: Rename = async () => {
  throw Object.assign(new Error('cross-device'), { code: 'EXDEV' });
};
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
const text = 'id\n1\n';

describe('checking out and archiving', () => {
  it('checks out by rename, under the run and a safe name, for the owner only', async () => {
    const from = await folder.write('a b.csv', text);
    const path = await checkOutFile(from, folder.path('claimed'), 'run1');
    expect([path, await readFile(path, 'utf8'), await modeOf(path)]).toEqual([
      folder.path('claimed/run1__a b.csv'),
      text,
      0o600,
    ]);
    await expect(stat(from)).rejects.toThrow(/ENOENT/);
    expect(await checkOutFile(from, folder.path('claimed'), 'run1')).toBe(path);
    expect((await errorOf(checkOutFile(from, folder.path('claimed'), 'run2'))).code).toBe('fileMissing');
  });

  it('copies, fsyncs, renames and unlinks across devices', async () => {
    const from = await folder.write('far.csv', text);
    const path = await checkOutFile(from, folder.path('far'), 'run1', 'far.csv', otherDevice);
    expect([await readFile(path, 'utf8'), await modeOf(path), await readdir(folder.path('far'))]).toEqual([
      text,
      0o600,
      ['run1__far.csv'],
    ]);
    await expect(stat(from)).rejects.toThrow(/ENOENT/);
  });

  it('does not check out a link or a folder', async () => {
    await symlink(await folder.write('target.csv', text), folder.path('link.csv'));
    expect((await errorOf(checkOutFile(folder.path('link.csv'), folder.path('claimed'), 'run9'))).code).toBe(
      'notAFile',
    );
    expect((await errorOf(checkOutFile(folder.path('claimed'), folder.path('claimed'), 'run9'))).code).toBe('notAFile');
  });

  it('archives with parents made, and a second time after a crash', async () => {
    const from = await folder.write('claimed1', text);
    const archive = () => archiveFile(from, folder.path('_done/deep'), 'run1', '-Zoë\n😀.csv.gz');
    const path = await archive();
    expect([path, await archive(), await modeOf(path)]).toEqual([
      folder.path('_done/deep/run1__Zoë_.csv.gz'),
      path,
      0o600,
    ]);
    expect((await errorOf(archiveFile(from, folder.path('_done'), 'run2', 'a.csv'))).code).toBe('fileMissing');
  });

  it('copies a file that the user named and leaves the original, with hash and size', async () => {
    const from = await folder.write('mine.csv', text);
    await symlink(from, folder.path('named.csv'));
    const sha256 = createHash('sha256').update(text).digest('hex');
    for (const name of ['mine.csv', 'named.csv']) {
      const copy = await copyIntoFolder(folder.path(name), folder.path('copies'), 'run1');
      expect(copy).toEqual({ path: folder.path(join('copies', `run1__${name}`)), sha256, bytes: text.length });
      expect([await modeOf(copy.path), await hashFile(copy.path), await readFile(from, 'utf8')]).toEqual([
        0o600,
        sha256,
        text,
      ]);
    }
    expect((await errorOf(copyIntoFolder(folder.path('copies'), folder.path('copies'), 'r'))).code).toBe('notAFile');
    await mkdir(folder.path('My cards'));
    await writeFile(folder.path('My cards/Ada.vcf'), '');
    const ofCards = await errorOf(copyIntoFolder(folder.path('My cards'), folder.path('copies'), 'r'));
    const pattern = `'${folder.path('My cards')}'/*.vcf`;
    expect([ofCards.message, ofCards.hint]).toEqual([
      'My cards is a folder',
      `Name its files, ${pattern}, or join the cards to one file: cat ${pattern} > all.vcf`,
    ]);
    expect((await errorOf(copyIntoFolder(folder.path('none.csv'), folder.path('copies'), 'r'))).code).toBe(
      'fileMissing',
    );
    expect((await readdir(folder.path('copies'))).sort()).toEqual(['run1__mine.csv', 'run1__named.csv']);
  });

  it('refuses a file that is too large before it is copied: a hole takes no room, its copy does', async () => {
    const from = await folder.write('sparse.csv', text);
    await truncate(from, 2 * 1024 ** 3 + 1);
    const tooLarge = { kind: 'file', code: 'fileTooLarge', message: 'sparse.csv is longer than 2147483648 bytes' };
    expect(await errorOf(requireReadable(from, 'sparse.csv'))).toMatchObject(tooLarge);
    expect(await errorOf(copyIntoFolder(from, folder.path('none'), 'run1'))).toMatchObject(tooLarge);
    await expect(stat(folder.path('none'))).rejects.toThrow(/ENOENT/);
    // Of an archive less may be read than it holds.
    await requireReadable(from, 'sparse.zip');
  });

  it('copies no more of a file that grows than it had, however fast that is', async () => {
    const from = await folder.write('grows.csv', text);
    let isCopying = true;
    const copying = errorOf(copyIntoFolder(from, folder.path('grown'), 'run1')).finally(() => {
      isCopying = false;
    });
    let appended = 0;
    for (; isCopying && appended < 500; appended += 1) {
      appendFileSync(from, text.repeat(100_000));
      await new Promise(setImmediate);
    }
    expect(await copying).toMatchObject({ code: 'changedWhileRead' });
    expect(appended).toBeLessThan(500);
    expect(await readdir(folder.path('grown'))).toEqual([]);
  });
});

describe('a disk that takes no more', () => {
  it.skipIf(probe === null)(`is named, whichever way a file comes there${reason}`, async () => {
    const disk = mountSmallDisk(1);
    if (disk === null) throw new Error('a disk could be mounted a moment ago');
    onTestFinished(() => disk.close());
    const from = await folder.write('full.csv', text.repeat(2_000));
    const there = join(disk.folder, 'there');
    await mkdir(there);
    disk.fill();
    const full = { kind: 'transient', code: 'diskFull', message: `the disk of ${there} is full (ENOSPC)` };
    expect(await errorOf(copyIntoFolder(from, there, 'run1'))).toMatchObject(full);
    expect(await errorOf(checkOutFile(from, there, 'run1', 'full.csv', otherDevice))).toMatchObject(full);
    expect(await errorOf(writeWholeFile(join(there, 'report.json'), text.repeat(2_000)))).toMatchObject(full);
    expect(await readdir(there), 'nothing is left of it').toEqual([]);
    expect(await readFile(from, 'utf8'), 'the original stays').toBe(text.repeat(2_000));
    expect(await openPaths(), 'what was read is closed').not.toContain(from);
    const asked = await errorOf(writeAsAsked(join(there, 'x'), () => writeWholeFile(join(there, 'x'), text)));
    expect(asked).toMatchObject({ code: 'outputNotWritten', message: expect.stringContaining('the disk is full') });
  });

  it('is not mistaken for a file that cannot be read: a folder in the way is named itself', async () => {
    const from = await folder.write('well.csv', text);
    const file = await folder.write('in-the-way', text);
    const error = await errorOf(copyIntoFolder(from, join(file, 'below'), 'run1'));
    expect(error).toMatchObject({ kind: 'usage', code: 'folderUnusable' });
    expect(error.message).toContain(join(file, 'below'));
  });
});

/** Of the files that this process has open, as Linux tells: small disks can be mounted there alone. */
async function openPaths(): Promise<readonly string[]> {
  const descriptors = await readdir('/proc/self/fd');
  return Promise.all(descriptors.map((descriptor) => readlink(`/proc/self/fd/${descriptor}`).catch(() => '')));
}

describe('safe names', () => {
  it.each([
    ['contacts.csv', 'contacts.csv'],
    ['Zoë Müller (2).csv', 'Zoë Müller _2_.csv'],
    ['-rf.csv', 'rf.csv'],
    ['_x.csv', 'x.csv'],
    ['..', 'file'],
    ['😀.csv', 'file.csv'],
    ['a\nb\r\0.ndjson.gz', 'a_b_.ndjson.gz'],
    ['con.csv', 'file-con.csv'],
    ['LPT1.json', 'file-LPT1.json'],
    ['a/b\\c:d*.csv', 'a_b_c_d_.csv'],
    ['half\ud83d.csv', 'half_.csv'],
  ])('makes of %j the name %j', (name, safe) => {
    expect([safeFileName(name), safeFileName(safe)]).toEqual([safe, safe]);
  });

  it('cuts a name of 255 bytes between characters and keeps its ending', () => {
    const safe = safeFileName(`${'ü'.repeat(124)}.csv.gz`);
    expect([safe.endsWith('ü.csv.gz'), Buffer.byteLength(safe) <= 150, safe.isWellFormed()]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe('taking a file out of a folder that hosts share', () => {
  const foldersOf = (host: string) => ({
    folder: folder.path(`${host}/claimed`),
    beside: folder.path(`_taking/${host}`),
  });
  const answers = (code: string) => Object.assign(new Error(code), { code });

  it('is a rename: one host gets the file, and the other is told so', async () => {
    const from = await folder.write('share-one.csv', text);
    expect(await claimFile(from, foldersOf('a'), 'run1')).toBe(folder.path('a/claimed/run1__share-one.csv'));
    expect((await errorOf(claimFile(from, foldersOf('b'), 'run2'))).code).toBe('takenElsewhere');
    expect(await claimFile(from, foldersOf('a'), 'run1'), 'after a crash').toBe(
      folder.path('a/claimed/run1__share-one.csv'),
    );
  });

  it('stays within the shared folder where the data folder is on another device: a copy would claim nothing', async () => {
    const from = await folder.write('share-two.csv', text);
    const far: Rename = async (one, to) => {
      if (to.startsWith(folder.path('c/'))) throw answers('EXDEV');
      await rename(one, to);
    };
    const path = await claimFile(from, foldersOf('c'), 'run1', far);
    expect([path, await readFile(path, 'utf8'), await modeOf(path)]).toEqual([
      ...[folder.path('_taking/c/run1__share-two.csv'), text, 0o600],
    ]);
    expect((await errorOf(claimFile(from, foldersOf('d'), 'run2'))).code).toBe('takenElsewhere');
  });

  it.each(['ENOENT', 'ESTALE'])('is lost where the listing was stale: %s', async (code) => {
    const from = await folder.write('share-three.csv', text);
    const stale: Rename = async () => {
      await rm(from, { force: true });
      throw answers(code);
    };
    expect((await errorOf(claimFile(from, foldersOf('e'), 'run1', stale))).code).toBe('takenElsewhere');
  });

  it('is won where the server renamed it and its answer was lost: the same question finds nothing', async () => {
    const from = await folder.write('share-four.csv', text);
    const askedTwice: Rename = async (one, to) => {
      await rename(one, to);
      throw answers('ENOENT');
    };
    expect(await claimFile(from, foldersOf('f'), 'run1', askedTwice)).toBe(
      folder.path('f/claimed/run1__share-four.csv'),
    );
  });

  it('passes on what else goes wrong', async () => {
    const from = await folder.write('share-five.csv', text);
    const full: Rename = async () => {
      throw answers('ENOSPC');
    };
    expect(await errorOf(claimFile(from, foldersOf('g'), 'run1', full))).toMatchObject({
      kind: 'transient',
      code: 'diskFull',
    });
    const refused: Rename = async () => {
      throw answers('EACCES');
    };
    await expect(claimFile(from, foldersOf('g'), 'run1', refused)).rejects.toThrow('EACCES');
  });
});

describe('a rename that is refused', () => {
  const refused: Rename = async () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  };

  it('names the folder that lets no file go', async () => {
    await mkdir(folder.path('drop'));
    const from = await folder.write('drop/held.csv', text);
    expect(await errorOf(checkOutFile(from, folder.path('open'), 'run1', 'held.csv', refused))).toMatchObject({
      ...{ kind: 'usage', code: 'folderUnusable' },
      message: `no file can be taken out of ${folder.path('drop')}: permission denied (EACCES)`,
    });
  });

  it('names the folder that takes none', async () => {
    const from = await folder.write('held.csv', text);
    const there = folder.path('closed');
    // What cannot be entered, whoever asks.
    const closing: Rename = async (one, to) => {
      await rm(there, { recursive: true });
      return await refused(one, to);
    };
    expect(await errorOf(checkOutFile(from, there, 'run1', 'held.csv', closing))).toMatchObject({
      ...{ kind: 'usage', code: 'folderUnusable' },
      message: `no file can be stored in ${there}: permission denied (EACCES)`,
    });
  });
});
