/**
 * Takes files from a path or a glob.
 *
 * - A path: the file there, whenever it differs from the one taken last. A link is followed, since a person named it:
 *   `latest.csv` often is one.
 * - A glob of a `full` feed: the newest file. Each file holds everything, so an older one would restore old values.
 * - A glob of a `delta` feed: each file that was not taken yet, oldest first. Each file holds a part, so all count.
 *
 * A missing file is no failure but nothing new: an export may be late, and `expectEvery` reports one that never comes.
 */

import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { isoInstant } from '#src/clock.ts';
import { systemCodeOf } from '#src/errors.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { classifyFileName, readableEndings } from '#src/sources/file-name.ts';
import {
  compareAge,
  enterFile,
  enterFiles,
  type FileEnterParts,
  failedNote,
  isEmpty,
  isSeen,
  newestFailed,
  passOver,
  seeFile,
  type TakenFiles,
} from './enter.ts';
import {
  type GlobLimits,
  type GlobParts,
  globLimits,
  listMatches,
  type Matches,
  matchesAt,
  placeOfPattern,
} from './glob-matches.ts';
import { type LeftMatch, leftInWords, newerLeft } from './left-matches.ts';
import { takeError } from './take-error.ts';

/** What files are looked for and taken with. */
export interface FileTakeParts extends FileEnterParts, Pick<GlobParts, 'ownFolders'> {
  readonly limits?: Partial<FileLimits>;
}

export interface FileLimits extends GlobLimits {
  /** How long a file must stay the same before it is taken. */
  readonly restMs: number;
  /** How long to wait for a file that still grows: the next look may be a day away. */
  readonly restWaitMaxMs: number;
  /** The same where a person waits for the end of the take. */
  readonly restWaitOnRequestMs: number;
  /** Files of a `delta` feed that one tick takes; the others wait for the next tick. */
  readonly filesPerTickMax: number;
}

const fileLimits: FileLimits = {
  restMs: 1_000,
  // Of the places for takes that are done at once, a file that grows holds one for no longer.
  restWaitMaxMs: 300_000,
  restWaitOnRequestMs: 10_000,
  ...globLimits,
  // More than a day of files that come every few minutes: a daily take must not fall behind permanently.
  filesPerTickMax: 500,
};

/** @throws PatchbayError `file`: `formatUnknown`, `notAFile`, `fileUnreadable`, `fileTooLarge`, `diskFull`; what `submitCopy` throws. */
export async function takePath(
  parts: FileTakeParts,
  feed: FeedSettings,
  path: string,
  signal: AbortSignal,
): Promise<TickEnd> {
  const found = await findFile(path);
  if (found === null) {
    return { outcome: 'nothingNew', code: 'fileMissing', message: `there is no file at ${path}` };
  }
  const { takes } = parts.ledger;
  const isKnown = (await takes.knownFiles(feed.name, [found], parts.clock.nowMs())).size > 0;
  const failed = isKnown && (await newestFailed(parts.ledger, feed, [found])).size > 0;
  const note = failed ? failedNote(feed, 'its run') : '';
  if (isKnown && !(failed && parts.trigger === 'request')) return await taken(parts.ledger, feed, path, found, note);
  const { resting } = await restFiles(parts, [found], signal);
  const [file] = resting;
  if (file === undefined) return stillMoving(path);
  const entered = await enterFile(parts, feed, file);
  if (entered.kind === 'moved') return stillMoving(path);
  if (entered.kind === 'known') return unchanged(path, note);
  if (entered.kind === 'tooLarge') throw entered.error;
  return { outcome: 'run', runIds: [entered.run.id], message: null };
}

