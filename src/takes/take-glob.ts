/** A feed that takes from a glob: the newest file, or of a `delta` feed each one that it has not taken yet. */
import { matchesGlob } from 'node:path';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { type ChosenFiles, chooseFiles } from './choose-files.ts';
import { enterFile } from './enter-file.ts';
import { failedNote, newestFailed } from './failed-before.ts';
import { listMatches, type Matches } from './list-matches.ts';
import { limitsOf, type TakeParts } from './parts.ts';
import { restFiles } from './rest-files.ts';
import { takeError } from './take-error.ts';
import { stillMoving } from './tick-ends.ts';

/**
 * @throws PatchbayError `file`: what `listMatches` throws, `formatUnknown`, `fileUnreadable`, `diskFull`; what `submitCopy`
 *   throws.
 */
export async function takeGlob(
  parts: TakeParts,
  feed: FeedSettings,
  pattern: string,
  signal: AbortSignal,
): Promise<TickEnd> {
  const { takes } = parts.ledger;
  const matches = await listMatches(parts, pattern, signal);
  if (matches.files.length === 0) return nothingMatches(pattern, matches);
  const known = await takes.knownFiles(feed.name, matches.files, parts.clock.nowMs());
  const failed = await newestFailed(
    parts,
    feed,
    matches.files.filter(({ path }) => known.has(path)),
  );
  const again: ReadonlySet<string> = parts.trigger === 'request' ? failed : new Set();
  const note = failed.size > 0 ? failedNote(feed, 'the run of the newest') : '';
  const chosen = chooseFiles({
    kind: feed.kind,
    files: matches.files.filter(({ path }) => !known.has(path) || again.has(path)),
    // What was taken while the feed took from elsewhere says nothing of these files.
    newestTaken: await takes.newestFile(feed.name, (path) => matchesGlob(path, pattern) && !again.has(path)),
    filesMax: limitsOf(parts).filesPerTickMax,
  });
  if (chosen.take.length === 0) {
    await passOver(parts, feed, chosen.passOver);
    return nothingNew(pattern, chosen, note);
  }
  const { resting, moving } = await restFiles(parts, chosen.take, signal);
  const taken = await enterFiles(parts, feed, resting, signal);
  if (taken.done) await passOver(parts, feed, chosen.passOver);
  if (taken.runIds.length > 0) return { outcome: 'run', runIds: taken.runIds, message: noteOf(chosen, moving) };
  return taken.moved || moving || resting.length === 0 ? stillMoving(pattern) : nothingNew(pattern, chosen, note);
}

interface Taken {
  readonly runIds: readonly string[];
  readonly moved: boolean;
  /** All that were at rest, and there were some. */
  readonly done: boolean;
}

/** In order, up to the first that moved: what comes after it must not come before it. */
async function enterFiles(
  parts: TakeParts,
  feed: FeedSettings,
  files: readonly SeenFile[],
  signal: AbortSignal,
): Promise<Taken> {
  const runIds = new Set<string>();
  for (const file of files) {
    signal.throwIfAborted();
    const entered = await enterFile(parts, feed, file);
    if (entered.kind === 'moved') return { runIds: [...runIds], moved: true, done: false };
    if (entered.kind === 'run') runIds.add(entered.run.id);
  }
  return { runIds: [...runIds], moved: false, done: files.length > 0 };
}

async function passOver(parts: TakeParts, feed: FeedSettings, files: readonly SeenFile[]): Promise<void> {
  if (files.length === 0) return;
  await parts.ledger.takes.passOver(feed.name, files, parts.clock.nowMs());
  parts.log.info({ files: files.length }, 'older files passed over');
}

function noteOf({ passOver: older, waitingCount }: ChosenFiles, moving: boolean): string | null {
  const notes = [
    ...(older.length > 0
      ? [`${older.length} older ${older.length === 1 ? 'file was' : 'files were'} passed over`]
      : []),
    ...(waitingCount > 0
      ? [`${waitingCount} more ${waitingCount === 1 ? 'file waits' : 'files wait'} for the next time`]
      : []),
    ...(moving ? ['a file that is still being written waits for the next time'] : []),
  ];
  return notes.length > 0 ? notes.join('; ') : null;
}

/** @param note of the newest file, where its run failed. */
function nothingNew(pattern: string, { passOver: older }: ChosenFiles, note: string): TickEnd {
  if (older.length === 0) {
    const message = `all files at ${pattern} were taken before${note}`;
    return { outcome: 'nothingNew', code: 'fileTaken', message };
  }
  const message = `the files at ${pattern} that were not taken yet are older than the one taken last`;
  return { outcome: 'nothingNew', code: 'fileOlder', message };
}

/** Nothing there is no failure: an export may be late. Files that can never be taken are one. */
function nothingMatches(pattern: string, matches: Matches): TickEnd {
  const { folderIsThere, refusedCount, unreadableCount, specialCount } = matches;
  if (unreadableCount > 0) {
    const hint = 'Give the user that Patchbay runs as the right to read them.';
    throw takeError('file', 'fileUnreadable', `the files at ${pattern} cannot be opened`, hint);
  }
  if (refusedCount > 0) {
    const hint = 'Patchbay reads .csv .tsv .txt .json .ndjson .jsonl, each also as .gz: export in one of these forms.';
    throw takeError('file', 'formatUnknown', `no file at ${pattern} has a name that can be read`, hint);
  }
  if (specialCount > 0) {
    const message = `what matches ${pattern} is no regular file: links and folders are not taken, unless a path names them`;
    return { outcome: 'nothingNew', code: 'fileMissing', message };
  }
  const message = folderIsThere ? `no file matches ${pattern}` : `the folder of ${pattern} is not there`;
  return { outcome: 'nothingNew', code: 'fileMissing', message };
}
