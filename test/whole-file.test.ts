import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  makeFolder,
  makeFolderNow,
  removeUnfinishedFiles,
  requireWritable,
  syncingWriter,
  writeAsAsked,
  writeWholeFile,
} from '#src/whole-file.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-whole-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('writing a whole file', () => {
  it('makes the folder and the file, both readable by the owner only', async () => {
    const path = join(folder, 'deep/a.txt');
    await writeWholeFile(path, 'one');
    expect([await readFile(path, 'utf8'), await modeOf(path), await modeOf(join(folder, 'deep'))]).toEqual([
      'one',
      0o600,
      0o700,
    ]);
  });

  it('writes pieces of text and bytes in their order, and replaces an earlier file', async () => {
    const path = join(folder, 'a.txt');
    await writeWholeFile(path, 'earlier');
    await writeWholeFile(path, ['a', 'é'.repeat(70_000), Buffer.from('b'), 'c', '', Buffer.from('d')]);
    expect(await readFile(path, 'utf8')).toBe(`a${'é'.repeat(70_000)}bcd`);
    expect(await readdir(folder)).toEqual(['a.txt']);
  });

  it('leaves the earlier file and nothing else where the content fails', async () => {
    const path = join(folder, 'a.txt');
    await writeWholeFile(path, 'earlier');
    const failing = async function* () {
      yield 'x'.repeat(100_000);
      throw new Error('no more');
    };
    await expect(writeWholeFile(path, failing())).rejects.toThrow('no more');
    expect([await readFile(path, 'utf8'), await readdir(folder)]).toEqual(['earlier', ['a.txt']]);
  });

  it('leaves no temporary file where the rename fails', async () => {
    await mkdir(join(folder, 'taken/inside'), { recursive: true });
    await expect(writeWholeFile(join(folder, 'taken'), 'x')).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['taken']);
  });

  it('syncs a large file in parts while it is written, so that no commit waits for the whole of it', async () => {
    await using file = await open(join(folder, 'a.txt'), 'wx');
    const sync = vi.spyOn(file, 'datasync');
    const write = syncingWriter(file);
    const mebibyte = Buffer.alloc(1024 * 1024);
    const syncs: number[] = [];
    for (const piece of [mebibyte, mebibyte, mebibyte.toString('latin1'), mebibyte, mebibyte]) {
      await write(piece);
      syncs.push(sync.mock.calls.length);
    }
    expect(syncs).toEqual([0, 0, 0, 1, 1]);
    expect((await file.stat()).size).toBe(5 * 1024 * 1024);
  });
});

describe('a folder that cannot be made', () => {
  it('says what is in its place', async () => {
    const [link, file, target] = [join(folder, 'link'), join(folder, 'file'), join(folder, 'gone')];
    await symlink(target, link);
    await writeFile(file, '');
    for (const [path, why] of [
      [link, `${link} is a link to ${target}, which is not there`],
      [file, `${file} is a file, not a folder`],
    ] as const) {
      await expect(makeFolder(path)).rejects.toMatchObject({ message: why, code: 'EEXIST' });
      expect(() => makeFolderNow(path)).toThrow(why);
    }
  });
});

