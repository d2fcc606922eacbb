/**
 * From a file in our private folder to a run of the feed, once.
 *
 * Invariant: the beginning is in the ledger before the run is, and goes with the note that follows the run. So where the
 * process dies between run and note, the same content that comes again finds its run, even one that has ended meanwhile.
 */
import { rm } from 'node:fs/promises';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { submitCopy } from '#src/runs/submit-run.ts';
import type { TakeParts } from './parts.ts';

export interface PrivateFile {
  /** Ours: it is moved away, or removed. */
  readonly path: string;
  /** Its name for people. */
  readonly fileName: string;
  readonly sha256: string;
}

/** Whoever calls notes what was taken. Throws what `submitCopy` throws; the file is gone then. */
export async function enterOnce(parts: TakeParts, feed: FeedSettings, file: PrivateFile): Promise<RunRecord> {
  const { takes, runs } = parts.ledger;
  const { path, sha256 } = file;
  try {
    const begun = await takes.begun(feed.name);
    if (begun?.sha256 === sha256) {
      const entered = await runs.findByContent(feed.name, sha256);
      if (entered !== null && entered.createdAtMs >= begun.begunAtMs) return entered;
    }
    await takes.begin(feed.name, { sha256, begunAtMs: parts.clock.nowMs() });
    return await submitCopy(parts.submit, { feed, ...file });
  } finally {
    // Where it became a run's file it lies elsewhere by now.
    await rm(path, { force: true });
  }
}
