/** Rules on what feeds have taken: what becomes of the memory of a file that is passed over, and which files are forgotten. Pure. */
import type { SeenFile, TakenFile } from '#src/ledger/takes.ts';

/** One path that a feed has met. */
export interface KnownFile extends Omit<TakenFile, 'sha256'> {
  /** Null: it was passed over, since a newer one was taken instead. */
  readonly sha256: string | null;
  /** When it lay there last, to the day. */
  readonly seenAtMs: number;
}

/** What is known is noted as seen at most this often. */
const seenEveryMs = 86_400_000;

export function isSeenLongAgo({ seenAtMs }: KnownFile, atMs: number): boolean {
  return seenAtMs < atMs - seenEveryMs;
}

/** @param known what its path is known for; what was taken under it stays remembered. */
export function passedOver(feed: string, file: SeenFile, known: KnownFile | undefined, atMs: number): KnownFile {
  const fresh: KnownFile = { feed, ...file, sha256: null, takenAtMs: atMs, seenAtMs: atMs };
  return known === undefined ? fresh : { ...known, fingerprint: file.fingerprint, seenAtMs: atMs };
}

/**
 * Files of a feed that were seen before then are forgotten: for that time they were not there while others were. Of a feed that does
 * not look, or finds its folder empty, nothing is forgotten: all would be taken again.
 * @param newestSeenMs of all files of the feed. What lies in the future was seen by a clock that was wrong.
 */
export function forgottenBefore(newestSeenMs: number, nowMs: number, keepMs: number): number {
  return Math.min(newestSeenMs, nowMs) - keepMs;
}
