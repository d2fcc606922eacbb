/** Takes files out of the import folders while `start` runs. */
import { mkdir } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { enterOrphans, hasOrphans, takeFile } from '#src/runs/submit-run.ts';
import { type ImportFolder, watchImportFolder } from '#src/sources/import-folder.ts';

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

/** A file that is not one of ours is taken too: its run fails, and says what to do, in `_failed`. */
export async function startIntake(home: Home, onTaken: () => void): Promise<Intake> {
  const { clock, log, submit, mapping, folders } = home;
  let takingCount = 0;
  /** A file was claimed, perhaps, and not entered as a run: the ledger's disk was full, say. */
  let orphaned = false;
  const watchers: ImportFolder[] = [];
  for (const folder of folders.importFolders) {
    await makeFolder(folder);
    const take = async ({ path }: { readonly path: string }): Promise<void> => {
      takingCount += 1;
      try {
        await takeFile(submit, folder, path, mapping);
        onTaken();
      } catch (error) {
        orphaned = true;
        throw error;
      } finally {
        takingCount -= 1;
      }
    };
    watchers.push(
      watchImportFolder({
        folder,
        claimedFolder: folders.claimed,
        clock,
        log,
        onFile: take,
        onRefused: take,
        intervalMs: sweepEveryMs,
      }),
    );
  }
  const enter = async (): Promise<void> => {
    // Among files that are being taken, one that was claimed and is not entered yet is none of these.
    if (!orphaned || takingCount > 0) return;
    if ((await enterOrphans(submit)) > 0) onTaken();
    orphaned = await hasOrphans(submit);
  };
  const timer = setInterval(() => {
    enter().catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'claimed files not entered'));
  }, sweepEveryMs);
  return {
    close: async () => {
      clearInterval(timer);
      await Promise.all(watchers.map((watcher) => watcher.close()));
    },
  };
}
