/** Newer files that match a glob and cannot be taken are told: the export may have gone there (`docs/operations.md`, "Feeds"). */
import { chmod, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { leftInWords, newerLeft } from '#src/takes/left-matches.ts';
import { openTakesBench } from './support/takes-bench.ts';

async function openExports() {
  const bench = await openTakesBench();
  await bench.write('exports/crm-1.csv', 'one', 1);
  const pattern = join(bench.folder, 'exports', '*');
  return { ...bench, pattern, look: () => bench.take(pattern) };
}

it('a newer workbook of another program is named when its feed has nothing new, and beside what is taken', async () => {
  const { look, ...bench } = await openExports();
  await bench.write('exports/crm-2.ods', 'x', 3);
  const left = '1 newer file has a name that cannot be read (.ods)';
  expect(await look()).toMatchObject({ outcome: 'run', message: left });
  const message = `all files at ${bench.pattern} that can be taken have been taken before; ${left}`;
  expect(await look()).toMatchObject({ outcome: 'nothingNew', code: 'fileTaken', message });
  // Once a newer export can be read, it is no news.
  await bench.write('exports/crm-4.csv', 'four', 4);
  expect(await look()).toMatchObject({ outcome: 'run', message: null });
});

it('a newer link is named, unless it leads to a file that is taken', async () => {
  const { look, ...bench } = await openExports();
  await symlink('crm-1.csv', join(bench.folder, 'exports', 'latest.csv'));
  await symlink('nowhere.csv', join(bench.folder, 'exports', 'broken.csv'));
  expect(await look()).toMatchObject({ outcome: 'run', message: null });
  await symlink(await bench.write('elsewhere.csv', 'x', 9), join(bench.folder, 'exports', 'crm-2.csv'));
  const message = expect.stringMatching(/before; 1 newer file is a link, which only a path can name$/);
  expect(await look()).toMatchObject({ outcome: 'nothingNew', message });
});

it('what stands beside an export under its name, and what is older, is not named', async () => {
  const { look, ...bench } = await openExports();
  await bench.write('exports/crm-1.csv.md5', 'x', 9);
  await bench.write('exports/crm-0.xls', 'x', 0);
  expect(await look()).toMatchObject({ outcome: 'run', message: null });
  expect(await look()).toMatchObject({ message: `all files at ${bench.pattern} have been taken before` });
});

it.skipIf(process.getuid?.() === 0)(
  'a newer file without the right to read it fails the look (skipped for root)',
  async () => {
    const { look, ...bench } = await openExports();
    await chmod(await bench.write('exports/crm-2.csv', 'two', 2), 0);
    expect(await look()).toMatchObject({ outcome: 'run', message: '1 newer file cannot be opened' });
    expect(await look()).toMatchObject({
      outcome: 'failed',
      code: 'fileUnreadable',
      message: expect.stringMatching(/1 newer file cannot be opened/),
    });
    await rm(join(bench.folder, 'exports', 'crm-2.csv'), { force: true });
  },
);

it('those that are left are counted by what is in the way, newest beside all that can be taken or was', async () => {
  const left = [
    { why: 'rights', path: '/a', modifiedAtMs: 7 },
    { why: 'rights', path: '/b', modifiedAtMs: 8 },
    { why: 'name', path: '/c.ODS', modifiedAtMs: 9 },
    { why: 'name', path: '/c.so long an ending', modifiedAtMs: 9 },
    { why: 'rights', path: '/d', modifiedAtMs: 6 },
  ] as const;
  const file = { path: '/f.csv', fingerprint: '1:2', modifiedAtMs: 5 };
  expect(leftInWords(await newerLeft(left, [file], { path: '/g.csv', modifiedAtMs: 6 }))).toEqual([
    '2 newer files cannot be opened',
    '2 newer files have names that cannot be read (.ods)',
  ]);
  expect(await newerLeft(left, [file], { path: '/g.csv', modifiedAtMs: 9 })).toEqual([]);
});
