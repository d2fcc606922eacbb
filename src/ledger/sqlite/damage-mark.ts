/**
 * The mark beside a ledger that was found damaged: `ledger.sqlite.damaged`.
 *
 * One process meets the broken page; the others read pages that are whole, and would go on. The ledger itself cannot tell
 * them, so a file beside it does. Invariant: no process works on a marked ledger. The mark falls when the file at the
 * ledger's place passes SQLite's whole check, as a restored backup does: nobody has to remember it.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { PatchbayError } from '#src/errors.ts';
import { ledgerDamaged } from './ledger-trouble.ts';

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

/** What the mark says, as the error of whoever finds it; null where there is none. Cheap: a look for one file. */
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