/** A link may lead back to an earlier file than the one taken last. */
async function taken(
  { takes }: FileTakeParts['ledger'],
  feed: FeedSettings,
  path: string,
  found: SeenFile,
  note: string,
): Promise<TickEnd> {
  const own = await takes.file(feed.name, found.path);
  const other = await takes.newestFile(feed.name, (one) => one !== found.path);
  if (own === null || other === null || other.takenAtMs <= own.takenAtMs) return unchanged(path, note);
  const [at, since] = [own, other].map(({ takenAtMs }) => `${isoInstant(takenAtMs).slice(0, 16).replace('T', ' ')}Z`);
  const next = `to import it once more, let the path lead to a copy of it under another name, or import it by hand${note}`;
  const message = `the file at ${path} was taken at ${at}, and another one at ${since}: it is not taken again; ${next}`;
  return { outcome: 'nothingNew', code: 'fileTaken', message };
}

function unchanged(path: string, note: string): TickEnd {
  const message = `the file at ${path} is the one taken before${note}`;
  return { outcome: 'nothingNew', code: 'fileTaken', message };
}

/** @param place as the configuration names it. */
function stillMoving(place: string): TickEnd {
  const message = `a file at ${place} is still being written: it is looked at again when the feed is due next`;
  return { outcome: 'nothingNew', code: 'fileMoving', message };
}

async function findFile(path: string): Promise<SeenFile | null> {
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'ELOOP') {
      const hint = 'Fix the links, or name the file itself.';
      throw takeError('file', 'fileUnreadable', `the links at ${path} lead in a circle`, hint, error);
    }
    throw unreadable(path, code ?? 'unknown reason', error);
  }
  const found = await seeFile(real);
  if (isSeen(found)) {
    assertReadable(path, basename(real));
    return found;
  }
  if (found.kind === 'gone') return null;
  if (found.kind === 'unreadable') throw unreadable(path, found.reason);
  if (found.kind === 'special') {
    throw takeError('file', 'notAFile', `${path} is not a file but ${found.what}`, 'Name the file itself.');
  }
  const hint = `Name the file itself, or a pattern such as ${path.replace(/[\\/]+$/, '')}/*.csv.`;
  throw takeError('file', 'notAFile', `${path} is a folder`, hint);
}

/** A file that cannot be read is reported now, rather than by a failed run each night. */
function assertReadable(path: string, name: string): void {
  const named = classifyFileName(name);
  if (named.kind === 'refuse')
    throw takeError('file', named.code, `${path} cannot be read: ${named.message}`, named.hint);
  if (named.kind === 'take') return;
  const why = 'names that begin with "." or "_", and those of unfinished files, are never taken';
  throw takeError('file', 'formatUnknown', `${path} is not taken: ${why}`, 'Name the finished file.');
}

function unreadable(path: string, reason: string, cause?: unknown): Error {
  const hint = 'Give the user that Patchbay runs as the right to read it.';
  return takeError('file', 'fileUnreadable', `${path} cannot be opened (${reason})`, hint, cause);
}

/**
 * @throws PatchbayError `file`: what `listMatches` throws, `formatUnknown`, `fileUnreadable`, `fileTooLarge`, `diskFull`; what `submitCopy`
 *   throws.
 */
