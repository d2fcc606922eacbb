/**
 * Content that was taken before, and whose run failed as a whole, as with a broken mapping: nothing of it was written.
 *
 * A schedule leaves it alone, since it would fail each time. Where a person asks, it counts as not taken.
 */
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import type { TakeParts } from './parts.ts';
import { compareAge } from './seen-files.ts';

/** Whether the newest run of that content in this feed failed. */
export async function hasFailed(
  { ledger }: Pick<TakeParts, 'ledger'>,
  { name }: FeedSettings,
  sha256: string,
): Promise<boolean> {
  return (await ledger.runs.findByContent(name, sha256))?.state === 'failed';
}

export async function isTakenAgain(parts: TakeParts, feed: FeedSettings, sha256: string): Promise<boolean> {
  return parts.trigger === 'request' && (await hasFailed(parts, feed, sha256));
}

/** How to have it taken again, for the message of a tick that took nothing. Begins with a semicolon. */
export function failedNote({ name }: FeedSettings, run: string): string {
  const feed = /^[\w.-]+$/.test(name) ? name : `"${name}"`;
  return `; ${run} failed, and it is taken again by: patchbay schedule run ${feed}`;
}

/**
 * Of files that are known, those that failed, up to the newest that did not: to take one that is older than that would bring
 * the past back.
 */
export async function newestFailed(
  parts: TakeParts,
  feed: FeedSettings,
  known: readonly SeenFile[],
): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  for (const file of known.toSorted(compareAge).reverse()) {
    const taken = await parts.ledger.takes.file(feed.name, file.path);
    // Passed over, or taken under that path before something older came there.
    if (taken === null || taken.modifiedAtMs > file.modifiedAtMs) continue;
    if (!(await hasFailed(parts, feed, taken.sha256))) break;
    failed.add(file.path);
  }
  return failed;
}
