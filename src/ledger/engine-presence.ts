/**
 * What the processes on a ledger tell each other about themselves: the engine where it can be found, the workers that
 * they are there.
 *
 * A notice is no lock: a killed process leaves its notice behind. Whether its author lives is told by its identity
 * (`process-identity.ts`), by the engine's lock, and for a worker by its last sign of life.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, PatchbayError } from '#src/errors.ts';

/** Where the engine's queue is. A socket's path is relative where it lies in the data folder. */
export type QueuePlace =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'port'; readonly host: string; readonly port: number }
  /** The Redis of `REDIS_URL`, which may hold a password and so is not told. */
  | { readonly kind: 'redis' };

/** Holds no key and no password. */
export interface EngineNotice {
  /** `ProcessIdentity.name`, and a mark that tells two engines of one process apart. */
  readonly identity: string;
  /** Of the sandbox too. */
  readonly serviceOrigin: string;
  readonly queue: QueuePlace;
  readonly startedAtMs: number;
}

export interface WorkerNotice {
  /** `ProcessIdentity.name`. */
  readonly identity: string;
  readonly startedAtMs: number;
  /** Its last sign of life, by the ledger's clock. */
  readonly seenAtMs: number;
}

/** A worker says so often that it is there. */
export const workerSignEveryMs = 5_000;
/** A worker that was silent for so long is taken for gone; a live one says three times in it that it is there. */
const workerSilentMaxMs = 15_000;

/** The workers that are there, as far as anybody can tell at that moment of the ledger's clock. */
export function liveWorkers(
  notices: readonly WorkerNotice[],
  nowMs: number,
  isDead: (identity: string) => boolean,
): readonly WorkerNotice[] {
  return notices.filter(({ identity, seenAtMs }) => nowMs - seenAtMs < workerSilentMaxMs && !isDead(identity));
}

/**
 * One engine per data folder (`contract.md`): an open exclusive transaction on a small database is a lock that the
 * operating system gives back at any death of its holder.
 */
export interface EngineLock {
  release(): void;
}

/**
 * Takes the lock, or answers null where another process holds it.
 * @throws PatchbayError `usage` `dataFolderUnusable` where the folder cannot be written.
 */
export function takeEngineLock(file: string): EngineLock | null {
  let db: DatabaseSync | null = null;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const held = db;
    return { release: () => held.close() };
  } catch (error) {
    db?.close();
    if (isBusy(error)) return null;
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

/** SQLite's result codes BUSY and LOCKED, in the lower eight bits; the upper ones say more of it. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === 5 || code === 6;
}
