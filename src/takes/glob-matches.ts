/**
 * The files that a glob matches, within limits: of a long walk the end is an error, and never a part of the files.
 */
import { glob, lstat, opendir, realpath } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, parse, relative, sep } from 'node:path';
import pMap from 'p-map';
import type { Clock } from '#src/clock.ts';
import { systemCodeOf } from '#src/errors.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { classifyFileName } from '#src/sources/file-name.ts';
import { isSeen, seeFile } from './enter.ts';
import { type LeftMatch, leftMatch } from './left-matches.ts';
import { takeError } from './take-error.ts';

export interface GlobParts {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Absolute paths of the data folder and the import folders: what a wildcard finds there is Patchbay's own, such as archives. */
  readonly ownFolders: readonly string[];
  readonly limits?: Partial<GlobLimits>;
}

export interface GlobLimits {
  /** Files that a glob may match. */
  readonly matchesMax: number;
  /** Entries of folders that a glob may look at. */
  readonly entriesMax: number;
  readonly globMaxMs: number;
}

export const globLimits: GlobLimits = { matchesMax: 10_000, entriesMax: 1_000_000, globMaxMs: 60_000 };

/** How many files are looked at at once. */
const looksAtOnce = 8;

export interface Matches {
  /** Regular files with names that can be read. */
  readonly files: readonly SeenFile[];
  /** Names that match and cannot be read, such as `.xls`. */
  readonly refusedCount: number;
  /** Files that this user may not open. */
  readonly unreadableCount: number;
  /** Links, folders and the like, which are never taken. */
  readonly specialCount: number;
  /** Those of the others that people may expect to be taken. */
  readonly left: readonly LeftMatch[];
  /** The folder that the pattern begins with exists. */
  readonly folderIsThere: boolean;
}

export function isPattern(take: string): boolean {
  return /[*?[{]/.test(take);
}

/**
 * The files that match a glob: `*`, `?`, `[a-z]`, `{a,b}` and `**`. No wildcard follows a link, and a link that matches is
 * not taken: files elsewhere are taken only if the pattern itself names the way. No wildcard matches a leading `.`.
 * @throws PatchbayError `file`: `tooManyMatches`, `tooManyEntries`, `globTooSlow`, `fileUnreadable`.
 */
export async function listMatches(
  parts: GlobParts,
  pattern: string,
  place: PatternPlace,
  signal: AbortSignal,
): Promise<Matches> {
  const folderIsThere = await openFolder(place.folder);
  if (!folderIsThere)
    return { files: [], refusedCount: 0, unreadableCount: 0, specialCount: 0, left: [], folderIsThere };
  const isOwn = await ownPathsOf(parts.ownFolders, place.folder);
  const names = (await matchingPaths(parts, pattern, place, signal)).filter((path) => !isOwn(path));
  const named = names.filter((path) => classifyFileName(basename(path)).kind !== 'ignore');
  const found = await pMap(named, seeFile, { concurrency: looksAtOnce, signal });
  const files = found.filter(isSeen);
  const isReadable = ({ path }: SeenFile): boolean => classifyFileName(basename(path)).kind === 'take';
  const readable = files.filter(isReadable);
  const left: LeftMatch[] = files.filter((file) => !isReadable(file)).map((file) => ({ ...file, why: 'name' }));
  for (const [at, one] of found.entries()) {
    const other = isSeen(one) ? null : await leftMatch(named[at] ?? '', one);
    if (other !== null) left.push(other);
  }
  return {
    left,
    files: readable,
    refusedCount: files.length - readable.length,
    unreadableCount: found.filter((one) => !isSeen(one) && one.kind === 'unreadable').length,
    specialCount: found.filter((one) => !isSeen(one) && (one.kind === 'special' || one.kind === 'folder')).length,
    folderIsThere,
  };
}

/**
 * What below the folder that a pattern begins with is not to be taken: all in Patchbay's folders, or, where the pattern itself
 * begins in one of them, what is in folders for results, whose names begin with `_`.
 */
async function ownPathsOf(ownFolders: readonly string[], fixed: string): Promise<(path: string) => boolean> {
  const real = async (path: string): Promise<string> => realpath(path).catch(() => path);
  const from = await real(fixed);
  const own = await Promise.all(ownFolders.map(real));
  const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(join(folder, sep));
  const beginsInOwn = own.some((folder) => isWithin(from, folder));
  return (path) => {
    const below = relative(fixed, path);
    if (beginsInOwn)
      return dirname(below)
        .split(sep)
        .some((name) => name.startsWith('_'));
    return own.some((folder) => isWithin(join(from, below), folder));
  };
}

/** Ends with the pattern's folders, or at the first limit. */
async function matchingPaths(
  parts: GlobParts,
  pattern: string,
  { folder, rest }: PatternPlace,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const limits = { ...globLimits, ...parts.limits };
  const startedAtMs = parts.clock.monotonicMs();
  const paths: string[] = [];
  let entries = 0;
  const assertWithin = (): void => {
    signal.throwIfAborted();
    if (parts.clock.monotonicMs() - startedAtMs > limits.globMaxMs) {
      throw tooMuch('globTooSlow', `${pattern} took more than ${limits.globMaxMs / 1_000} s to look through`);
    }
  };
  // Called for each folder on the way and for each entry below `**`: the one place where a long walk can be stopped.
  const exclude = (): boolean => {
    assertWithin();
    entries += 1;
    if (entries <= limits.entriesMax) return false;
    throw tooMuch('tooManyEntries', `${pattern} leads through more than ${limits.entriesMax} files and folders`);
  };
  for await (const path of glob(rest, { cwd: folder, exclude })) {
    assertWithin();
    paths.push(join(folder, path));
    if (paths.length > limits.matchesMax) {
      throw tooMuch('tooManyMatches', `${pattern} matches more than ${limits.matchesMax} files`);
    }
  }
  return paths;
}

function tooMuch(code: string, message: string): Error {
  return takeError('file', code, message, 'Make the pattern narrower, or move old files elsewhere.');
}

/** Where a pattern begins to be one. */
interface PatternPlace {
  readonly folder: string;
  /** The pattern within that folder. */
  readonly rest: string;
}

/**
 * The folder before the first wildcard. A folder that is there under its very name is no wildcard, as a file is none: people call folders
 * `exports [old]`.
 */
export async function placeOfPattern(pattern: string): Promise<PatternPlace> {
  const { root } = parse(pattern);
  const names = pattern.slice(root.length).split(/[\\/]/);
  let folder = root;
  // Ends with the last name, which is the pattern at the latest.
  for (const [at, name] of names.slice(0, -1).entries()) {
    const next = join(folder, name);
    if (isPattern(name) && !(await isThere(next))) return { folder, rest: names.slice(at).join('/') };
    folder = next;
  }
  return { folder, rest: names.at(-1) ?? '' };
}

/** Whatever it is. */
async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

export function matchesAt({ folder, rest }: PatternPlace, path: string): boolean {
  return path.startsWith(join(folder, sep)) && matchesGlob(relative(folder, path), rest);
}

/** The walk ignores folders that it cannot open. @returns whether the folder exists. */
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
