/** Folders of feeds while `start` runs (`docs/contract.md`, "Data folder"): real files in real folders, time that runs faster. */
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import { createFeedFolders, feedFoldersMax, type IntakeHome, startIntake } from '#src/engine/intake.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { createLogger } from '#src/log.ts';
import { takeFile } from '#src/runs/enter-run.ts';
import { createGrownFiles } from '#src/runs/grown-files.ts';
import { expectOneAtATime, fakeIntervals, heldCalls } from '#test/engine/support/held-calls.ts';
import { type TestFeeds, testFeeds } from '#test/feeds/support/test-feeds.ts';
import { newLedgerFile } from '#test/ledger/support/temp-ledger.ts';
import { until } from '#test/support/until.ts';

const speed = 20;

function fastClock(): Clock {
  const system = systemClock();
  return {
    ...system,
    nowMs: () => system.nowMs() * speed,
    monotonicMs: () => system.monotonicMs() * speed,
    sleep: (ms, signal) => system.sleep(ms / speed, signal),
  };
}

async function openIntake(
  configured: NonNullable<TestFeeds['configured']> = {},
  seenAs: (ledger: Ledger) => Ledger = (ledger) => ledger,
) {
  const root = await mkdtemp(join(tmpdir(), 'patchbay-intake-'));
  const importFolder = join(root, 'import');
  await mkdir(importFolder);
  const ledger = openSqliteLedger(newLedgerFile(root));
  const logLines: string[] = [];
  const log = createLogger({ level: 'info', stream: { write: (line) => void logLines.push(line) } });
  const clock = fastClock();
  const folders = {
    claimed: join(root, 'claimed'),
    handedOver: join(root, 'handed-over'),
    drafts: join(root, 'drafts'),
    reports: join(root, 'reports'),
    importFolders: [importFolder],
  };
  const feeds = await testFeeds({ configured, importFolders: [importFolder] });
  const home: IntakeHome = {
    clock,
    log,
    feeds,
    folders: { ...folders, watched: [importFolder] },
    submit: { ledger: seenAs(ledger), clock, log, folders, feeds, host: null, entering: new Set() },
  };
  let close = async (): Promise<void> => undefined;
  onTestFinished(async () => {
    await close();
    await ledger.close();
    await rm(root, { recursive: true, force: true });
  });
  return {
    folder: importFolder,
    logLines,
    start: async () => {
      const intake = await startIntake(home, () => undefined);
      close = intake.close;
      return intake.close;
    },
    drop: async (feed: string, name: string) => {
      await mkdir(join(importFolder, feed), { recursive: true });
      await writeFile(join(importFolder, feed, name), `externalId\n${feed}-${name}\n`);
    },
    /** Feed and name of the runs, in the order of arrival. */
    runs: (count: number) =>
      until(`${count} runs`, async () => {
        const runs = (await ledger.runs.list({ limit: 100 })).toReversed();
        return runs.length >= count && runs.map((run) => [run.feed, run.fileName, run.refusal?.code ?? null]);
      }),
    submit: home.submit,
    paths: async () => (await ledger.runs.list({ limit: 100 })).toReversed().map((run) => run.claimedPath),
    hints: async () => (await ledger.runs.list({ limit: 100 })).map((run) => run.refusal?.hint ?? null),
    warned: (text: string) => logLines.filter((line) => line.includes(text)).length,
  };
}

test('a folder with three dated files is a feed, and they are taken in the order of their names', async () => {
  const intake = await openIntake();
  for (const day of ['03', '01', '02']) await intake.drop('crm', `2026-11-${day}.csv`);
  await intake.start();
  expect(await intake.runs(3)).toEqual([
    ['crm', '2026-11-01.csv', null],
    ['crm', '2026-11-02.csv', null],
    ['crm', '2026-11-03.csv', null],
  ]);
  expect(await readdir(join(intake.folder, 'crm'))).toEqual([]);
});

