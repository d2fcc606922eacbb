/**
 * The files of runs: how they are named, and where they are kept. `expire-files.ts` deletes them.
 *
 * A checked-out file of feed `main` is kept as `<claimed>/<run>__<name>`, one of a named feed as
 * `<claimed>/<feed>/<run>__<name>`. The path alone names run and feed, so both are known also where the process died before
 * the run was entered.
 */
import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';
import { archiveFolders } from '#src/config/data-folders.ts';
import { feedNameProblem } from '#src/config/feed-schema.ts';
import { emptyIfMissing } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { pathOfRun } from '#src/sources/check-out.ts';

/** Where a run's files go. Absolute paths. */
export interface RunFolders {
  /** Files checked out of an import folder, until they are archived; those of a named feed in a folder of its name. */
  readonly claimed: string;
  /** Copies of files that were named on the command line. */
  readonly handedOver: string;
  /** A folder for each plan that is being made, with a copy of its file. */
  readonly drafts: string;
  readonly reports: string;
  /** The first one also takes the archives of files that were named on the command line. */
  readonly importFolders: readonly string[];
}

/** How many ids the digits of a second distinguish. */
const idsInSecond = 16 ** 6;
/**
 * Each process begins anywhere and counts on. Digits that are drawn for each id would soon meet again where files arrive by the
 * hundred: the second file's run could not be entered, and since its id is known, no later start would enter it.
 */
let lastDigits = randomInt(idsInSecond);

/** The instant, in UTC, and a few digits: run ids sort by time and are safe in file names. A process gives none twice. */
export function newRunId(nowMs: number): string {
  lastDigits = (lastDigits + 1) % idsInSecond;
  const instant = new Date(nowMs)
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.\d+Z$/, 'Z');
  return `${instant}-${lastDigits.toString(16).padStart(6, '0')}`;
}

/** The run's id and the rest of the name of a checked-out file; null where the name does not begin with an id. */
export function runIdOf(fileName: string): { readonly runId: string; readonly name: string } | null {
  const match = /^(\d{8}T\d{6}Z-[0-9a-f]{6})__(.+)$/s.exec(fileName);
  return match?.[1] === undefined || match[2] === undefined ? null : { runId: match[1], name: match[2] };
}

/** The run of a file that is checked out; null where the path leads elsewhere. @param folders in which such files are. */
export function runOfCheckedOut(folders: readonly string[], path: string): string | null {
  const isBelow = (folder: string): boolean => resolve(path).startsWith(`${resolve(folder)}${sep}`);
  return folders.some(isBelow) ? (runIdOf(basename(path))?.runId ?? null) : null;
}

/** For files from folders that cannot be a feed. No feed can have this name. */
export const refusedFolder = '_refused';

/** @param folder the feed's folder in the import folder; null is the import folder itself. */
export function claimedFolderOf(claimed: string, folder: string | null): string {
  if (folder === null) return claimed;
  return join(claimed, feedNameProblem(folder) === null ? folder : refusedFolder);
}

/**
 * Where files are that this host took out of an import folder on another device, until they are archived. Other hosts may share that
 * folder, and a rename within it is the only claim that one of them alone can make.
 */
export function takingFolderOf(importFolder: string, host: string): string {
  return join(takingFoldersIn(importFolder), host);
}

/** The folders of all hosts for that. */
export function takingFoldersIn(importFolder: string): string {
  return join(importFolder, '_taking');
}

type ArchivedRun = Pick<RunRecord, 'importFolder' | 'id' | 'fileName'>;

/** Where the file of a run is archived once that has failed, and the note beside it that says why. */
export function failedFileOf({ importFolder, id, fileName }: ArchivedRun): FailedFile {
  const path = pathOfRun(archiveFolders(importFolder).failed, id, fileName);
  return { path, note: `${path}${reasonEnding}` };
}

export interface FailedFile {
  readonly path: string;
  readonly note: string;
}

/** Of the names of such notes. */
export const reasonEnding = '.reason.txt';

/** The same of a run with any other end. The note is written where the file is there. */
export function doneFileOf({ importFolder, id, fileName }: ArchivedRun): string {
  return pathOfRun(archiveFolders(importFolder).done, id, fileName);
}

export interface ClaimedFile {
  readonly runId: string;
  /** Its feed's, or `_refused`; null is that of `main`. */
  readonly folder: string | null;
  readonly name: string;
  readonly path: string;
}

/** All checked-out files, whether their run was entered or not. None where the folder does not exist. */
export async function listClaimed(claimed: string): Promise<readonly ClaimedFile[]> {
  const files: ClaimedFile[] = [];
  const list = async (path: string, folder: string | null): Promise<readonly string[]> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(emptyIfMissing);
    for (const entry of entries) {
      const named = entry.isFile() ? runIdOf(entry.name) : null;
      if (named !== null) files.push({ ...named, folder, path: join(path, entry.name) });
    }
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  };
  for (const folder of await list(claimed, null)) await list(join(claimed, folder), folder);
  return files.toSorted(byArrival);
}

const secondLength = '20261121T140000Z'.length;

/** In the order of check-out: a run's id gives the second, and the files of one scan are taken by name. */
function byArrival(left: ClaimedFile, right: ClaimedFile): number {
  const [first, second] = [left, right].map(({ runId, name }) => `${runId.slice(0, secondLength)} ${name}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
}
