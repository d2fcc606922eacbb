/**
 * The files of runs: how they are named, where they are kept, and when they are deleted.
 *
 * A checked-out file of feed `main` is kept as `<claimed>/<run>__<name>`, one of a named feed as
 * `<claimed>/<feed>/<run>__<name>`. The path alone names run and feed, so both are known also where the process died before
 * the run was entered.
 */
import { randomInt } from 'node:crypto';
import { opendir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { archiveFolders } from '#src/config/data-folders.ts';
import { feedNameProblem } from '#src/config/feed-schema.ts';
import { emptyIfMissing } from '#src/errors.ts';
import { isFinal, type RunLedger } from '#src/ledger/runs.ts';
import type { Logger } from '#src/log.ts';

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
  return join(importFolder, '_taking', host);
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

/** What old files are deleted with. */
export interface ExpiryParts {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Logger;
  readonly runs: Pick<RunLedger, 'get'>;
}

/**
 * Deletes archives, fix-files and reports of runs that arrived longer than `keepMs` ago, and stray drafts: they hold personal data
 * (`docs/rules.md`, "Secrets and personal data"). What the ledger counted stays, and so does all of a run that has not ended, as one that is stopped.
 * @returns how many files and drafts were deleted. A folder that does not exist holds none.
 */
export async function expireFiles(parts: ExpiryParts, folders: RunFolders, keepMs: number): Promise<number> {
  const { clock, log } = parts;
  const olderThanMs = clock.nowMs() - keepMs;
  // A note in `_stopped` goes with its run, however long the run waits.
  const archives = folders.importFolders.flatMap((folder) => {
    const { done, failed, fix } = archiveFolders(folder);
    return [done, failed, fix];
  });
  let deleted = await removeStrayDrafts(folders.drafts, clock.nowMs());
  for (const folder of [...archives, folders.reports]) deleted += await expireIn(parts, folder, olderThanMs);
  if (deleted > 0) log.info({ files: deleted }, 'old files deleted');
  return deleted;
}

/** No plan takes that long; what is older was left behind by a process that died. */
const draftStrayAfterMs = 86_400_000;

/** @param drafts the folder that holds the folders of drafts. @returns how many were removed. @throws the system's errors. */
export async function removeStrayDrafts(drafts: string, nowMs: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(drafts).catch(emptyIfMissing)) {
    const path = join(drafts, name);
    // Another process may be removing it.
    const changedAtMs = (await stat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (changedAtMs >= nowMs - draftStrayAfterMs) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

async function expireIn({ runs }: ExpiryParts, folder: string, olderThanMs: number): Promise<number> {
  let deleted = 0;
  try {
    for await (const entry of await opendir(folder)) {
      // Only what a run wrote; files that people put there stay.
      const ranAtMs = entry.isFile() ? runInstantMs(entry.name) : null;
      if (ranAtMs === null || ranAtMs >= olderThanMs) continue;
      const run = await runs.get(entry.name.slice(0, idLength));
      if (run !== null && !isFinal(run.state)) continue;
      await rm(join(folder, entry.name), { force: true });
      deleted += 1;
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  return deleted;
}

const idLength = '20261121T140000Z-000000'.length;

/** When the run arrived that the file is named after. The file's own time does not tell: an archived file keeps its old one. */
function runInstantMs(name: string): number | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{6}(?:__|(?:\.audit)?\.json$|\.changes\.csv$)/.exec(
    name,
  );
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