export async function takeGlob(
  parts: FileTakeParts,
  feed: FeedSettings,
  pattern: string,
  signal: AbortSignal,
): Promise<TickEnd> {
  const { takes } = parts.ledger;
  const place = await placeOfPattern(pattern);
  const matches = await listMatches(parts, pattern, place, signal);
  if (matches.files.length === 0) return nothingMatches(pattern, matches);
  const known = await takes.knownFiles(feed.name, matches.files, parts.clock.nowMs());
  const failed = await newestFailed(
    parts.ledger,
    feed,
    matches.files.filter(({ path }) => known.has(path)),
  );
  const again: ReadonlySet<string> = parts.trigger === 'request' ? failed : new Set();
  const note = failed.size > 0 ? failedNote(feed, 'the run of the newest') : '';
  // Files that were taken from elsewhere, under an earlier configuration, do not count here.
  const newestTaken = await takes.newestFile(feed.name, (path) => matchesAt(place, path) && !again.has(path));
  const chosen = chooseFiles({
    kind: feed.kind,
    files: matches.files.filter(({ path }) => !known.has(path) || again.has(path)),
    newestTaken,
    filesMax: parts.limits?.filesPerTickMax ?? fileLimits.filesPerTickMax,
  });
  const left = await newerLeft(matches.left, matches.files, newestTaken);
  if (chosen.take.length === 0) {
    await passOver(parts, feed, chosen.passOver);
    if (left.some(({ why }) => why === 'rights')) throw newestUnreadable(pattern, left);
    return nothingNew(pattern, chosen, left, note);
  }
  const { resting, moving } = await restFiles(parts, chosen.take, signal);
  const taken = await enterFiles(parts, feed, resting, signal);
  if (taken.done) await passOver(parts, feed, chosen.passOver);
  const lateCount = resting.filter((file) => !isNewer(file, newestTaken)).length;
  const message = noteOf(chosen, { moving, lateCount, left }, taken);
  if (taken.runIds.length > 0) return { outcome: 'run', runIds: taken.runIds, message };
  return taken.moved || moving || resting.length === 0 ? stillMoving(pattern) : nothingNew(pattern, chosen, left, note);
}

interface Beside {
  readonly moving: boolean;
  /** Files of a `delta` feed that are older than what it took before. */
  readonly lateCount: number;
  readonly left: readonly LeftMatch[];
}

function noteOf(
  { passOver: older, waitingCount }: ChosenFiles,
  { moving, lateCount, left }: Beside,
  { tooLargeCount }: TakenFiles,
): string | null {
  const notes = [
    ...(lateCount > 0
      ? [
          `${lateCount} ${lateCount === 1 ? 'file is' : 'files are'} older than the one taken last: what newer ones said of the same people may be overwritten`,
        ]
      : []),
    ...(tooLargeCount > 0
      ? [
          `${tooLargeCount} ${tooLargeCount === 1 ? 'file was' : 'files were'} skipped as too large: split such an export`,
        ]
      : []),
    ...(older.length > 0 ? [`${older.length} older ${older.length === 1 ? 'file was' : 'files were'} skipped`] : []),
    ...(waitingCount > 0
      ? [`${waitingCount} more ${waitingCount === 1 ? 'file waits' : 'files wait'} for the next time`]
      : []),
    ...(moving ? ['a file that is still being written waits for the next time'] : []),
    ...leftInWords(left),
  ];
  return notes.length > 0 ? notes.join('; ') : null;
}

/** @param note of the newest file, where its run failed. */
function nothingNew(
  pattern: string,
  { passOver: older }: ChosenFiles,
  left: readonly LeftMatch[],
  note: string,
): TickEnd {
  const beside = leftInWords(left)
    .map((words) => `; ${words}`)
    .join('');
  if (older.length === 0) {
    const files = `all files at ${pattern}${left.length > 0 ? ' that can be taken' : ''}`;
    return { outcome: 'nothingNew', code: 'fileTaken', message: `${files} have been taken before${beside}${note}` };
  }
  const message = `the files at ${pattern} that were not taken yet are older than the one taken last${beside}`;
  return { outcome: 'nothingNew', code: 'fileOlder', message };
}

function newestUnreadable(pattern: string, left: readonly LeftMatch[]): Error {
  const message = `all files at ${pattern} that can be opened have been taken before, and ${leftInWords(left).join('; ')}`;
  const hint = 'Give the user that Patchbay runs as the right to read it.';
  return takeError('file', 'fileUnreadable', message, hint);
}

