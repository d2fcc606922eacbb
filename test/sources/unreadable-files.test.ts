/** Files that wait in an import folder since this user may not read them: people are told of those that stay so. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import { type LookAtFile, lookAtFile } from '#src/sources/folder-entries.ts';
import { findUnreadableFiles, plainUnreadable, unreadableSentences } from '#src/sources/unreadable-files.ts';

let folder: string;
/** Names of files that may not be read. Tests may run as a user who may read everything. */
let denied: readonly string[];

const look: LookAtFile = async (path) =>
  denied.includes(basename(String(path))) ? { kind: 'unreadable', reason: 'EACCES' } : await lookAtFile(path);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-unreadable-'));
  await mkdir(join(folder, 'crm'));
  await mkdir(join(folder, '_done'));
  for (const name of ['a.csv', 'b.csv', 'c.csv.part', 'crm/d.csv', '_done/e.csv'])
    await writeFile(join(folder, name), 'externalId\n');
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function found(laterMs: number, clock: Pick<Clock, 'monotonicMs'> = systemClock()): Promise<readonly string[]> {
  const later = { ...clock, nowMs: () => systemClock().nowMs() + laterMs };
  const files = await findUnreadableFiles({ watched: [folder], claimed: join(folder, 'claimed') }, later, look);
  return files.map(({ path }) => path.slice(folder.length + 1));
}

describe('files that may not be read', () => {
  it('are found at the top and in the folders of feeds, once they have not changed for a minute', async () => {
    denied = ['b.csv', 'c.csv.part', 'd.csv', 'e.csv'];
    expect(await found(50_000)).toEqual([]);
    expect(await found(61_000)).toEqual(['b.csv', 'crm/d.csv']);
    denied = ['d.csv'];
    expect(await found(61_000)).toEqual(['crm/d.csv']);
    await rm(join(folder, 'crm'), { recursive: true });
    expect(await found(61_000)).toEqual([]);
  });

  it('are not looked for without end', async () => {
    denied = ['b.csv'];
    let looked = 0;
    const slow = { monotonicMs: () => 2_000 * looked++ };
    expect(await found(61_000, slow)).toEqual([]);
  });

  it('are none in a folder that is not there', async () => {
    const gone = { watched: [join(folder, 'gone')], claimed: join(folder, 'claimed') };
    expect(await findUnreadableFiles(gone, systemClock())).toEqual([]);
  });

  it('are named, five of them, and only counted for readers without a token', () => {
    const files = [1, 2, 3, 4, 5, 6].map((number) => ({ path: `/in/${number}.csv`, reason: 'EACCES' }));
    const [first, ...others] = unreadableSentences(files);
    expect(first).toBe(
      '/in/1.csv cannot be read (EACCES): it is not taken. Give it to the user who runs Patchbay, or let that user read it.',
    );
    expect([others.length, others.at(-1)]).toEqual([5, 'The import folder has 1 file more that cannot be read.']);
    expect(plainUnreadable(files)).toEqual([
      'The import folder has 6 files that cannot be read; to see which: patchbay status',
    ]);
    expect([unreadableSentences([]), plainUnreadable([])]).toEqual([[], []]);
  });
});
