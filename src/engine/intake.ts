/** Takes files out of the import folders while `start` runs: their own and those of the feeds' folders in them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '#src/app.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { feedNameOf } from '#src/feeds/feeds.ts';
import { enterOrphans, hasOrphans } from '#src/runs/orphans.ts';
import { takeFile } from '#src/runs/submit-run.ts';
import { type ImportFolder, watchImportFolder } from '#src/sources/import-folder.ts';
import { createFeedFolders, type FeedFolders } from './feed-folders.ts';

const sweepEveryMs = 5_000;

export interface Intake {
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