test('a folder that is made while it runs is watched, and one that is renamed goes on as another feed', async () => {
  const intake = await openIntake();
  await intake.start();
  await intake.drop('', 'root.csv');
  await intake.drop('crm', 'a.csv');
  expect((await intake.runs(2)).map(([feed]) => feed).toSorted()).toEqual(['crm', 'main']);
  await rename(join(intake.folder, 'crm'), join(intake.folder, 'shop'));
  await intake.drop('shop', 'b.csv');
  expect((await intake.runs(3)).at(-1)).toEqual(['shop', 'b.csv', null]);
  expect(intake.warned('cannot be read')).toBe(0);
});

test('a configured feed that takes from nowhere else gets its folder at the start', async () => {
  const intake = await openIntake({ crm: {}, shop: { take: '/exports/*.csv' } });
  await intake.start();
  expect(await readdir(intake.folder)).toEqual(['crm']);
});

test('a folder with a reserved name is told once, and what is dropped there fails with what to do', async () => {
  const intake = await openIntake();
  await intake.drop('csv', 'a.csv');
  await intake.drop('-old', 'a.csv');
  await intake.drop('_mine', 'a.csv');
  await intake.start();
  expect((await intake.runs(2)).toSorted()).toEqual([
    ['csv', 'a.csv', 'sourceRefused'],
    ['main', 'a.csv', 'feedRefused'],
  ]);
  await intake.drop('csv', 'b.csv');
  await intake.runs(3);
  expect(intake.warned('will fail')).toBe(2);
  expect(intake.warned('Rename the folder csv')).toBe(1);
  expect(await readdir(join(intake.folder, '_mine'))).toEqual(['a.csv']);
});

test('a file that goes on growing after it was taken is read again, whole', async () => {
  fakeIntervals();
  const intake = await openIntake();
  await mkdir(join(intake.folder, 'crm'));
  await using writer = await open(join(intake.folder, 'crm', 'a.csv'), 'a');
  await writer.appendFile('externalId\n1\n');
  await intake.start();
  await intake.runs(1);
  await writer.appendFile('2\n');
  await until('a second run', async () => {
    await vi.advanceTimersByTimeAsync(5_000);
    return (await intake.paths()).length === 2;
  });
  const [, again = ''] = await intake.paths();
  expect(await readFile(again, 'utf8')).toBe('externalId\n1\n2\n');
  expect(intake.warned('has grown')).toBe(1);
});

test('a file that grows is looked at wherever it was moved to, and taken again once for each time that it is at rest', async () => {
  const intake = await openIntake();
  const path = join(intake.folder, 'a.csv');
  await using writer = await open(path, 'a');
  await writer.appendFile('externalId\n1\n');
  const grown = createGrownFiles(intake.submit);
  const dropped = { importFolder: intake.folder, folder: null, path };
  const run = await takeFile(intake.submit, dropped);
  await grown.taken(dropped, run);
  // A run that has ended moves its file, and the program writes into it all the same.
  const archived = join(intake.folder, '_done', basename(run.claimedPath));
  await mkdir(dirname(archived));
  await rename(run.claimedPath, archived);
  const counts = [await grown.look()];
  for (const line of ['2\n', '3\n', '', '', '4\n', '', '']) {
    await writer.appendFile(line);
    counts.push(await grown.look());
  }
  expect(counts).toEqual([0, 0, 0, 1, 0, 0, 1, 0]);
  // A person corrects a row in place.
  await writeFile(archived, 'externalId\nx\n2\n3\n4\n5\n');
  expect([await grown.look(), await grown.look(), await grown.look()]).toEqual([0, 0, 0]);
  expect(intake.warned('not read again: it was changed, too')).toBe(1);
});

/** A file of one row that was taken, and to which a program goes on to write. */
async function openGrowing(intake: Awaited<ReturnType<typeof openIntake>>, name: string) {
  const path = join(intake.folder, name);
  const writer = await open(path, 'a');
  onTestFinished(() => writer.close());
  await writer.appendFile(`externalId\n${name}-1\n`);
  const dropped = { importFolder: intake.folder, folder: null, path };
  return { writer, dropped, run: await takeFile(intake.submit, dropped) };
}

