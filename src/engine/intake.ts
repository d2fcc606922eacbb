/** Takes files out of the import folders while `start` runs. */
import { mkdir } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { takeFile } from '#src/runs/submit-run.ts';
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
  const watchers: ImportFolder[] = [];
  for (const folder of folders.importFolders) {
    await makeFolder(folder);
    const take = async ({ path }: { readonly path: string }): Promise<void> => {
      await takeFile(submit, folder, path, mapping);
      onTaken();
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
  return {
    close: async () => {
      await Promise.all(watchers.map((watcher) => watcher.close()));
    },
  };
}
