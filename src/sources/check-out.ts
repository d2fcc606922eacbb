/**
 * The files of a run: checked out of the import folder by rename, or copied from a path that the user named, and archived
 * when the run has ended (docs/contract.md, "Data folder").
 *
 * Invariants: a file that is checked out belongs to one run, is called `<run>__<name>`, and nothing else writes to it. A
 * crash at any instant leaves a file whole under its old or its new name, and the same call repeated after the crash
 * succeeds.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, constants, lstat, open, readdir, rename as renameOnDisk, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileError, type PatchbayError, systemCodeOf } from '#src/errors.ts';
import { shellWord } from '#src/shell-words.ts';
import {
  isDiskFull,
  isRefused,
  makeFolder,
  ownerOnlyFileMode,
  storing,
  storingError,
  syncFolder,
  takingError,
  writeWholeFile,
} from '#src/whole-file.ts';
import { classifyFileName, safeFileName } from './file-name.ts';
import { type EntryPath, fingerprintOf } from './folder-entries.ts';
import { openingError, requireSize } from './source-file.ts';

/** `fs.rename`, or what a test puts in its place. */
export type Rename = (from: EntryPath, to: string) => Promise<void>;

/**
 * Moves the file into `folder`, which is made where it is missing, and returns the new path. `name` is the user's name for
 * the file.
 * @throws PatchbayError `file` `fileMissing`, `notAFile`; what `storing` throws; and the system's errors.
 */
export async function checkOutFile(
  from: EntryPath,
  folder: string,
  runId: string,
  name = nameOfEntry(from),
  rename: Rename = renameOnDisk,
): Promise<string> {
  const path = pathOfRun(folder, runId, name);
  await moveFile(from, path, rename);
  return path;
}

/**
 * The same, where other hosts may take files out of the same import folder: the rename is the claim, and only one wins. Into `folder` where that is
 * on the same device, else into `beside`, which is: a copy would claim nothing.
 * @throws PatchbayError `file`: `takenElsewhere`, `notAFile`; what `storing` throws; and the system's errors.
 */
export async function claimFile(
  from: EntryPath,
  folders: { readonly folder: string; readonly beside: string },
  runId: string,
  rename: Rename = renameOnDisk,
): Promise<string> {
  const name = nameOfEntry(from);
  const [near, beside] = [pathOfRun(folders.folder, runId, name), pathOfRun(folders.beside, runId, name)];
  try {
    return await claimAs(from, near, rename);
  } catch (error) {
    if (systemCodeOf(error) !== 'EXDEV') throw error;
    return await claimAs(from, beside, rename);
  }
}

/** What a rename answers where the file is gone, also over a network file system that still lists it. */
const goneCodes: readonly string[] = ['ENOENT', 'ESTALE'];

async function claimAs(from: EntryPath, to: string, rename: Rename): Promise<string> {
  const folder = dirname(to);
  await storing(folder, () => makeFolder(folder));
  try {
    if (await isThere(from)) await renameInto(folder, from, to, rename);
  } catch (error) {
    if (!goneCodes.includes(systemCodeOf(error) ?? '')) throw error;
  }
  // A server may have renamed it and answer that it is not there: its first answer was lost. The new name is this run's alone.
  if (!(await isThere(to))) {
    throw fileError(
      'takenElsewhere',
      `${from} was taken by another host`,
      { file: nameOfEntry(from) },
      'Nothing to do.',
    );
  }
  await allowOwnerOnly(to);
  await syncFolder(folder);
  return to;
}

/** Moves the file of a run that has ended; otherwise as `checkOutFile`. */
export async function archiveFile(from: string, folder: string, runId: string, name: string): Promise<string> {
  const path = pathOfRun(folder, runId, name);
  await moveFile(from, path, renameOnDisk);
  return path;
}

/** Moves the file of a run back to where the run has it; otherwise as `checkOutFile`. @param to its own path. */
export async function putBack(from: string, to: string): Promise<void> {
  await moveFile(from, to, renameOnDisk);
}

/** Read at a time: each piece costs turns of the loop. */
const chunkBytes = 512 * 1024;

/**
 * That a file can be copied, as far as this is known before it is read. `name` is the user's name for it.
 * @throws PatchbayError `file`: `fileMissing`, `fileUnreadable`, `notAFile`, `fileTooLarge`; the system's errors.
 */
export async function requireReadable(path: string, name: string): Promise<void> {
  requireSize(name, (await lookAtNamed(path, name)).byteCount);
  await access(path, constants.R_OK).catch((error: unknown) => {
    throw openingError(error, path, name);
  });
}