describe('a file that a person named', () => {
  it('and that the system refuses is told in words, by its path', async () => {
    await writeFile(join(folder, 'file'), 'x');
    await mkdir(join(folder, 'taken/inside'), { recursive: true });
    const told = async (path: string) => {
      const error = await writeAsAsked(path, () => writeWholeFile(path, 'x')).catch((one: unknown) => one);
      expect(error).toMatchObject({ kind: 'usage', code: 'outputNotWritten' });
      return error instanceof Error ? error.message : '';
    };
    const below = join(folder, 'file/a.html');
    expect(await told(below)).toBe(`${below} cannot be written: a file stands where a folder is needed`);
    expect(await told(join(folder, 'taken'))).toContain('a folder has this name');
    expect(await told(join(folder, `${'x'.repeat(300)}.md`))).toContain('the name is too long');
    const failing = () => Promise.reject(new Error('a defect'));
    await expect(writeAsAsked(folder, failing)).rejects.toThrow('a defect');
  });

  it.skipIf(!existsSync('/proc/self'))(
    'on Linux, is told of where no folder can be made, and nothing waits for ever',
    async () => {
      const path = '/proc/missing/below/plan.html';
      const write = () => writeWholeFile(path, 'x');
      for (const refused of [() => requireWritable(path), () => writeAsAsked(path, write)])
        await expect(refused()).rejects.toThrow('there is no such folder, and it cannot be made');
    },
  );

  it('makes the folders above it, also where two do at the same time', async () => {
    const paths = ['a.txt', 'b.txt', 'c/d.txt'].map((name) => join(folder, 'deep/down/there', name));
    await Promise.all(paths.map((path) => writeWholeFile(path, 'x')));
    expect(await Promise.all(paths.map((path) => readFile(path, 'utf8')))).toEqual(['x', 'x', 'x']);
    expect((await stat(join(folder, 'deep/down'))).mode & 0o777).toBe(0o700);
  });

  it('is tried before long work, and nothing is left of that', async () => {
    await writeFile(join(folder, 'file'), 'x');
    await requireWritable(join(folder, 'plan.html'));
    await requireWritable(join(folder, 'file'));
    expect(await readdir(folder)).toEqual(['file']);
    for (const path of [folder, join(folder, 'file/a.html'), join(folder, `${'x'.repeat(300)}.md`)])
      await expect(requireWritable(path)).rejects.toMatchObject({ kind: 'usage', code: 'outputNotWritten' });
  });
});

describe('a folder', () => {
  it('is made with those above it, for its owner only, and is left as it is where it is there', async () => {
    const deep = join(folder, 'a/b/c');
    makeFolderNow(deep);
    makeFolderNow(deep);
    await makeFolder(deep);
    for (const made of [deep, join(folder, 'a')]) expect((await stat(made)).mode & 0o777).toBe(0o700);
    await writeFile(join(folder, 'file'), 'x');
    expect(() => makeFolderNow(join(folder, 'file/below'))).toThrow(/file is a file, not a folder/);
    await expect(makeFolder(join(folder, 'file/below'))).rejects.toThrow(/file is a file, not a folder/);
  });

  it.skipIf(!existsSync('/proc/self'))('on Linux, is refused by name where none can be made', async () => {
    expect(() => makeFolderNow('/proc/missing/below')).toThrow(/ENOENT.*'\/proc\/missing'/);
    await expect(makeFolder('/proc/missing/below')).rejects.toThrow(/ENOENT.*'\/proc\/missing'/);
  });

  it('is made nowhere by `mkdir` with `recursive`, which may never end', () => {
    const files = ['src', 'jobs'].flatMap((top) =>
      readdirSync(top, { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)),
    );
    const sources = files.filter((name) => /\.(ts|mjs)$/.test(name));
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((name) => /mkdir(Sync)?\([^;]*recursive/.test(readFileSync(name, 'utf8')))).toEqual([]);
  });
});

it('removes unfinished files that are more than an hour old, in a folder that may be missing', async () => {
  const [old, young, other] = ['1', '2', '3'].map((digit) => `.${digit}e2f3a4b-0000-4000-8000-000000000000.part`);
  for (const name of [old, young]) await writeFile(join(folder, name ?? ''), 'x');
  await mkdir(join(folder, other ?? ''));
  const nowMs = Date.now() + 3_600_000;
  await utimes(join(folder, young ?? ''), new Date(nowMs), new Date(nowMs));
  await removeUnfinishedFiles(folder, nowMs + 1_000);
  expect((await readdir(folder)).sort()).toEqual([young, other]);
  await removeUnfinishedFiles(join(folder, 'missing'), nowMs);
});
