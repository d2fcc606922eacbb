/**
 * Writes a file that appears whole or not at all.
 *
 * The content goes to a temporary name in the same folder, is synced to disk and renamed; then the folder is synced, so
 * that the new name itself survives a power failure. A failed write removes its temporary file. A killed process leaves
 * it behind as `.<uuid>.part`: `removeUnfinishedFiles` is for the folders in which nothing else removes it.
 *
 * The files hold personal data, so only their owner can read them (docs/rules.md, "Secrets and personal data").
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readlinkSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { emptyIfMissing, PatchbayError, systemCodeOf } from './errors.ts';

export const ownerOnlyFileMode = 0o600;
const ownerOnlyFolderMode = 0o700;

/** No file takes that long to write. */
const unfinishedAfterMs = 3_600_000;
/** Short pieces of text are joined to this length before they are written. */
const pieceCharsMin = 64 * 1024;
/** How much of a file may be on its way to the disk. */
const unsyncedBytesMax = 4 * 1024 * 1024;

/** Bytes are written as they come, each piece before the next one is asked for. */
type FileContent = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/**
 * Makes the folder where it is missing, and replaces an earlier file of that name. Resolves when the file is on disk.
 * @throws what `storing` throws, and what `content` throws: nothing is replaced then.
 */
export async function writeWholeFile(path: string, content: string | FileContent): Promise<void> {
  const folder = dirname(path);
  await storing(folder, () => makeFolder(folder));
  const temporary = join(folder, `.${randomUUID()}.part`);
  try {
    await writeAndSync(temporary, typeof content === 'string' ? [content] : content);
    await storing(folder, () => rename(temporary, path));
  } catch (error) {
    // A write may be tried again and again: a full disk must not get fuller.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}

/**
 * Writes into the folder, and names it where the system refuses: its own errors do not tell which disk is full.
 * @throws PatchbayError `transient` `diskFull`, `diskFails`; `usage` `folderUnusable`, each with `folder` and `systemCode`; what `write` throws else.
 */
export async function storing<Written>(folder: string, write: () => Promise<Written>): Promise<Written> {
  try {
    return await write();
  } catch (error) {
    throw storingError(error, folder);
  }
}

/** Such an error for what the system said; any other error as it is. */
export function storingError(error: unknown, folder: string): unknown {
  if (error instanceof PatchbayError) return error;
  const systemCode = systemCodeOf(error) ?? '';
  const options = { facts: { folder, systemCode }, cause: error };
  if (isDiskFull(error)) {
    return new PatchbayError('transient', 'diskFull', `the disk of ${folder} is full (${systemCode})`, options);
  }
  if (systemCode === 'EIO') {
    return new PatchbayError('transient', 'diskFails', `the disk of ${folder} fails (${systemCode})`, options);
  }
  return unusableCodes.has(systemCode) ? unusable('no file can be stored in', folder, error) : error;
}

/** The same of a file that is to leave the folder, by a rename or a removal. */
export function takingError(error: unknown, folder: string): unknown {
  return isRefused(error) ? unusable('no file can be taken out of', folder, error) : error;
}

/** Whether the system says that this user may not. */
export function isRefused(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(systemCodeOf(error) ?? '');
}

function unusable(what: string, folder: string, cause: unknown): PatchbayError {
  const systemCode = systemCodeOf(cause) ?? '';
  const message = `${what} ${folder}: ${refusals[systemCode] ?? 'it is refused'} (${systemCode})`;
  return new PatchbayError('usage', 'folderUnusable', message, {
    facts: { folder, systemCode },
    hint: folderHint,
    cause,
  });
}

/** Whether a folder takes no file: an error of `storing`. */
export function isOfFolder(error: unknown): error is PatchbayError & { readonly facts: { readonly folder: string } } {
  return error instanceof PatchbayError && isFolderCode(error.code) && typeof error.facts.folder === 'string';
}

/** The code alone: that of a job is of the folder in which it stores, since trouble of the ledger's disk is no failure of a job. */
export function isFolderCode(code: string): boolean {
  return folderCodes.has(code);
}

const folderCodes: ReadonlySet<string> = new Set(['diskFull', 'diskFails', 'folderUnusable']);

/** Of the system's own errors. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemCodeOf(error) ?? '');
}

const folderHint = 'Check the rights and the disk of that folder, then try again: nothing is lost.';
const unusableCodes: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

const otherPlace = 'Name a file in a folder that can be written, on a disk with free space. Nothing else was changed.';

/**
 * Writes where a person asked for it. @param write writes at `path`, or into it. @param hint what to do where it cannot be written.
 * @throws PatchbayError `usage` `outputNotWritten` for what the system refuses; what `write` throws else.
 */
export async function writeAsAsked<Written>(
  path: string,
  write: () => Promise<Written>,
  hint = otherPlace,
): Promise<Written> {
  try {
    return await write();
  } catch (error) {
    const systemCode = error instanceof PatchbayError ? error.facts.systemCode : systemCodeOf(error);
    const why = refusals[`${systemCode}`];
    if (why === undefined) throw error;
    throw new PatchbayError('usage', 'outputNotWritten', `${path} cannot be written: ${why}`, {
      hint,
      cause: error,
    });
  }
}

/**
 * Whether a person's file can be written, asked before long work: a file beside it is made and taken away again.
 * @throws PatchbayError `usage` `outputNotWritten`.
 */
export async function requireWritable(path: string): Promise<void> {
  const folder = dirname(path);
  await writeAsAsked(path, async () => {
    await makeFolder(folder);
    const there = await stat(path).catch(nullIfMissing);
    if (there?.isDirectory() === true) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    const temporary = join(folder, `.${randomUUID()}.part`);
    await (await open(temporary, 'wx', ownerOnlyFileMode)).close();
    await rm(temporary);
  });
}

/**
 * Makes the folder and those above it that are missing, for their owner only. Node's `mkdir` with `recursive` never ends where a file system takes no folder
 * and calls it missing, as `/proc` does. Ends at the first folder above that is there. @throws the system's errors.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const above = dirname(folder);
  if (above !== folder) await makeFolder(above);
  try {
    await mkdir(folder, { mode: ownerOnlyFolderMode });
  } catch (error) {
    // Another process has made it meanwhile.
    if (systemCodeOf(error) !== 'EEXIST') throw error;
    if (!(await isFolder(folder))) throw inTheWay(folder, error);
  }
}

/** The same where nothing may come in between. @throws the system's errors. */
export function makeFolderNow(folder: string): void {
  if (isFolderNow(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolderNow(above);
  try {
    mkdirSync(folder, { mode: ownerOnlyFolderMode });
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
    if (!isFolderNow(folder)) throw inTheWay(folder, error);
  }
}

/** The system's error in words: what is there in place of the folder. */
function inTheWay(folder: string, cause: unknown): Error {
  const target = linkTarget(folder);
  const message =
    target === null ? `${folder} is a file, not a folder` : `${folder} is a link to ${target}, which is not there`;
  // With its code, its path and the call.
  return Object.assign(new Error(message, { cause }), cause);
}

/** Null for anything but a link. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function isFolderNow(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    return nullIfMissing(error) !== null;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(nullIfMissing))?.isDirectory() === true;
}

/** Below a file nothing is there, either. */
function nullIfMissing(error: unknown): null {
  if (systemCodeOf(error) === 'ENOENT' || systemCodeOf(error) === 'ENOTDIR') return null;
  throw error;
}

/** What the system says, in words. */
const refusals: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  ENOTDIR: 'a file stands where a folder is needed',
  EEXIST: 'a file stands where a folder is needed',
  EISDIR: 'a folder has this name',
  ENOTEMPTY: 'a folder has this name',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'there is no such folder, and it cannot be made',
};

async function writeAndSync(path: string, content: FileContent): Promise<void> {
  const folder = dirname(path);
  // Closed before the rename: Windows renames no open file.
  await using file = await storing(folder, () => open(path, 'wx', ownerOnlyFileMode));
  // The content may come from another file: its errors are not those of this folder.
  const writer = syncingWriter(file);
  const write = (piece: string | Uint8Array): Promise<void> => storing(folder, () => writer(piece));
  let text = '';
  for await (const piece of content) {
    if (typeof piece === 'string') text += piece;
    if (typeof piece === 'string' && text.length < pieceCharsMin) continue;
    if (text !== '') await write(text);
    text = '';
    if (typeof piece !== 'string') await write(piece);
  }
  if (text !== '') await write(text);
  await storing(folder, () => file.sync());
}

/**
 * Writes one piece after the other, and syncs what has gathered, so that a commit of the ledger never waits for a whole large file: before a
 * file system syncs one file, it may write all that is new of others. The caller syncs the rest. @throws the system's errors.
 */
export function syncingWriter(file: FileHandle): (piece: string | Uint8Array) => Promise<void> {
  let unsyncedBytes = 0;
  return async (piece) => {
    await file.writeFile(piece);
    unsyncedBytes += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength;
    if (unsyncedBytes < unsyncedBytesMax) return;
    unsyncedBytes = 0;
    await file.datasync();
  };
}

/** Makes a new name in the folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows and some network file systems can neither open nor sync a folder; the file's content is on disk all the same.
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

/**
 * Removes the temporary files in a folder whose writing began more than an hour ago. The folder may be missing.
 * @throws the system's errors.
 */
export async function removeUnfinishedFiles(folder: string, nowMs: number): Promise<void> {
  const names: readonly string[] = await readdir(folder).catch(emptyIfMissing);
  for (const name of names.filter((one) => /^\.[\da-f-]{36}\.part$/.test(one))) {
    const path = join(folder, name);
    // A file that went away meanwhile, because its writing ended, needs no removal.
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile() === true && stats.mtimeMs < nowMs - unfinishedAfterMs) await rm(path, { force: true });
  }
}
