/** Takes over real parts: files in a temporary folder, a ledger in a file, servers on loopback. */
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import { configSchema } from '#src/config/schema.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { silentLogger } from '#src/log.ts';
import { createAskedWaits } from '#src/takes/asked-waits.ts';
import type { TakeParts } from '#src/takes/take.ts';
import { takeFiles } from '#src/takes/take.ts';
import { plainFeeds } from '#test/feeds/support/test-feeds.ts';
import { newLedgerFile } from '#test/ledger/support/temp-ledger.ts';

export interface TakesBench {
  readonly folder: string;
  readonly ledger: Ledger;
  readonly parts: TakeParts;
  /** In the temporary folder, last changed so many seconds after the start of 2026. */
  write(name: string, content: string, second?: number): Promise<string>;
  /** One tick of the feed `crm`. */
  take(what: string, feed?: Partial<FeedSettings>, parts?: Partial<TakeParts>): Promise<TickEnd>;
  /** Oldest first: the name and the content of each file that became a run. */
  runs(): Promise<readonly { fileName: string; content: string; run: RunRecord }[]>;
  contents(): Promise<readonly string[]>;
  /** What lies in the private folder. */
  strays(): Promise<readonly string[]>;
}

const startMs = Date.UTC(2026, 0, 1);

/** A clock whose sleepers wake at once; something may happen meanwhile. */
export function quickClock(onSleep: () => unknown = () => undefined): Clock {
  const clock = systemClock();
  return {
    ...clock,
    sleep: async (_ms, signal) => {
      await onSleep();
      signal?.throwIfAborted();
    },
  };
}

/** Closed and removed when the test ends. */
export async function openTakesBench(given: Partial<TakeParts> = {}): Promise<TakesBench> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-takes-'));
  const ledger = openSqliteLedger(newLedgerFile(folder));
  onTestFinished(async () => {
    await ledger.close();
    await rm(folder, { recursive: true, force: true });
  });
  const clock = given.clock ?? quickClock();
  const log = silentLogger();
  const importFolders = [join(folder, 'import')];
  const folders = {
    claimed: join(folder, 'claimed'),
    handedOver: join(folder, 'handed-over'),
    drafts: join(folder, 'drafts'),
    reports: join(folder, 'reports'),
    importFolders,
  };
  const feeds = plainFeeds();
  const parts: TakeParts = {
    trigger: 'due',
    ledger,
    clock,
    log,
    downloads: join(folder, 'downloads'),
    ownFolders: [join(folder, 'claimed'), join(folder, 'reports'), ...importFolders],
    download: configSchema.parse({}).download,
    env: {},
    askedWaits: createAskedWaits(clock),
    submit: { ledger, clock, log, folders, feeds, host: null, entering: new Set() },
    ...given,
  };
  const runs: TakesBench['runs'] = async () => {
    const found = (await ledger.runs.list({ feed: 'crm', limit: 1_000 })).toReversed();
    const contentOf = (run: RunRecord) => readFile(run.claimedPath, 'utf8').catch(() => 'gone');
    return Promise.all(found.map(async (run) => ({ run, fileName: run.fileName, content: await contentOf(run) })));
  };
  return {
    folder,
    ledger,
    parts,
    write: async (name, content, second = 0) => {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
      await utimes(path, startMs / 1_000 + second, startMs / 1_000 + second);
      return path;
    },
    take: async (what, feed = {}, others = {}) => {
      const settings: FeedSettings = { ...(await feeds.get('crm')), kind: 'full', take: what, ...feed };
      return takeFiles({ ...parts, ...others }, settings, new AbortController().signal);
    },
    runs,
    contents: async () => (await runs()).map(({ content }) => content),
    strays: () => readdir(join(folder, 'downloads')).catch(() => []),
  };
}
