/**
 * The entries of a folder: listed by slices, and looked at one by one without blocking and without following a link
 * (lstat, then an open with O_NOFOLLOW and O_NONBLOCK, then fstat).
 *
 * An entry's name is bytes: it need not be UTF-8.
 */
import { isUtf8 } from 'node:buffer';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { sep } from 'node:path';
import { systemCodeOf } from '#src/errors.ts';
import { classifyFileName } from './file-name.ts';

const entriesPerSliceMax = 1_000;

/** Bytes where the name is not UTF-8: no text opens such a file. */
export type EntryPath = string | Buffer;

export interface FolderEntry {
  /** False also where the file system does not say it in its listing. */
  readonly isFolder: boolean;
  /** As text; bytes that are not UTF-8 become replacement characters. */
  readonly name: string;
  readonly isUtf8: boolean;
  /** Opens the entry, whatever its name. */
  readonly path: EntryPath;
  /** Distinguishes entries whose names are equal as text. */
  readonly id: string;
}

/** One handle is open until the listing ends. @throws the system's errors. */
export async function* listFolder(folder: string): AsyncGenerator<readonly FolderEntry[]> {
  // The types of Node 24 do not know the encoding `buffer` here, though opendir honours it.
  const directory = await opendir(folder, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
  let slice: FolderEntry[] = [];
  for await (const entry of directory) {
    slice.push(entryOf(folder, entry.name, entry.isDirectory()));
    if (slice.length < entriesPerSliceMax) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

function entryOf(folder: string, name: string | Buffer, isFolder: boolean): FolderEntry {
  const bytes = Buffer.from(name as string);
  const text = bytes.toString('utf8');
  const isText = isUtf8(bytes);
  const path = isText ? `${folder}${sep}${text}` : Buffer.concat([Buffer.from(folder + sep), bytes]);
  return { isFolder, name: text, isUtf8: isText, path, id: isText ? text : `bytes:${bytes.toString('hex')}` };
}

/** Whether it is neither opened nor reported. A folder may end in `.tmp` on purpose, so only its first character is judged. */
export function isIgnored({ name, isFolder }: FolderEntry): boolean {
  return classifyFileName(name).kind === 'ignore' && !(isFolder && /^[^._]/.test(name));
}

export type Look =
  | { readonly kind: 'file'; readonly fingerprint: string; readonly bytes: number }
  | { readonly kind: 'folder' }
  | { readonly kind: 'special'; readonly what: string }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'gone' };

/** `lookAtFile`, or what a test puts in its place to deny a read. */
export type LookAtFile = (path: EntryPath) => Promise<Look>;

/** Size, mtime, device and inode: equal as long as the file was neither changed nor replaced. */
export function fingerprintOf(stats: BigIntStats): string {
  return `${stats.size}:${stats.mtimeNs}:${stats.dev}:${stats.ino}`;
}

/** What the entry is now. Whatever the file system answers is a `Look` and not an error. */
export async function lookAtFile(path: EntryPath): Promise<Look> {
  try {
    const outside = await lstat(path, { bigint: true });
    if (outside.isDirectory()) return { kind: 'folder' };
    if (!outside.isFile()) return { kind: 'special', what: nameOfKind(outside) };
    const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      // The name may have been replaced by a link or a FIFO since the lstat: the open file decides.
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
