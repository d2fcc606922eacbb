/** Takes files out of the import folders while `start` runs: their own and those of the feeds' folders in them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '#src/app.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type Feeds, feedNameOf } from '#src/feeds/feeds.ts';
import type { Logger } from '#src/log.ts';
import { enterOrphans, hasOrphans, takeFile } from '#src/runs/enter-run.ts';
import { type ImportFolder, watchImportFolder } from '#src/sources/import-folder.ts';

const sweepEveryMs = 5_000;

interface Intake {
  close(): Promise<void>;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new PatchbayError(
      'usage',
      'importFolderUnusable',
      `${folder} cannot be used as import folder: ${messageOf(error)}`,
      {
        hint: 'Name another folder with PATCHBAY_IMPORT, or make room for this one.',
        cause: error,
      },
    );
  }
}

/** What the intake needs of a home. */
export type IntakeHome = Pick<Home, 'clock' | 'log' | 'submit' | 'feeds'> & {
  readonly folders: Pick<Home['folders'], 'claimed' | 'importFolders'>;
};

/** A file that is not one of ours is taken too: its run fails, and says what to do, in `_failed`. */
export async function startIntake(home: IntakeHome, onTaken: () => void): Promise<Intake> {
  const { clock, log, submit, feeds, folders } = home;
  /** A file was claimed, perhaps, and not entered as a run: the ledger's disk was full, say. */
  let orphaned = false;
  const taking =
    (importFolder: string, folder: string | null) =>
    async ({ path }: { readonly path: string }): Promise<void> => {
      try {
        await takeFile(submit, { importFolder, folder, path });
        onTaken();
      } catch (error) {
        orphaned = true;
        throw error;
      }
    };
  const watchFolder = (importFolder: string, folder: string | null, onFolders?: FeedFolders['found']): ImportFolder => {
    const take = taking(importFolder, folder);
    return watchImportFolder({
      folder: folder === null ? importFolder : join(importFolder, folder),
      checkedOutFolder: folders.claimed,
      clock,
      log: folder === null ? log : log.child({ feed: feedNameOf(folder) }),
      onFile: take,
      onRefused: take,
      intervalMs: sweepEveryMs,
      mayVanish: folder !== null,
      ...(onFolders === undefined ? {} : { onFolders }),
    });
  };

  for (const folder of folders.importFolders) await makeFolder(folder);
  await makeFoldersOfFeeds(home);
  const watched = folders.importFolders.map((folder) => {
    const feedFolders = createFeedFolders({ feeds, log, watch: (name) => watchFolder(folder, name) });
    return { root: watchFolder(folder, null, feedFolders.found), feedFolders };
  });
  const enter = async (): Promise<void> => {
    if (!orphaned) return;
    if ((await enterOrphans(submit)) > 0) onTaken();
    orphaned = await hasOrphans(submit);
  };
  const timer = setInterval(() => {
    enter().catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'claimed files not entered'));
  }, sweepEveryMs);
  return {
    close: async () => {
      clearInterval(timer);
      await Promise.all(watched.map(({ root }) => root.close()));
      await Promise.all(watched.map(({ feedFolders }) => feedFolders.close()));
    },
  };
}

/** So that people see where to drop the files of a configured feed that takes them from nowhere else. */
async function makeFoldersOfFeeds({ feeds, folders }: IntakeHome): Promise<void> {
  const folder = folders.importFolders.at(-1);
  if (folder === undefined) return;
  for (const { name, take } of feeds.configured) if (take === null) await makeFolder(join(folder, name));
}

/**
 * The folders of feeds in one import folder: each is watched from when it is there until it is gone.
 *
 * A folder whose name no feed can have, or whose feed has a broken mapping, is watched too: what is dropped there goes to
 * `_failed` with the reason. Nothing passes in silence.
 */
export const feedFoldersMax = 200;

interface FeedFolders {
  /** Told again and again which folders there are. */
  readonly found: (names: readonly string[]) => void;
  /** Waits for what is at work. */
  close(): Promise<void>;
}

interface FeedFoldersOptions {
  readonly feeds: Feeds;
  readonly log: Logger;
  readonly watch: (name: string) => ImportFolder;
}

export function createFeedFolders({ feeds, log, watch }: FeedFoldersOptions): FeedFolders {
  const watched = new Map<string, ImportFolder>();
  const closing = new Set<Promise<void>>();
  let closed = false;
  let toldOfMany = false;

  const warnOfMany = (names: readonly string[]): void => {
    const count = names.length;
    const first = names.find((name) => !watched.has(name));
    if (first !== undefined && !toldOfMany) {
      const hint = 'Files in the others wait. Remove folders that are not used any more.';
      log.warn(
        { count, limit: feedFoldersMax, feed: feedNameOf(first), hint },
        'too many folders in the import folder: this feed and others are left alone',
      );
    }
    toldOfMany = first !== undefined;
  };
  /** The first look at a folder tells early what the first file in it would tell. */
  const warnOfTrouble = async (name: string): Promise<void> => {
    try {
      await feeds.ofFolder(name);
    } catch (error) {
      const [code, hint] = error instanceof PatchbayError ? [error.code, error.hint] : ['unknown', null];
      log.warn(
        { feed: feedNameOf(name), code, reason: messageOf(error), hint },
        'what is dropped into this folder of the import folder will fail',
      );
    }
  };
  const stopWatching = (name: string, folder: ImportFolder): void => {
    watched.delete(name);
    const end = folder.close().finally(() => closing.delete(end));
    closing.add(end);
  };

  return {
    found: (names) => {
      if (closed) return;
      const there = new Set(names);
      for (const [name, folder] of watched) if (!there.has(name)) stopWatching(name, folder);
      const configured = new Set(feeds.configured.map((feed) => feed.name));
      const fresh = names.filter((name) => !watched.has(name));
      // Feeds that somebody wrote down come first.
      for (const name of fresh.toSorted(
        (left, right) => Number(configured.has(right)) - Number(configured.has(left)),
      )) {
        if (watched.size >= feedFoldersMax) break;
        watched.set(name, watch(name));
        void warnOfTrouble(name);
      }
      warnOfMany(names);
    },
    close: async () => {
      closed = true;
      for (const [name, folder] of watched) stopWatching(name, folder);
      await Promise.all(closing);
    },
  };
}
