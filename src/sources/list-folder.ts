/** The entries of one folder in slices, by bytes: a name need not be UTF-8. */
import { isUtf8 } from 'node:buffer';
import { opendir } from 'node:fs/promises';
import { sep } from 'node:path';

/** Entries read ahead at once. */
export const entriesPerSlice = 1_000;

export interface FolderEntry {
  /** By the folder's own listing; some file systems do not tell it there, and then it is false. */
  readonly isFolder: boolean;
  /** As text; where it is not UTF-8, with replacement characters. */
  readonly name: string;
  readonly isUtf8: boolean;
  /** Opens the entry, whatever its name. */
  readonly path: string | Buffer;
  /** Tells entries apart that look the same as text. */
  readonly id: string;
}

/** Ends with the folder; one handle is open meanwhile. Throws the system's errors. */
export async function* listFolder(folder: string): AsyncGenerator<readonly FolderEntry[]> {
  // The types of Node 24 do not know the encoding `buffer` here, though opendir honours it.
  const directory = await opendir(folder, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
  let slice: FolderEntry[] = [];
  for await (const entry of directory) {
    slice.push(entryOf(folder, entry.name, entry.isDirectory()));
    if (slice.length < entriesPerSlice) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

function entryOf(folder: string, name: string | Buffer, isFolder: boolean): FolderEntry {
  const bytes = Buffer.from(name as string);
  const text = bytes.toString('utf8');
  const proper = isUtf8(bytes);
  const path = proper ? `${folder}${sep}${text}` : Buffer.concat([Buffer.from(folder + sep), bytes]);
  return { isFolder, name: text, isUtf8: proper, path, id: proper ? text : `bytes:${bytes.toString('hex')}` };
}
