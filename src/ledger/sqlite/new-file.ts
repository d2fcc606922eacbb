/** A file that appears under its name whole and on disk, or not at all, and never in the place of another one. */
import { constants, link, lstat, open, rename } from 'node:fs/promises';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';

/** File systems without a second name for a file say one of these. */
const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

const hints = {
  backupExists: 'Name a file that is not there yet: nothing is overwritten.',
  // Mostly it is the ledger of the data folder, as it was before it was copied into the database.
  copyExists:
    'Nothing is overwritten: with everything stopped, move it away, together with -wal and -shm beside it; or name a file that is not there yet.',
} as const;

/** @throws PatchbayError `usage` with that code, where something is there. */
export async function requireFree(target: string, code: 'backupExists' | 'copyExists'): Promise<void> {
  if (!(await isThere(target))) return;
  throw new PatchbayError('usage', code, `${target} is there already`, {
    hint: hints[code],
  });
}

/** If the name was taken in the meantime, a link is refused; a rename would overwrite the file. @throws as `requireFree`. */
export async function giveName(temporary: string, target: string, code: 'backupExists' | 'copyExists'): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') await requireFree(target, code);
    if (!noLinks.includes(systemCodeOf(error) ?? '')) throw error;
    await requireFree(target, code);
    await rename(temporary, target);
  }
}

/** A link that leads nowhere is there, too. */
async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    // Nothing is there, or the path cannot be read: writing the file says which, with its reason.
    return false;
  }
}

/** On disk when this returns. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
