/**
 * Trouble of the ledger's file: trouble that passes (another process holds the file, or its disk is full or fails), and
 * damage, which does not.
 *
 * Invariant: such an error leaves no half transaction behind. Work that meets passing trouble ends early and is tried again;
 * a process that meets damage stops, and the file is not touched again.
 *
 * Only one process meets the broken page; the others read whole pages and would continue. So the first one leaves a mark
 * beside the ledger, `ledger.sqlite.damaged`. Invariant: no process works on a marked ledger. The mark is removed when the
 * file in the ledger's place passes SQLite's full check, as a restored backup does: it never has to be removed by hand.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { PatchbayError } from '#src/errors.ts';
import { passing } from '#src/ledger/trouble.ts';

/** Primary result codes of SQLite; the upper bits of an extended code say more. */
const primary = { busy: 5, locked: 6, readOnly: 8, ioError: 10, corrupt: 11, full: 13, notADatabase: 26 } as const;
/** The shared index of the log could not grow: a full disk too. */
const shmSize = 4_874;
/** A read that ended early, a checksum that does not fit, a file system that says it is damaged: none of them heals. */
const ioDamage: readonly number[] = [522, 8_202, 8_458];

/**
 * The error in our words; null where it is another one. `file` is the ledger's path.
 * Kind `transient`: `ledgerBusy`, `diskFull`, `ledgerReadOnly`, `ledgerIoFails`; kind `damaged`: `ledgerDamaged`.
 */
export function ledgerTroubleOf(error: unknown, file: string): PatchbayError | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  const code = Number(error.errcode);
  if (ioDamage.includes(code)) return ledgerDamaged(file, error.message, error);
  switch (code === shmSize ? primary.full : code & 0xff) {
    case primary.corrupt:
    case primary.notADatabase:
      return ledgerDamaged(file, error.message, error);
    case primary.busy:
    case primary.locked:
      return passing('ledgerBusy', 'another process holds the ledger and does not let go', error);
    case primary.full:
      return passing('diskFull', 'the disk has no room for the ledger', error);
    case primary.readOnly:
      return ledgerReadOnly(file, error);
    case primary.ioError:
      return passing('ledgerIoFails', `the ledger's disk fails: ${error.message}`, error, { sqliteCode: code });
    default:
      return null;
  }
}

/** Of a file that this user may not write, or not in its folder. */
export function ledgerReadOnly(file: string, cause: unknown): PatchbayError {
  return passing('ledgerReadOnly', `this user may not write the ledger ${file}, or not in its folder`, cause);
}

/** `what`: what SQLite says of it. */
export function ledgerDamaged(file: string, what: string, cause?: unknown): PatchbayError {
  return new PatchbayError('damaged', 'ledgerDamaged', `the ledger ${file} is damaged: ${what}`, {
    hint: 'Stop Patchbay, run `patchbay ledger check`, and put a backup in its place (docs/operations.md, "Backup and restore").',
    cause,
  });
}

/** Far above the longest message. */
const markCharsMax = 2_000;

export function markOf(file: string): string {
  return `${file}.damaged`;
}

/** Leaves the mark. Never throws. */
export function markDamaged(file: string, { message }: PatchbayError): void {
  if (isInMemory(file)) return;
  try {
    writeFileSync(markOf(file), `${message}\n`, { mode: 0o600 });
  } catch {
    // The disk takes nothing any more: this process ends its work all the same, and the others will meet the disk.
  }
}

/** What the mark says, as the error of the process that finds it; null where there is none. Cheap: a look for one file. */
export function damageTold(file: string): PatchbayError | null {
  if (isInMemory(file) || !existsSync(markOf(file))) return null;
  const message = readMark(file);
  const [, what = 'another process met broken pages'] = /is damaged: (.*)/.exec(message) ?? [];
  return ledgerDamaged(file, what);
}

export function liftMark(file: string): void {
  rmSync(markOf(file), { force: true });
}

function readMark(file: string): string {
  try {
    return readFileSync(markOf(file), 'utf8').slice(0, markCharsMax);
  } catch {
    // Lifted or replaced in this instant: that it was there is enough.
    return '';
  }
}

function isInMemory(file: string): boolean {
  return file === ':memory:';
}
