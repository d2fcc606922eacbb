/**
 * How the processes on a ledger know of each other: registrations of the engine and of worker processes, and the engine's
 * lock.
 *
 * A registration is not a lock: a killed process leaves its registration behind. Whether its owner is alive follows from
 * its identity (`process-identity.ts`), from the engine's lock, and for a worker from its last sign of life.
 */
import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import { makeFolderNow } from '#src/whole-file.ts';
import { passing } from './trouble.ts';

/** Where the engine's queue is. The path of a socket in the data folder is relative to it. */
export type QueuePlace =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'port'; readonly host: string; readonly port: number }
  /** The Redis of `REDIS_URL`, which is not stored because it may hold a password. */
  | { readonly kind: 'redis' };

/** Values of settings as they are written. */
export type WrittenSettings = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** The settings by which an engine decides what is written and what is stopped, from its start to its end. No secret is among them. */
export interface FollowedSettings {
  /** By key, such as `guards.updatesMax`. */
  readonly general: WrittenSettings;
  /** Of a feed that says nothing itself, by name such as `kind`. */
  readonly ofAnyFeed: WrittenSettings;
  /** What feeds say themselves, by name such as `kind` or `guards.updatesMax`; no feed that says nothing. */
  readonly ofFeeds: Readonly<Record<string, WrittenSettings>>;
}

/** Where worker processes find the engine. Holds no key and no password. */
export interface EngineRegistration {
  /** `ProcessIdentity.name`, and a suffix that distinguishes two engines of one process. */
  readonly identity: string;
  /** Of the sandbox too. */
  readonly serviceOrigin: string;
  readonly queue: QueuePlace;
  readonly startedAtMs: number;
  /** Absent in what older versions wrote. */
  readonly followed?: FollowedSettings;
  /** Its last sign of life while runs were at work, by the wall clock. */
  readonly seenAtMs?: number;
}

export interface WorkerRegistration {
  /** `ProcessIdentity.name`. */
  readonly identity: string;
  readonly startedAtMs: number;
  /** Its last sign of life, by the ledger's clock. */
  readonly seenAtMs: number;
}

/** How often an engine with work, and a worker, renews its registration. */
export const signEveryMs = 5_000;
/** Three renewals: a worker that was silent for longer counts as gone. */
const workerSilentMaxMs = 15_000;

/** The workers that are alive at `nowMs` on the ledger's clock, as far as can be known. */
export function liveWorkers(
  registrations: readonly WorkerRegistration[],
  nowMs: number,
  isDead: (identity: string) => boolean,
): readonly WorkerRegistration[] {
  return registrations.filter(({ identity, seenAtMs }) => nowMs - seenAtMs < workerSilentMaxMs && !isDead(identity));
}

/**
 * One engine per data folder (`docs/contract.md`): an open exclusive transaction on a small database is a lock that the
 * operating system gives back at any death of its holder.
 */
export interface EngineLock {
  release(): void;
}

/**
 * Takes the lock, or answers null where another process holds it.
 * @throws PatchbayError `usage` `dataFolderUnusable` where the folder cannot be written; `transient` `diskFull`.
 */
export function takeEngineLock(file: string): EngineLock | null {
  let db: DatabaseSync | null = null;
  try {
    makeFolderNow(dirname(file));
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const held = db;
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    if (isBusy(error)) return null;
    if (isOfFullDisk(error)) throw passing('diskFull', `the disk of ${dirname(file)} is full`, error);
    throw new PatchbayError(
      'usage',
      'dataFolderUnusable',
      `the data folder ${dirname(file)} cannot be used: ${messageOf(error)}`,
      {
        hint: 'Check its rights and its free space, or name another one with --data.',
        cause: error,
      },
    );
  }
}

/** Whether any process is the engine of this data folder: the lock tells, and is given back at once. Without its file no process holds it. */
export function isEngineRunning({ folders }: { readonly folders: { readonly lockFile: string } }): boolean {
  if (isMissing(folders.lockFile)) return false;
  const lock = takeEngineLock(folders.lockFile);
  lock?.release();
  return lock === null;
}

function isMissing(file: string): boolean {
  try {
    lstatSync(file);
    return false;
  } catch (error) {
    return systemCodeOf(error) === 'ENOENT';
  }
}

/** SQLite's result codes BUSY and LOCKED. */
function isBusy(error: unknown): boolean {
  return [5, 6].includes(resultCodeOf(error));
}

/** SQLite's FULL. */
function isOfFullDisk(error: unknown): boolean {
  return resultCodeOf(error) === 13;
}

/** The lower eight bits name the error; the upper ones say more of it. */
function resultCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}
