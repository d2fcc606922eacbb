/**
 * A backup of the ledger, beside an engine at work too.
 *
 * `VACUUM INTO` copies one instant: it reads within one transaction, which writers need not wait for, and it reads each row,
 * so that a damaged ledger makes no backup. Pages that hold nothing, and with them what was deleted, stay behind. Invariant:
 * the file appears under its name whole, checked, on disk and mode 0600, or not at all; nothing is overwritten.
 */
import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { LedgerCheck } from '#src/ledger/soundness.ts';
import { syncFolder } from '#src/whole-file.ts';
import { checkLedger, openToRead } from './check.ts';
import { ledgerTroubleOf } from './damage.ts';
import { giveName, requireFree, syncFile } from './new-file.ts';

/**
 * @param file the ledger.
 * @param target the backup's path, which must be free.
 * @returns the check of the backup; `inconsistent` where the ledger is.
 * @throws PatchbayError `usage`: `backupExists`, `backupNotWritten`, and what `openToRead` throws; `damaged`; `transient`.
 */
export async function backUpLedger(file: string, target: string): Promise<LedgerCheck> {
  await requireFree(target, 'backupExists');
  const temporary = join(dirname(target), `.${randomUUID()}.part`);
  try {
    // SQLite writes into a file that is there and empty, and leaves its mode as it is.
    await (await open(temporary, 'wx', 0o600)).close();
    copyInto(file, temporary);
    const check = checkLedger(temporary);
    if (check.state === 'damaged')
      throw notWritten(target, `what was written is damaged: ${check.findings[0]?.message}`);
    await syncFile(temporary);
    await giveName(temporary, target, 'backupExists');
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

function notWritten(target: string, reason: string, cause?: unknown): PatchbayError {
  return new PatchbayError('usage', 'backupNotWritten', `the backup ${target} cannot be written: ${reason}`, {
    hint: 'Name a file in a folder that is there and can be written. Nothing was left behind.',
    cause,
  });
}
