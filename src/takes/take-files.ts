/**
 * A feed that takes from one path: the file there, whenever it is another than the one taken last.
 *
 * A path that is not there is no failure but nothing new: an export may be late, and where none comes at all
 * `expectEvery` makes it news. A link is followed, since a person named it: `latest.csv` often is one.
 */
import { glob, opendir, realpath } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, parse, sep } from 'node:path';
import pMap from 'p-map';
import { systemCodeOf } from '#src/errors.ts';
import type { FeedSettings } from '#src/feeds/feeds.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { classifyFileName } from '#src/sources/file-name.ts';
import { enterFile, failedNote, newestFailed } from './enter.ts';
import { limitsOf, type TakeParts } from './parts.ts';
import { compareAge, isSeen, seeFile } from './seen-file.ts';
import { takeError } from './take-error.ts';

/** @throws PatchbayError `file`: `formatUnknown`, `notAFile`, `fileUnreadable`, `diskFull`; what `submitCopy` throws. */
export async function takePath(
  parts: TakeParts,
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
  const failed = isKnown && (await newestFailed(parts, feed, [found])).size > 0;
  const note = failed ? failedNote(feed, 'its run') : '';
  if (isKnown && !(failed && parts.trigger === 'request')) return unchanged(path, note);
  const { resting } = await restFiles(parts, [found], signal);
  const [file] = resting;
  if (file === undefined) return stillMoving(path);
  const entered = await enterFile(parts, feed, file);
  if (entered.kind === 'moved') return stillMoving(path);
  if (entered.kind === 'known') return unchanged(path, note);
  return { outcome: 'run', runIds: [entered.run.id], message: null };
}

function unchanged(path: string, note: string): TickEnd {
  const message = `the file at ${path} is the one that was taken before${note}`;
  return { outcome: 'nothingNew', code: 'fileTaken', message };
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
    throw takeError('file', 'notAFile', `${path} is no file but ${found.what}`, 'Name the file itself.');
  }
  const hint = `Name the file itself, or a pattern such as ${path.replace(/[\\/]+$/, '')}/*.csv.`;
  throw takeError('file', 'notAFile', `${path} is a folder`, hint);
}

/** What cannot be read is said now, and not by a run each night. */
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

// A feed that takes from a glob: the newest file, or of a `delta` feed each one that it has not taken yet.

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
  parts.log.info({ files: files.length }, 'older files skipped');
}

