import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { silentLogger } from '#src/log.ts';
import { expireFiles, newRunId } from '#src/runs/run-files.ts';

const dayMs = 86_400_000;
const runAged = (days: number): string => newRunId(Date.now() - days * dayMs);

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'patchbay-expire-'));
});
afterEach(() => rm(root, { recursive: true }));

async function put(path: string): Promise<void> {
  await mkdir(join(root, path, '..'), { recursive: true });
  await writeFile(join(root, path), 'x');
}

const expire = () =>
  expireFiles(
    { clock: systemClock(), log: silentLogger(), runs: { get: async () => null } },
    {
      claimed: join(root, 'claimed'),
      handedOver: join(root, 'handed-over'),
      drafts: join(root, 'drafts'),
      reports: join(root, 'reports'),
      importFolders: [join(root, 'import')],
    },
    30 * dayMs,
  );

describe('files with people’s data', () => {
  it('are deleted after the time they are kept, from archives, fix-files and reports', async () => {
    await put(`import/_done/${runAged(31)}__a.csv`);
    await put(`import/_fix/${runAged(31)}__a.csv`);
    await put(`import/_failed/${runAged(31)}__a.csv.reason.txt`);
    await put(`reports/${runAged(31)}.json`);
    expect(await expire()).toBe(4);
    expect(await readdir(join(root, 'reports'))).toEqual([]);
  });

  it('stay until then', async () => {
    await put(`import/_done/${runAged(29)}__a.csv`);
    expect(await expire()).toBe(0);
  });

  it('are deleted in drafts of plans whose process died, after a day', async () => {
    await put('drafts/stray/a.csv');
    await put('drafts/at-work/b.csv');
    const agedS = (Date.now() - dayMs) / 1_000 - 60;
    await utimes(join(root, 'drafts/stray'), agedS, agedS);
    expect(await expire()).toBe(1);
    expect(await readdir(join(root, 'drafts'))).toEqual(['at-work']);
  });

  it('stay where a person put them there', async () => {
    await put('import/_done/notes.csv');
    await put('import/waiting.csv');
    expect(await expire()).toBe(0);
  });
});
