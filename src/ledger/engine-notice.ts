/**
 * What the processes on a ledger tell each other about themselves: the engine where it can be found, the workers that
 * they are there.
 *
 * A notice is no lock: a killed process leaves its notice behind. Whether its author lives is told by its identity
 * (`process-identity.ts`), by the engine's lock, and for a worker by its last sign of life.
 */

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
