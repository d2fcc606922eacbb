/** A feed that takes from a glob. */
import { appendFile, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
});

describe('a glob of what changed', () => {
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
    expect(await bench.take(pattern(bench), delta)).toMatchObject({ outcome: 'run', message: /still being written/ });
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
    const links = { code: 'fileMissing', message: /links and folders are not taken/ };
    expect(await bench.take(pattern(bench, 'l*.csv'))).toMatchObject(links);
    // The way through a link that the pattern itself names is meant.
    expect(await bench.take(pattern(bench, 'linked/*.csv'))).toMatchObject({ outcome: 'run' });
  });

  it('without a match is nothing new; with names that cannot be read alone it fails', async () => {
    const bench = await openTakesBench();
    const folderMissing = { outcome: 'nothingNew', code: 'fileMissing', message: /folder/ };
    expect(await bench.take(pattern(bench))).toMatchObject(folderMissing);
    await bench.write('exports/a.xlsx', 'x');
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
