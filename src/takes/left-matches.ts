/**
 * Files that match a glob and cannot be taken: by their name, by the rights on them, or since they are links. One that is newer than all that
 * can be taken is reported: the export may have gone there, while each look says that nothing is new.
 */
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { SeenFile } from '#src/ledger/takes.ts';
import { classifyFileName } from '#src/sources/file-name.ts';
import type { Look } from '#src/sources/folder-entries.ts';
import { compareAge } from './enter.ts';

export interface LeftMatch {
  readonly why: 'name' | 'rights' | 'link';
  readonly path: string;
  /** Of what a link leads to. */
  readonly modifiedAtMs: number;
}

/** Why a match is left; null for what is never meant: a folder, or a link that leads nowhere. */
export async function leftMatch(path: string, found: Exclude<Look, { kind: 'file' }>): Promise<LeftMatch | null> {
  if (found.kind !== 'unreadable' && found.kind !== 'special') return null;
  try {
    if (found.kind === 'unreadable') {
      // What has no name of an export would not be taken either way.
      const why = classifyFileName(basename(path)).kind === 'take' ? 'rights' : 'name';
      return { why, path, modifiedAtMs: Math.floor((await lstat(path)).mtimeMs) };
    }
    const target = await stat(path);
    return target.isFile() ? { why: 'link', path, modifiedAtMs: Math.floor(target.mtimeMs) } : null;
  } catch {
    // It is gone, or as good as gone.
    return null;
  }
}

/**
 * Those that are newer than each file that can be taken, or was. A link to one of the files is none of them, as `latest.csv` is, nor is what has the
 * name of one and more, such as `crm.csv.md5`.
 */
export async function newerLeft(
  left: readonly LeftMatch[],
  files: readonly SeenFile[],
  newestTaken: Pick<SeenFile, 'modifiedAtMs' | 'path'> | null,
): Promise<readonly LeftMatch[]> {
  const known = [...files, ...(newestTaken === null ? [] : [newestTaken])];
  const newest = known.reduce((latest, { modifiedAtMs }) => Math.max(latest, modifiedAtMs), 0);
  const paths = new Set(known.map(({ path }) => path));
  const found: LeftMatch[] = [];
  for (const one of left) {
    if (one.modifiedAtMs <= newest) continue;
    const target = one.why === 'link' ? await realpath(one.path).catch(() => null) : null;
    const isBeside = one.why !== 'link' && [...paths].some((path) => one.path.startsWith(`${path}.`));
    if (!isBeside && (target === null || !paths.has(target))) found.push(one);
  }
  return found.toSorted(compareAge);
}

/** In words, for the message of a tick: no name of a file. Empty where there are none. */
export function leftInWords(left: readonly LeftMatch[]): readonly string[] {
  const count = (why: LeftMatch['why']): number => left.filter((one) => one.why === why).length;
  const say = (files: number, one: string, many: string): readonly string[] =>
    files === 0 ? [] : [files === 1 ? `1 newer file ${one}` : `${files} newer files ${many}`];
  const endings = endingsOf(left.filter(({ why }) => why === 'name'));
  return [
    ...say(count('rights'), 'cannot be opened', 'cannot be opened'),
    ...say(count('name'), `has a name that cannot be read${endings}`, `have names that cannot be read${endings}`),
    ...say(count('link'), 'is a link, which only a path can name', 'are links, which only a path can name'),
  ];
}

function endingsOf(left: readonly LeftMatch[]): string {
  const endings = new Set(left.map(({ path }) => extname(basename(path)).toLowerCase()));
  const shown = [...endings].filter((ending) => /^\.[a-z\d]{1,8}$/.test(ending)).slice(0, 3);
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}
