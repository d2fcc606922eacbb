/**
 * Takes files out of the import folders while `start` runs: those at the top, and those in the folders of feeds.
 *
 * A feed's folder is watched as long as it exists. A folder whose name is not a valid feed name, or whose feed has an invalid
 * mapping, is watched as well: files dropped there go to `_failed` with the reason, so that no file is ignored.
 */
import { join } from 'node:path';
import type { Home } from '#src/app.ts';
import { within } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type Feeds, feedNameOf } from '#src/feeds/feeds.ts';
import type { Logger } from '#src/log.ts';
import { every } from '#src/repeat.ts';
import { enterOrphans, hasOrphans, takeFile } from '#src/runs/enter-run.ts';
import { createGrownFiles, type GrownFiles } from '#src/runs/grown-files.ts';
import type { EntryPath } from '#src/sources/folder-entries.ts';
import { type ImportFolder, watchImportFolder } from '#src/sources/import-folder.ts';
import { makeFolder } from '#src/whole-file.ts';

const sweepEveryMs = 5_000;
const growthStopMsMax = 2_000;

interface Intake {
  /** Waits for files being taken. */
  close(): Promise<void>;
}

async function makeImportFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    throw new PatchbayError(
      'usage',
      'importFolderUnusable',
      `${folder} cannot be used as the import folder: ${messageOf(error)}`,
      {
        hint: 'Set PATCHBAY_IMPORT to another folder, or check the rights of this one.',
        cause: error,
      },
    );
  }
}

export type IntakeHome = Pick<Home, 'clock' | 'log' | 'submit' | 'feeds'> & {
  readonly folders: Pick<Home['folders'], 'claimed' | 'watched'>;
};

export interface GrowthWatch {
  /** Begins no more, and waits for what is under way, for that long: a file system that does not answer must not delay the stop. */
  stop(deadlineMs: number): Promise<void>;
}

/** Looks every five seconds for files that have grown since they were taken. @param mayLook absent: always. */
export function lookForGrown(
  grown: Pick<GrownFiles, 'look'>,
  log: Logger,
  onTaken: () => void,
  mayLook: () => boolean = () => true,
): GrowthWatch {
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    if (mayLook() && (await grown.look(stopping.signal)) > 0) onTaken();
  };
  const looks = every(sweepEveryMs, look, (error) =>
    log.debug({ reason: messageOf(error) }, 'files that were taken not looked at'),
  );
  return {
    stop: async (deadlineMs) => {
      stopping.abort();
      await within(deadlineMs, looks.stop());
    },
  };
}

/** A file that cannot be an export is taken too: its run fails, and a note in `_failed` says what to do. */
export async function startIntake(home: IntakeHome, onTaken: () => void): Promise<Intake> {
  const { clock, log, submit, feeds, folders } = home;
  /** A file may be checked out without being entered as a run, for example because the ledger's disk was full. */
  let orphaned = false;
  const grown = createGrownFiles(submit);
  const taking =
    (importFolder: string, folder: string | null) =>
    async ({ path }: { readonly path: EntryPath }): Promise<void> => {
      try {
        const dropped = { importFolder, folder, path };
        const run = await takeFile(submit, dropped);
        onTaken();
        await grown
          .taken(dropped, run)
          .catch((error: unknown) => log.debug({ run: run.id, reason: messageOf(error) }, 'file is not watched'));
      } catch (error) {
        // In a folder that hosts share each file is taken once.
        if (error instanceof PatchbayError && error.code === 'takenElsewhere') {
          log.debug({ code: error.code }, 'another host was faster');
          return;
        }
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

  for (const folder of folders.watched) await makeImportFolder(folder);
  await makeFoldersOfFeeds(home);
  const watched = folders.watched.map((folder) => {
    const feedFolders = createFeedFolders(feeds, log, (name) => watchFolder(folder, name));
    return { root: watchFolder(folder, null, feedFolders.found), feedFolders };
  });
  const enter = async (): Promise<void> => {
    if (!orphaned) return;
    if ((await enterOrphans(submit)) > 0) onTaken();
    orphaned = await hasOrphans(submit);
  };
  const entering = every(sweepEveryMs, enter, (error) =>
    log.debug({ reason: messageOf(error) }, 'checked-out files not entered'),
  );
  const growing = lookForGrown(grown, log, onTaken);
  return {
    close: async () => {
      await Promise.all([entering.stop(), growing.stop(growthStopMsMax), ...watched.map(({ root }) => root.close())]);
      await Promise.all(watched.map(({ feedFolders }) => feedFolders.close()));
    },
  };
}

/** Shows people where to drop the files of a configured feed that does not fetch them itself. */
async function makeFoldersOfFeeds({ feeds, folders }: IntakeHome): Promise<void> {
  const folder = folders.watched.at(-1);
  if (folder === undefined) return;
  for (const { name, take } of feeds.configured) if (take === null) await makeImportFolder(join(folder, name));
}

/** Folders of feeds watched in one import folder. */
export const feedFoldersMax = 200;

interface FeedFolders {
  /** Must be called after each scan, with the names of all folders. */
  readonly found: (names: readonly string[]) => void;
  /** Waits for files being taken. */
  close(): Promise<void>;
}

export function createFeedFolders(feeds: Feeds, log: Logger, watch: (name: string) => ImportFolder): FeedFolders {
  const watched = new Map<string, ImportFolder>();
  const closing = new Set<Promise<void>>();
  let closed = false;
  let warnedOfMany = false;

  const warnOfMany = (names: readonly string[]): void => {
    const count = names.length;
    const first = names.find((name) => !watched.has(name));
    if (first !== undefined && !warnedOfMany) {
      const hint = 'Files in the ignored folders wait. Remove folders that are no longer used.';
      log.warn(
        { count, limit: feedFoldersMax, feed: feedNameOf(first), hint },
        'too many folders in the import folder: this feed and others are ignored',
      );
    }
    warnedOfMany = first !== undefined;
  };
  /** Reports early what the first file in the folder would report. */
  const warnOfTrouble = async (name: string): Promise<void> => {
    try {
      await feeds.ofFolder(name);
    } catch (error) {
      const [code, hint] = error instanceof PatchbayError ? [error.code, error.hint] : ['unknown', null];
      log.warn(
        { feed: feedNameOf(name), code, reason: messageOf(error), hint },
        'files dropped into this folder of the import folder will fail',
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
      // Configured feeds come first.
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
