/**
 * The files that a glob matches: `*`, `?`, `[a-z]`, `{a,b}` and `**`.
 *
 * No wildcard walks through a link, and a link that matches is no file: what lies elsewhere is taken only where the pattern
 * itself names the way. Names that begin with `.` match no wildcard.
 */
import { glob, opendir } from 'node:fs/promises';
import { basename, dirname, join, parse, sep } from 'node:path';
import pMap from 'p-map';
import { systemCodeOf } from '#src/errors.ts';
import type { SeenFile } from '#src/ledger/takes.ts';
import { classifyFileName } from '#src/sources/file-name.ts';
import { limitsOf, type TakeParts } from './parts.ts';
import { isSeen, seeFile } from './seen-files.ts';
import { takeError } from './take-error.ts';

/** Looks at files at a time. */
const looksAtOnce = 8;

export interface Matches {
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
export async function listMatches(parts: TakeParts, pattern: string, signal: AbortSignal): Promise<Matches> {
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