/** Files that are there and can never be taken are a failure. */
function nothingMatches(pattern: string, matches: Matches): TickEnd {
  const { folderIsThere, refusedCount, unreadableCount, specialCount } = matches;
  if (unreadableCount > 0) {
    const hint = 'Give the user that Patchbay runs as the right to read them.';
    throw takeError('file', 'fileUnreadable', `the files at ${pattern} cannot be opened`, hint);
  }
  if (refusedCount > 0) {
    const hint = `Patchbay reads ${readableEndings}: export in one of these forms.`;
    throw takeError('file', 'formatUnknown', `no file at ${pattern} has a name that can be read`, hint);
  }
  if (specialCount > 0) {
    const message = `${pattern} matches no regular file: links and folders are taken only if a path names them`;
    return { outcome: 'nothingNew', code: 'fileMissing', message };
  }
  const message = folderIsThere ? `no file matches ${pattern}` : `the folder of ${pattern} does not exist`;
  return { outcome: 'nothingNew', code: 'fileMissing', message };
}

interface ChosenFiles {
  /** In the order in which they are taken. */
  readonly take: readonly SeenFile[];
  /** Never to be taken. */
  readonly passOver: readonly SeenFile[];
  /** Left for the next time. */
  readonly waitingCount: number;
}

interface Choice {
  readonly kind: 'full' | 'delta';
  /** Files that were neither taken nor skipped as they are. */
  readonly files: readonly SeenFile[];
  /** What the feed took last, by modification time; null where it took none. */
  readonly newestTaken: Pick<SeenFile, 'modifiedAtMs' | 'path'> | null;
  readonly filesMax: number;
}

/** Which files of a glob are taken. Pure. */
export function chooseFiles({ kind, files, newestTaken, filesMax }: Choice): ChosenFiles {
  const inOrder = files.toSorted(compareAge);
  if (kind === 'delta') {
    const take = inOrder.slice(0, filesMax);
    return { take, passOver: [], waitingCount: inOrder.length - take.length };
  }
  // An empty file says nothing of anyone: what older ones say goes first, and the guards then look at what the empty one takes away.
  const filled = inOrder.findLastIndex((file) => !isEmpty(file) && isNewer(file, newestTaken));
  const newestAt = filled < 0 ? inOrder.length - 1 : filled;
  const newest = inOrder[newestAt];
  if (newest === undefined) return { take: [], passOver: [], waitingCount: 0 };
  if (!isNewer(newest, newestTaken)) {
    return { take: [], passOver: inOrder, waitingCount: 0 };
  }
  return { take: [newest], passOver: inOrder.slice(0, newestAt), waitingCount: inOrder.length - newestAt - 1 };
}

function isNewer(file: SeenFile, taken: Choice['newestTaken']): boolean {
  return taken === null || compareAge(file, taken) > 0;
}

interface RestingFiles {
  /** At rest, in the order given, up to the first that is not. Files that have disappeared are left out. */
  readonly resting: readonly SeenFile[];
  readonly moving: boolean;
}

/**
 * Waits until files are at rest, so that an export that is still being written is not taken: two looks, `restMs` apart, find
 * the same. Ends when all are at rest, or after some seconds where some are, as others may grow all day, and else after some minutes. Rejects when
 * the signal fires.
 */
async function restFiles(parts: FileTakeParts, files: readonly SeenFile[], signal: AbortSignal): Promise<RestingFiles> {
  const { restMs, ...limits } = { ...fileLimits, ...parts.limits };
  const isAsked = parts.trigger === 'request';
  const waitMaxMs = (): number => (isAsked || resting.length > 0 ? limits.restWaitOnRequestMs : limits.restWaitMaxMs);
  let last: readonly SeenFile[] = files;
  let resting: readonly SeenFile[] = [];
  for (let waitedMs = 0; waitedMs < waitMaxMs() && resting.length < last.length; waitedMs += restMs) {
    await parts.clock.sleep(restMs, signal);
    const now: SeenFile[] = [];
    for (const file of last) {
      const found = await seeFile(file.path);
      if (isSeen(found)) now.push(found);
    }
    const before = new Map(last.map(({ path, fingerprint }) => [path, fingerprint]));
    const firstMoving = now.findIndex(({ path, fingerprint }) => before.get(path) !== fingerprint);
    resting = firstMoving < 0 ? now : now.slice(0, firstMoving);
    last = now;
  }
  return { resting, moving: resting.length < last.length };
}
