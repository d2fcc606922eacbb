/**
 * Deletes files that hold personal data and are old (`docs/rules.md`, "Secrets and personal data"). What cannot be deleted keeps nothing else
 * from it: a folder that belongs to another user would otherwise let everything stay forever.
 */
import type { Dirent } from 'node:fs';
import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { archiveFolders } from '#src/config/data-folders.ts';
import { systemCodeOf } from '#src/errors.ts';
import type { AuditLedger } from '#src/ledger/audits.ts';
import { isFinal, type RunLedger } from '#src/ledger/runs.ts';
import { fileTag, type Logger } from '#src/log.ts';
import type { RunFolders } from './run-files.ts';

/** What old files are deleted with. */
export interface ExpiryParts {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Logger;
  readonly runs: Pick<RunLedger, 'get'>;
  readonly audits: Pick<AuditLedger, 'ofRun'>;
  /** Ends it at the entry at hand. */
  readonly signal?: AbortSignal;
}

/**
 * Deletes archives, fix-files and reports of runs that ended longer than `keepMs` ago, those of audits that did, and stray drafts.
 * What the ledger counted stays, and so does all of a run that has not ended, as one that is stopped.
 * @returns how many files and drafts were deleted. A folder that does not exist holds none. @throws what the ledger throws.
 */
export async function expireFiles(parts: ExpiryParts, folders: RunFolders, keepMs: number): Promise<number> {
  const { clock, log, signal } = parts;
  const olderThanMs = clock.nowMs() - keepMs;
  // A note in `_stopped` goes with its run, however long the run waits.
  const archives = folders.importFolders.flatMap((folder) => {
    const { done, failed, fix } = archiveFolders(folder);
    return [done, failed, fix];
  });
  const isOld = async (entry: Dirent): Promise<boolean> => {
    // Only what a run wrote; files that people put there stay.
    const ranAtMs = entry.isFile() ? runInstantMs(entry.name) : null;
    if (ranAtMs === null || ranAtMs >= olderThanMs) return false;
    const endedAtMs = await endOf(parts, entry.name);
    return endedAtMs === null || endedAtMs < olderThanMs;
  };
  let deleted = await removeStrayDrafts(folders.drafts, clock.nowMs(), log);
  for (const folder of [...archives, folders.reports]) deleted += await removeOld(folder, isOld, { log, signal });
  if (deleted > 0) log.info({ files: deleted }, 'old files deleted');
  return deleted;
}

/** When the run that the file is of has ended, or its audit; null where the ledger knows no run, infinite where it has not ended. */
async function endOf({ runs, audits }: ExpiryParts, name: string): Promise<number | null> {
  const id = name.slice(0, idLength);
  const run = await runs.get(id);
  if (run === null) return null;
  const ends = [isFinal(run.state) ? (run.finishedAtMs ?? 0) : Number.POSITIVE_INFINITY];
  if (name.endsWith('.audit.json'))
    for (const audit of await audits.ofRun(id)) ends.push(audit.finishedAtMs ?? Number.POSITIVE_INFINITY);
  return Math.max(...ends);
}

/** No plan takes that long; what is older was left behind by a process that died. */
const draftStrayAfterMs = 86_400_000;

/** @param drafts the folder that holds the folders of drafts. @returns how many were removed. Never rejects. */
export function removeStrayDrafts(drafts: string, nowMs: number, log: Logger): Promise<number> {
  const isOld = async (_: Dirent, path: string): Promise<boolean> => {
    // Another process may be removing it.
    const changedAtMs = (await stat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    return changedAtMs < nowMs - draftStrayAfterMs;
  };
  return removeOld(drafts, isOld, { log, isNamedAtRandom: true });
}

/** How a folder is emptied of what is old. */
interface Removal {
  readonly log: Logger;
  /** Whether log lines may show the names of entries as they are; if not, they show the run, or a hash. */
  readonly isNamedAtRandom?: boolean;
  /** Ends it at the entry at hand. */
  readonly signal?: AbortSignal | undefined;
  /** Deletes a file, or a folder with all that is in it; nothing where there is none. Rejects with the system's errors. */
  readonly remove?: (path: string) => Promise<void>;
}

/**
 * Asks of each entry of the folder whether it is old, and deletes those that are. Where the system refuses, also to list the folder, one log
 * line names the folder, how many entries stay and the first of them; each call tries them again.
 * @returns how many were deleted. A folder that does not exist holds none. @throws what `isOld` throws.
 */
export async function removeOld(
  folder: string,
  isOld: (entry: Dirent, path: string) => boolean | Promise<boolean>,
  { log, isNamedAtRandom = false, remove = removeWhole, signal }: Removal,
): Promise<number> {
  let removed = 0;
  const refusals: Readonly<Record<string, string | null>>[] = [];
  for await (const entry of entriesOf(folder, (code) => refusals.push({ code }))) {
    if (signal?.aborted === true) break;
    const path = join(folder, entry.name);
    if (!(await isOld(entry, path))) continue;
    try {
      await remove(path);
      removed += 1;
    } catch (error) {
      refusals.push({ code: systemCodeOf(error), entry: isNamedAtRandom ? entry.name : shownName(entry.name) });
    }
  }
  const [first] = refusals;
  if (first !== undefined) log.warn({ folder, ...first, files: refusals.length }, 'old files not deleted');
  return removed;
}

const removeWhole = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

async function* entriesOf(folder: string, refused: (code: string | null) => void): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'ENOENT') refused(code);
  }
}

const idLength = '20261121T140000Z-000000'.length;

/** When the run arrived that the file is named after. The file's own time does not tell: an archived file keeps its old one. */
function runInstantMs(name: string): number | null {
  const match =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{6}(?:__|(?:\.audit|\.earlier)?\.json$|(?:\.earlier)?\.changes\.csv$)/.exec(
      name,
    );
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Without what may be a person's name. */
function shownName(name: string): string {
  return /^\d{8}T\d{6}Z-[0-9a-f]{6}/.exec(name)?.[0] ?? fileTag(name);
}