function noteOf({ passOver: older, waitingCount }: ChosenFiles, moving: boolean): string | null {
  const notes = [
    ...(older.length > 0 ? [`${older.length} older ${older.length === 1 ? 'file was' : 'files were'} skipped`] : []),
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

// The files that a glob matches: `*`, `?`, `[a-z]`, `{a,b}` and `**`.
//
// No wildcard walks through a link, and a link that matches is no file: what lies elsewhere is taken only where the pattern
// itself names the way. Names that begin with `.` match no wildcard.

/** Looks at files at a time. */
const looksAtOnce = 8;

interface Matches {
  /** Regular files with names that can be read. */
  readonly files: readonly SeenFile[];
  /** Names that match and cannot be read, such as `.xlsx`. */
  readonly refusedCount: number;
  /** Files that this user may not open. */
  readonly unreadableCount: number;
  /** Links, folders and the like, which are never taken. */
  readonly specialCount: number;
  /** The folder that the pattern begins with is there. */
  readonly folderIsThere: boolean;
}

export function isPattern(take: string): boolean {
  return /[*?[{]/.test(take);
}

/** @throws PatchbayError `file`: `tooManyMatches`, `tooManyEntries`, `globTooSlow`, `fileUnreadable`. */
async function listMatches(parts: TakeParts, pattern: string, signal: AbortSignal): Promise<Matches> {
  const folderIsThere = await openFolder(fixedFolder(pattern));
  if (!folderIsThere) return { files: [], refusedCount: 0, unreadableCount: 0, specialCount: 0, folderIsThere };
  const names = await matchingPaths(parts, pattern, signal);
  const named = names.filter((path) => classifyFileName(basename(path)).kind !== 'ignore');
  const found = await pMap(named, seeFile, { concurrency: looksAtOnce, signal });
  const files = found.filter(isSeen);
  const readable = files.filter(({ path }) => classifyFileName(basename(path)).kind === 'take');
  return {
    files: readable,
    refusedCount: files.length - readable.length,
    unreadableCount: found.filter((one) => !isSeen(one) && one.kind === 'unreadable').length,
    specialCount: found.filter((one) => !isSeen(one) && (one.kind === 'special' || one.kind === 'folder')).length,
    folderIsThere,
  };
}

/** Ends with the pattern's folders, or with the first limit that is passed. */
async function matchingPaths(parts: TakeParts, pattern: string, signal: AbortSignal): Promise<readonly string[]> {
  const limits = limitsOf(parts);
  const startedAtMs = parts.clock.monotonicMs();
  const paths: string[] = [];
  let entries = 0;
  const assertWithin = (): void => {
    signal.throwIfAborted();
    if (parts.clock.monotonicMs() - startedAtMs > limits.globMaxMs) {
      throw tooMuch('globTooSlow', `${pattern} took more than ${limits.globMaxMs / 1_000} s to look through`);
    }
  };
  // It is asked about each folder on the way, and about each entry below `**`: the one place to stop a long walk.
  const exclude = (): boolean => {
    assertWithin();
    entries += 1;
    if (entries <= limits.entriesMax) return false;
    throw tooMuch('tooManyEntries', `${pattern} leads through more than ${limits.entriesMax} files and folders`);
  };
  for await (const path of glob(pattern, { exclude })) {
    assertWithin();
    paths.push(path);
    if (paths.length > limits.matchesMax) {
      throw tooMuch('tooManyMatches', `${pattern} matches more than ${limits.matchesMax} files`);
    }
  }
  return paths;
}

function tooMuch(code: string, message: string): Error {
  return takeError('file', code, message, 'Make the pattern narrower, or move old files elsewhere.');
}

/** What comes before the first wildcard. */
function fixedFolder(pattern: string): string {
  const { root } = parse(pattern);
  const fixed: string[] = [];
  for (const name of pattern.slice(root.length).split(/[\\/]/)) {
    if (isPattern(name)) return join(root, ...fixed);
    fixed.push(name);
  }
  return dirname(join(root, fixed.join(sep)));
}

/** The walk itself is silent about folders that it cannot open. @returns whether it is there. */
async function openFolder(folder: string): Promise<boolean> {
  try {
    await (await opendir(folder)).close();
    return true;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    const hint = 'Give the user that Patchbay runs as the right to look into it.';
    throw takeError('file', 'fileUnreadable', `${folder} cannot be opened (${code ?? 'unknown reason'})`, hint, error);
  }
}

/**
 * Which files of a glob are taken. Pure.
 *
 * - `full`: each file holds everything, so only the newest counts, and nothing older than what was taken last is ever
 *   taken: it would bring the past back.
 * - `delta`: each file holds a part, so all count, oldest first.
 */
interface ChosenFiles {
  /** In the order in which they are to be taken. */
  readonly take: readonly SeenFile[];
  /** Never to be taken. */
  readonly passOver: readonly SeenFile[];
  /** Left for the next time. */
  readonly waitingCount: number;
}

interface Choice {
  readonly kind: 'full' | 'delta';
  /** Files that were neither taken nor passed over as they are. */
  readonly files: readonly SeenFile[];
  /** What the feed took last, by modification time; null where it took none. */
  readonly newestTaken: Pick<SeenFile, 'modifiedAtMs' | 'path'> | null;
  readonly filesMax: number;
}

export function chooseFiles({ kind, files, newestTaken, filesMax }: Choice): ChosenFiles {
  const inOrder = files.toSorted(compareAge);
  if (kind === 'delta') {
    const take = inOrder.slice(0, filesMax);
    return { take, passOver: [], waitingCount: inOrder.length - take.length };
  }
  const newest = inOrder.at(-1);
  if (newest === undefined) return { take: [], passOver: [], waitingCount: 0 };
  if (newestTaken !== null && compareAge(newest, newestTaken) <= 0) {
    return { take: [], passOver: inOrder, waitingCount: 0 };
  }
  return { take: [newest], passOver: inOrder.slice(0, -1), waitingCount: 0 };
}

/**
 * Waits until files are at rest, so that an export that is still being written is not taken: two looks, one second apart,
 * find the same (`src/sources/stability.ts`).
 */
interface RestingFiles {
  /** At rest, in the order given, up to the first that is not. Those that have gone are left out. */
  readonly resting: readonly SeenFile[];
  readonly moving: boolean;
}

/** Ends when all are at rest, or after `restWaitMaxMs`. Rejects when the signal fires. */
async function restFiles(parts: TakeParts, files: readonly SeenFile[], signal: AbortSignal): Promise<RestingFiles> {
  const { restMs, restWaitMaxMs } = limitsOf(parts);
  let last: readonly SeenFile[] = files;
  let resting: readonly SeenFile[] = [];
  for (let waitedMs = 0; waitedMs < restWaitMaxMs && resting.length < last.length; waitedMs += restMs) {
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

// Ends of ticks that paths and globs share.

/** @param place as the configuration names it. */
function stillMoving(place: string): TickEnd {
  const message = `a file at ${place} is still being written; it is taken when it is at rest`;
  return { outcome: 'nothingNew', code: 'fileMoving', message };
}
