/**
 * From a feed's `take` to entered runs: the work of one tick (`contract.md`, "Feeds and schedules, in the config").
 *
 * Invariant: a file is taken whole and at rest or not at all; it is known again afterwards, also where the process dies
 * between any two steps; the original stays where it is.
 */
import { lstat } from 'node:fs/promises';
import { isUrl } from '#src/config/is-url.ts';
import { PatchbayError } from '#src/errors.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import { isPattern } from './list-matches.ts';
import type { TakeParts } from './parts.ts';
import { storageError } from './take-error.ts';
import { takeGlob } from './take-glob.ts';
import { takePath } from './take-path.ts';
import { takeUrl } from './take-url.ts';

/**
 * One at a time for each feed. What a person can mend ends the tick as `failed`, with what to do in its message.
 * @throws the signal's reason where it fires; what passes by itself, such as a busy ledger (`transient`), and bugs.
 */
export async function takeFiles(parts: TakeParts, feed: FeedSettings, signal: AbortSignal): Promise<TickEnd> {
  signal.throwIfAborted();
  const end = await take(parts, feed, signal).catch((error: unknown) => failedEnd(parts, error, signal));
  parts.log.info(factsOf(end), 'feed looked for files');
  return end;
}

async function take(parts: TakeParts, feed: FeedSettings, signal: AbortSignal): Promise<TickEnd> {
  if (feed.take === null) {
    const message = 'the feed names nothing to take from: its files come by its folder';
    return { outcome: 'nothingNew', code: 'nothingToTake', message };
  }
  if (isUrl(feed.take)) return takeUrl(parts, feed, feed.take, signal);
  // A file may be called so itself, as in `export [1].csv`.
  const named = !isPattern(feed.take) || (await lstat(feed.take).catch(() => null)) !== null;
  return named ? takePath(parts, feed, feed.take, signal) : takeGlob(parts, feed, feed.take, signal);
}

function failedEnd({ folders }: TakeParts, thrown: unknown, signal: AbortSignal): TickEnd {
  signal.throwIfAborted();
  const error = storageError(thrown, folders.downloads);
  if (!(error instanceof PatchbayError) || error.kind === 'transient' || error.kind === 'bug') throw error;
  const { code, kind, message, hint } = error;
  return { outcome: 'failed', code, kind, message, hint };
}

/** Without the message: it may name a path. */
function factsOf(end: TickEnd): Readonly<Record<string, unknown>> {
  if (end.outcome === 'run') return { outcome: end.outcome, runs: end.runIds.length };
  return end.outcome === 'snapshot' ? { outcome: end.outcome } : { outcome: end.outcome, code: end.code };
}
