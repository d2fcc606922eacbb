/** Where a ledger is: a SQLite file in the data folder, or a schema of a PostgreSQL database. */
import { existsSync } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCodeOf } from '#src/errors.ts';
import type { Ledger } from './port.ts';
import { bytesOf } from './sqlite/check.ts';
import { openSqliteLedger } from './sqlite/ledger.ts';
import type { LedgerObserver } from './trouble.ts';

export type LedgerPlace =
  | { readonly kind: 'file'; readonly file: string }
  /** `suffix`: of the schema's name. The URL may hold a password. */
  | { readonly kind: 'database'; readonly url: string; readonly suffix: string };

/** Opens or creates it. @throws PatchbayError as `openSqliteLedger` and `openPostgresLedger`. */
export async function openLedger(place: LedgerPlace, observe?: LedgerObserver): Promise<Ledger> {
  if (place.kind === 'file') return openSqliteLedger(place.file, observe);
  const { openPostgresLedger } = await postgres();
  return await openPostgresLedger(place.url, observe, place.suffix);
}

/**
 * The same for a command that only shows: one that is not there yet is empty, and is not made. A name with a mistake in it would leave a folder
 * or a schema behind.
 */
export async function openLedgerToShow(place: LedgerPlace, observe?: LedgerObserver): Promise<Ledger> {
  const isEmpty = place.kind === 'file' ? await isNotThereYet(place.file) : !(await hasLedger(place));
  return isEmpty ? openSqliteLedger(':memory:', observe) : await openLedger(place, observe);
}

/** Whether it would be made, as far as can be seen: opening it says what prevents that. */
async function isNotThereYet(file: string): Promise<boolean> {
  let path = file;
  // Ends at the root.
  while (await isMissing(path)) path = dirname(path);
  if (path === file) return false;
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** A link that leads nowhere is there. */
function isMissing(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    (error: unknown) => systemCodeOf(error) === 'ENOENT',
  );
}

/** Whether there is one. Creates nothing. @throws PatchbayError where a database does not say. */
export async function hasLedger(place: LedgerPlace): Promise<boolean> {
  if (place.kind === 'file') return existsSync(place.file);
  return await (await postgres()).hasPostgresLedger(place.url, place.suffix);
}

/** For people and scripts: the file's path, or the URL without its password. */
export async function nameOfPlace(place: LedgerPlace): Promise<string> {
  if (place.kind === 'file') return place.file;
  const { parseAddress } = await import('./postgres/address.ts');
  return parseAddress(place.url, place.suffix).shown;
}

/** How much disk it takes. @throws PatchbayError `usage` `ledgerMissing` where there is none. */
export async function ledgerBytes(place: LedgerPlace): Promise<number> {
  if (place.kind === 'file') return bytesOf(place.file);
  const { postgresBytes } = await import('./postgres/check.ts');
  return await postgresBytes(place.url, place.suffix);
}

/** Loaded where it is used: most ledgers are files. */
const postgres = () => import('./postgres/ledger.ts');