export interface CopiedFile {
  readonly path: string;
  /** Of the content, in hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * For `import FILE`: the original stays in its place. `name` is the user's name for the file. Of one that grows meanwhile no more is copied than
 * it had.
 * @throws PatchbayError `file` `fileMissing`, `fileUnreadable`, `notAFile`, `fileTooLarge`, `changedWhileRead`; what `storing` throws, of the folder; and the system's
 *   errors of reading.
 */
export async function copyIntoFolder(
  from: string,
  folder: string,
  runId: string,
  name = basename(from),
): Promise<CopiedFile> {
  const before = await lookAtNamed(from, name);
  requireSize(name, before.byteCount);
  const path = pathOfRun(folder, runId, name);
  const hash = createHash('sha256');
  let bytes = 0;
  const content = async function* () {
    const chunks = chunksOf(from);
    try {
      // Ends with the file.
      for (;;) {
        const { value: chunk, done } = await chunks.next().catch((error: unknown) => {
          throw openingError(error, from, name);
        });
        if (done === true) break;
        bytes += chunk.length;
        if (bytes > before.byteCount) throw changedWhileCopied(name);
        hash.update(chunk);
        yield chunk;
      }
    } finally {
      // A copy that cannot be written ends before the file does.
      await chunks.return(undefined);
    }
    if ((await lookAtNamed(from, name)).fingerprint !== before.fingerprint) throw changedWhileCopied(name);
  };
  await writeWholeFile(path, content());
  return { path, sha256: hash.digest('hex'), bytes };
}

function changedWhileCopied(name: string): PatchbayError {
  const hint = 'Wait until the program that writes it has finished, then import it again.';
  return fileError('changedWhileRead', `${name} changed while being read`, { file: name }, hint);
}

/** SHA-256 of a file's content in hex, which identifies a file that comes again. @throws the system's errors. */
export async function hashFile(path: string): Promise<string> {
  return (await readWhole(path)).sha256;
}

/** Of the first bytes of a file, in hex: whether what was read earlier is still its beginning. @throws the system's errors. */
export async function hashStart(path: string, bytes: number): Promise<string> {
  const hash = createHash('sha256');
  if (bytes > 0) for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk);
  return hash.digest('hex');
}

/** The same as `hashFile`, with the length of what was hashed: the file may grow meanwhile. @throws the system's errors. */
export async function readWhole(path: string): Promise<Pick<CopiedFile, 'sha256' | 'bytes'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunksOf(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

/**
 * The bytes of a file, each chunk in the place of the one before: a stream makes a new buffer for each, and tens of megabytes of them may
 * wait for the garbage collector. Ends with the file. @throws the system's errors.
 */
async function* chunksOf(path: EntryPath): AsyncGenerator<Uint8Array> {
  await using file = await open(path);
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** As text, for people. */
export function nameOfEntry(path: EntryPath): string {
  return basename(String(path));
}

/** Where the file of a run is in a folder. */
export function pathOfRun(folder: string, runId: string, name: string): string {
  return join(folder, `${runId}__${safeFileName(name)}`);
}

/** Across devices: copies, then removes the original. */
async function moveFile(from: EntryPath, to: string, rename: Rename): Promise<void> {
  const folder = dirname(to);
  await storing(folder, () => makeFolder(folder));
  if (!(await isThere(from))) {
    if (await isThere(to)) return;
    throw fileError('fileMissing', `${from} is not there any more`, { file: String(from) }, 'Drop it again.');
  }
  try {
    await renameInto(folder, from, to, rename);
  } catch (error) {
    if (systemCodeOf(error) !== 'EXDEV') throw error;
    await writeWholeFile(to, chunksOf(from));
    await unlink(from).catch((error: unknown) => {
      throw takingError(error, dirname(String(from)));
    });
  }
  await allowOwnerOnly(to);
  await syncFolder(folder);
}

/** A rename may be refused by either folder. @throws PatchbayError as `storing`, which names the one; the system's errors. */
async function renameInto(folder: string, from: EntryPath, to: string, rename: Rename): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const isOfNew = isDiskFull(error) || (isRefused(error) && (await isClosed(folder)));
    if (isOfNew) throw storingError(error, folder);
    throw takingError(error, dirname(String(from)));
  }
}

/** Whether this user can enter no name in it. */
async function isClosed(folder: string): Promise<boolean> {
  return await access(folder, constants.W_OK | constants.X_OK).then(
    () => false,
    () => true,
  );
}

async function isThere(path: EntryPath): Promise<boolean> {
  try {
    const stats = await lstat(path);
    if (stats.isFile()) return true;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
  const hint = 'Drop the file itself, not a folder or a link to it.';
  throw fileError('notAFile', `${path} is not a regular file`, { file: String(path) }, hint);
}

/** The mode of a file that belongs to another user cannot be changed; the file is taken all the same. */
async function allowOwnerOnly(path: string): Promise<void> {
  await chmod(path, ownerOnlyFileMode).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'EPERM') throw error;
  });
}

/** Follows a link that the user named; does not open a FIFO. */
async function lookAtNamed(
  path: string,
  name: string,
): Promise<{ readonly fingerprint: string; readonly byteCount: number }> {
  const stats = await stat(path, { bigint: true }).catch((error: unknown) => {
    throw openingError(error, path, name);
  });
  if (stats.isFile()) return { fingerprint: fingerprintOf(stats), byteCount: Number(stats.size) };
  if (stats.isDirectory())
    throw fileError('notAFile', `${name} is a folder`, { file: name }, await filesOfFolder(path));
  throw fileError('notAFile', `${name} is not a regular file`, { file: name }, 'Name the file itself.');
}

/** Many programs write one vCard for each person. */
async function filesOfFolder(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const found = names.map(classifyFileName).filter((one) => one.kind === 'take');
  const areCards = found.length > 0 && found.every(({ format }) => format === 'vcf');
  const bare = folder.replace(/[\\/]+$/, '');
  const pattern = `${shellWord(bare)}/*`;
  return areCards
    ? `Name its files, ${pattern}.vcf, or join the cards to one file: cat ${pattern}.vcf > all.vcf`
    : `Name its files, such as ${pattern}.csv.`;
}