test('a file that has grown is not read again behind a newer one of its feed, whose values it would replace', async () => {
  const intake = await openIntake();
  const grown = createGrownFiles(intake.submit);
  const monday = await openGrowing(intake, 'monday.csv');
  await grown.taken(monday.dropped, monday.run);
  const tuesday = await openGrowing(intake, 'tuesday.csv');
  await grown.taken(tuesday.dropped, tuesday.run);
  for (const { writer } of [monday, tuesday]) await writer.appendFile('2\n');
  expect([await grown.look(), await grown.look(), await grown.look()]).toEqual([0, 1, 0]);
  expect(intake.warned('newer files of the feed have followed')).toBe(1);
  expect((await intake.runs(3)).map(([, name]) => name)).toEqual(['monday.csv', 'tuesday.csv', 'tuesday.csv']);
});

test('a file that never ends is read four times, and one that is gone or replaced delays no other', async () => {
  const intake = await openIntake();
  const grown = createGrownFiles(intake.submit);
  const { writer, dropped, run } = await openGrowing(intake, 'log.csv');
  await grown.taken(dropped, run);
  let count = 0;
  for (let line = 2; line < 12; line += 1) {
    await writer.appendFile(`${line}\n`);
    for (let looks = 0; looks < 2; looks += 1) count += await grown.look();
  }
  expect([count, intake.warned('it was read 4 times')]).toEqual([3, 1]);
});

test('deeper folders are left alone, with one line', async () => {
  const intake = await openIntake();
  await mkdir(join(intake.folder, 'crm', 'old'), { recursive: true });
  await writeFile(join(intake.folder, 'crm', 'old', 'a.csv'), 'externalId\n1\n');
  await intake.start();
  await intake.drop('crm', 'b.csv');
  expect(await intake.runs(1)).toEqual([['crm', 'b.csv', null]]);
  expect(intake.warned('left alone')).toBe(1);
  expect(intake.warned('"feed":"crm","file":')).toBe(1);
});

test('a folder whose name came from another machine, and a mapping that is broken, lead to a run of the feed', async () => {
  const intake = await openIntake();
  const folder = 'Bücher'.normalize('NFD');
  await intake.drop(folder, 'a.csv');
  await writeFile(join(intake.folder, folder, '_mapping.yaml'), 'nonsense');
  await intake.start();
  expect(await intake.runs(1)).toEqual([['Bücher', 'a.csv', 'mappingInvalid']]);
  expect(await intake.hints()).toEqual([expect.stringMatching(/^Correct the mapping;.* Then drop the file again\.$/)]);
});

test('more than 200 folders are not watched, which is told once; those of the configuration come first', async () => {
  const logLines: string[] = [];
  const log = createLogger({ level: 'info', stream: { write: (line) => void logLines.push(line) } });
  const open = new Set<string>();
  const watch = (name: string) => {
    open.add(name);
    return { scan: async () => undefined, close: async () => void open.delete(name) };
  };
  const folders = createFeedFolders(await testFeeds({ configured: { zebra: {} } }), log, watch);
  const names = [...Array.from({ length: feedFoldersMax + 5 }, (_, index) => `feed ${index}`).toSorted(), 'zebra'];
  folders.found(names);
  folders.found(names);
  expect([open.size, open.has('zebra'), logLines.length]).toEqual([feedFoldersMax, true, 1]);
  const first = names.find((name) => !open.has(name));
  expect(JSON.parse(logLines[0] ?? '')).toMatchObject({ feed: first, count: names.length, limit: feedFoldersMax });
  folders.found(names.slice(100));
  expect(open.size).toBe(names.length - 100);
  await folders.close();
  expect(open.size).toBe(0);
});

test('files that were checked out while the ledger took none are entered one at a time, and none after the close', async () => {
  fakeIntervals();
  const held = heldCalls();
  let isFull = true;
  const intake = await openIntake({}, (ledger) => {
    const runs: Ledger['runs'] = {
      ...ledger.runs,
      get: async (id) => {
        await held.call();
        return ledger.runs.get(id);
      },
      create: async (...run) => {
        if (isFull) throw new PatchbayError('transient', 'diskFull', 'the disk is full');
        return ledger.runs.create(...run);
      },
    };
    return { ...ledger, runs };
  });
  await intake.drop('.', 'a.csv');
  const close = await intake.start();
  await until('a file without a run', async () => intake.warned('disk is full') > 0);
  isFull = false;
  await expectOneAtATime(held, close, 5_000);
  expect(await intake.runs(1)).toEqual([['main', 'a.csv', null]]);
});
