/**
 * A backup of the ledger, beside an engine at work too.
 *
 * `VACUUM INTO` copies one instant: it reads within one transaction, which writers need not wait for, and it reads each row,
 * so that a damaged ledger makes no backup. Pages that hold nothing, and with them what was deleted, stay behind. Invariant:
 * the file appears under its name whole, checked, on disk and mode 0600, or not at all; nothing is overwritten.
 */
import { randomUUID } from 'node:crypto';
import { constants, link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { LedgerCheck } from '#src/ledger/soundness.ts';
import { checkLedger, openToRead } from './check.ts';
import { ledgerTroubleOf } from './damage.ts';

/** File systems without a second name for a file say one of these. */
const noLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * @param file the ledger.
 * @param target the backup's path, which must be free.
 * @returns the check of the backup; `inconsistent` where the ledger is.
 * @throws PatchbayError `usage`: `backupExists`, `backupNotWritten`, and what `openToRead` throws; `damaged`; `transient`.
 */
export async function backUpLedger(file: string, target: string): Promise<LedgerCheck> {
  await requireFree(target);
  const temporary = join(dirname(target), `.${randomUUID()}.part`);
  try {
    // SQLite writes into a file that is there and empty, and leaves its mode as it is.
    await (await open(temporary, 'wx', 0o600)).close();
    copyInto(file, temporary);
    const check = checkLedger(temporary);
    if (check.state === 'damaged')
      throw notWritten(target, `what was written is damaged: ${check.findings[0]?.message}`);
    await syncFile(temporary);
    await giveName(temporary, target);
    return { ...check, file: target };
  } catch (error) {
    if (error instanceof PatchbayError) throw error;
    throw notWritten(target, messageOf(error), error);
  } finally {
    // A full disk leaves SQLite's journal of the copy behind as well.
    for (const ending of ['', '-journal', '-wal', '-shm']) await rm(`${temporary}${ending}`, { force: true });
    await syncFolder(dirname(target));
  }
}

function copyInto(file: string, temporary: string): void {
  try {
    using db = openToRead(file);
    db.prepare('VACUUM INTO ?').run(temporary);
  } catch (error) {
    const trouble = ledgerTroubleOf(error, file);
    if (trouble?.code === 'diskFull') {
      throw new PatchbayError('transient', 'diskFull', `the disk of ${dirname(temporary)} has no room for the backup`, {
        hint: 'Make room there, or name another folder. Nothing was left behind.',
        cause: error,
      });
    }
    throw trouble ?? error;
  }
}

async function requireFree(target: string): Promise<void> {
  if (!(await isThere(target))) return;
  throw new PatchbayError('usage', 'backupExists', `${target} is there already`, {
    hint: 'Name a file that is not there yet: nothing is overwritten.',
  });
}

/** If the name was taken in the meantime, a link is refused; a rename would overwrite the file. */
async function giveName(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!noLinks.includes(code)) throw error;
    await requireFree(target);
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
async function syncFile(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  try {
    await syncFile(path);
  } catch {
    // Windows cannot open a folder, and some file systems cannot sync one. The file itself is on disk; only its name could be
    // lost in a power cut, and then there is no backup under a wrong name either.
  }
}

function notWritten(target: string, reason: string, cause?: unknown): PatchbayError {
  return new PatchbayError('usage', 'backupNotWritten', `the backup ${target} cannot be written: ${reason}`, {
    hint: 'Name a file in a folder that is there and can be written. Nothing was left behind.',
    cause,
  });
}
