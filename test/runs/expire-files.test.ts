import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { createLogger, silentLogger } from '#src/log.ts';
import { expireFiles, removeOld } from '#src/runs/expire-files.ts';
import { newRunId } from '#src/runs/run-files.ts';

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

function capturedLog() {
  const written: string[] = [];
  const log = createLogger({ level: 'info', stream: { write: (line) => void written.push(line) } });
  return { log, lines: () => written.map((line) => JSON.parse(line)) };
}

const expire = (log = silentLogger()) =>
  expireFiles(
    { clock: systemClock(), log, runs: { get: async () => null } },
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

  it('are deleted although other folders cannot be looked through; a log line names each of these', async () => {
    await put('drafts');
    await put('import/_done');
    await put(`import/_fix/${runAged(31)}__a.csv`);
    await put(`reports/${runAged(31)}.json`);
    const { log, lines } = capturedLog();
    expect(await expire(log)).toBe(2);
    expect(lines().slice(0, 2)).toMatchObject([
      { level: 'warn', msg: 'old files not deleted', folder: join(root, 'drafts'), code: 'ENOTDIR' },
      { level: 'warn', msg: 'old files not deleted', folder: join(root, 'import/_done'), code: 'ENOTDIR' },
    ]);
  });

  it('are deleted beside one that cannot be, which a log line shows by its run or by a hash', async () => {
    const kept = `${runAged(31)}__Ada Lovelace.csv`;
    for (const name of [kept, `${runAged(31)}__b.csv`, 'Ada.txt', 'other']) await put(`import/_done/${name}`);
    const refuse = async (path: string) => {
      if (path.includes('Ada')) throw Object.assign(new Error(path), { code: 'EACCES' });
      await rm(path);
    };
    const { log, lines } = capturedLog();
    expect(await removeOld(join(root, 'import/_done'), () => true, { log, remove: refuse })).toBe(2);
    expect((await readdir(join(root, 'import/_done'))).toSorted()).toEqual([kept, 'Ada.txt'].toSorted());
    expect(lines()).toMatchObject([{ code: 'EACCES', files: 2, folder: join(root, 'import/_done') }]);
    expect(JSON.stringify(lines())).not.toContain('Ada');
    const isNamedAtRandom = true;
    const later = capturedLog();
    await removeOld(join(root, 'import/_done'), () => true, { log: later.log, remove: refuse, isNamedAtRandom });
    expect(JSON.stringify(later.lines())).toContain('Ada');
  });

  it('stay where a person put them there', async () => {
    await put('import/_done/notes.csv');
    await put('import/waiting.csv');
    expect(await expire()).toBe(0);
  });
});
