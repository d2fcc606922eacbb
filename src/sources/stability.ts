/**
 * When a file in the import import folder is at rest: size, mtime and inode are the same at two looks one second apart
 * (contract.md, "Data folder").
 *
 * A look never blocks and never follows a link: lstat first, then an open with O_NOFOLLOW and O_NONBLOCK, then fstat.
 */

import { type BigIntStats, constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { systemCodeOf } from '#src/errors.ts';

/** How long a file must stay the same. */
export const restMs = 1_000;

export type Look =
  | { readonly kind: 'file'; readonly fingerprint: string; readonly bytes: number }
  | { readonly kind: 'folder' }
  | { readonly kind: 'special'; readonly what: string }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'gone' };

/** Looks at one entry of a folder. Injected into the watcher, so that a test can deny a read. */
export type LookAtFile = (path: string | Buffer) => Promise<Look>;

/** Size, mtime and inode as one comparable word. */
export function fingerprintOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.dev}:${stats.ino}`;
}

/** Says what the entry is now. Does not throw for anything the file system may answer. */
export async function lookAtFile(path: string | Buffer): Promise<Look> {
  try {
    const outside = await lstat(path, { bigint: true });
    if (outside.isDirectory()) return { kind: 'folder' };
    if (!outside.isFile()) return { kind: 'special', what: nameOfKind(outside) };
    const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      // Asked again on the open file: the name may have been replaced by a link or a FIFO since.
      const inside = await handle.stat({ bigint: true });
      if (!inside.isFile()) return { kind: 'special', what: nameOfKind(inside) };
      return { kind: 'file', fingerprint: fingerprintOf(inside), bytes: Number(inside.size) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const systemCode = systemCodeOf(error);
    if (systemCode === 'ENOENT') return { kind: 'gone' };
    if (systemCode === 'ELOOP') return { kind: 'special', what: 'a symbolic link' };
    if (systemCode === 'ENXIO') return { kind: 'special', what: 'a FIFO or a socket' };
    return { kind: 'unreadable', reason: systemCode ?? 'unknown' };
  }
}

function nameOfKind(stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
