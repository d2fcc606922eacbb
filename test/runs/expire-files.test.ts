import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { createLogger, silentLogger } from '#src/log.ts';
import { type ExpiryParts, expireFiles, removeOld } from '#src/runs/expire-files.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { openForTest } from '#test/contracts/support/opened-ledger.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';

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

const expire = (
  log = silentLogger(),
  { runs, audits }: Pick<ExpiryParts, 'runs' | 'audits'> = {
    ...{ runs: { get: async () => null }, audits: { ofRun: async () => [] } },
  },
) =>
  expireFiles(
    { clock: systemClock(), log, runs, audits },
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

  it('stay as long after the end of a run that had waited, and those of an audit after its end', async () => {
    const { ledger } = await openForTest(openTempLedger);
    const dayOf = (days: number): number => Date.now() - days * dayMs;
    const ended = async (days: number): Promise<string> => {
      const id = runAged(60);
      await ledger.runs.create(newRun(id, { createdAtMs: dayOf(60) }));
      await ledger.runs.move(id, ['queued'], 'failed', { atMs: dayOf(days) });
      for (const path of [`import/_fix/${id}__a.csv`, `reports/${id}.json`, `reports/${id}.audit.json`])
        await put(path);
      return id;
    };
    const [late, early, audited] = [await ended(29), await ended(31), await ended(31)];
    const { id } = await ledger.audits.demand({ runId: audited, atMs: dayOf(30), dueAtMs: dayOf(30) });
    await ledger.audits.finish(id, dayOf(29));
    expect(await expire(silentLogger(), ledger)).toBe(5);
    expect(await readdir(join(root, 'import/_fix'))).toEqual([`${late}__a.csv`]);
    const reports = [`${late}.json`, `${late}.audit.json`, `${audited}.audit.json`];
    expect((await readdir(join(root, 'reports'))).toSorted()).toEqual(reports.toSorted());
    expect(reports.some((name) => name.startsWith(early))).toBe(false);
  });

  it('stay where a person put them there', async () => {
    await put('import/_done/notes.csv');
    await put('import/waiting.csv');
    expect(await expire()).toBe(0);
  });
});
