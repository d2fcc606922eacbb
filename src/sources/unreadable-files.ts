/**
 * Files in an import folder that this user may not read: each of them is left in its place, and nothing else says so to people.
 *
 * The looks are bounded, since probes ask, too. A file that is read is taken within seconds, so that those which stay are found among the
 * first.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { isIgnored, type LookAtFile, listFolder, lookAtFile } from './folder-entries.ts';

export interface UnreadableFile {
  readonly path: string;
  /** The system's word for it, such as `EACCES`. */
  readonly reason: string;
}

interface ImportFolders {
  /** With the folders of feeds in each. */
  readonly watched: readonly string[];
  /** Never looked into, even where it lies inside an import folder. */
  readonly claimed: string;
}

/** Of those that may not be read, by their rights. */
const rightsReasons: readonly string[] = ['EACCES', 'EPERM'];
/** A program may give the rights just after it has written the file, or moved it here: each of these changes its ctime. */
const changedBeforeMsMin = 60_000;
const entriesPerFolderMax = 1_000;
const looksMsMax = 1_000;
const namedMax = 5;

/** Those that have not changed for a minute, in the order of their paths. A folder that cannot be listed has none. Never rejects. */
export async function findUnreadableFiles(
  { watched, claimed }: ImportFolders,
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  look: LookAtFile = lookAtFile,
): Promise<readonly UnreadableFile[]> {
  const found: UnreadableFile[] = [];
  const endMs = clock.monotonicMs() + looksMsMax;
  /** @returns the folders in it. */
  const lookInto = async (folder: string): Promise<readonly string[]> => {
    const folders: string[] = [];
    let entryCount = 0;
    for await (const slice of listFolder(folder)) {
      for (const entry of slice) {
        entryCount += 1;
        if (entryCount > entriesPerFolderMax || clock.monotonicMs() > endMs) return folders;
        if (isIgnored(entry) || join(folder, entry.name) === claimed) continue;
        const seen = await look(entry.path);
        if (seen.kind === 'folder') folders.push(join(folder, entry.name));
        if (seen.kind !== 'unreadable' || !rightsReasons.includes(seen.reason)) continue;
        const stats = await lstat(entry.path).catch(() => null);
        if (stats !== null && clock.nowMs() - stats.ctimeMs >= changedBeforeMsMin)
          found.push({ path: join(folder, entry.name), reason: seen.reason });
      }
    }
    return folders;
  };
  // A feed's folder may go meanwhile; one of another user in an import folder, such as `lost+found`, has its own reasons.
  const orNone = (): readonly string[] => [];
  for (const folder of watched) {
    for (const ofFeed of await lookInto(folder).catch(orNone)) await lookInto(ofFeed).catch(orNone);
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** A sentence for each of the first five, and how many more there are. */
export function unreadableSentences(files: readonly UnreadableFile[]): readonly string[] {
  const named = files
    .slice(0, namedMax)
    .map(({ path, reason }) => `${path} cannot be read (${reason}): it is not taken. ${rightsHint}`);
  const moreCount = files.length - named.length;
  return moreCount <= 0
    ? named
    : [...named, `The import folder has ${filesWords(moreCount)} more that cannot be read.`];
}

/** The same without names, which may hold data, for readers without a token. */
export function plainUnreadable({ length }: readonly UnreadableFile[]): readonly string[] {
  return length === 0
    ? []
    : [`The import folder has ${filesWords(length)} that cannot be read; to see which: patchbay status`];
}

const rightsHint = 'Give it to the user who runs Patchbay, or let that user read it.';

function filesWords(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}
