/**
 * The error of a take that cannot be done. Its message and its hint become a tick's, which is shown: they hold
 * no name of a file that somebody else chose, and of a URL no more than its host (`rules.md`, "Secrets and personal data").
 */
import { isAbsolute, relative } from 'node:path';
import { type ErrorKind, PatchbayError, systemCodeOf } from '#src/errors.ts';

export function takeError(
  kind: Exclude<ErrorKind, 'transient' | 'bug'>,
  code: string,
  message: string,
  hint: string,
  cause?: unknown,
): PatchbayError {
  return new PatchbayError(kind, code, message, { hint, ...(cause === undefined ? {} : { cause }) });
}

/**
 * What the system said while a file was copied or written, as a take's error; others pass as they are.
 * @param folder the private one that files are brought into.
 */
export function storageError(error: unknown, folder: string): unknown {
  // Who copies may have taken it for trouble with the file itself.
  const said = error instanceof PatchbayError ? error.cause : error;
  const code = systemCodeOf(said);
  if (code === null) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const hint = 'Make room on the disk of the data folder; it is taken again when it is due next.';
    return takeError('file', 'diskFull', `the disk of the data folder is full (${code})`, hint, error);
  }
  if (!unusableCodes.has(code) || !isOf(said, folder)) return error;
  const hint = 'Check the rights and the disk of that folder; it is taken again when it is due next.';
  const message = `files cannot be brought into ${folder} (${code})`;
  return new PatchbayError('file', 'downloadFolderUnusable', message, { facts: { folder, code }, hint, cause: error });
}

const unusableCodes: ReadonlySet<string> = new Set([
  ...['EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENOENT'],
]);

/** By the path that the system names. It names none where it could not write what is open: that is always in the folder. */
function isOf(error: unknown, folder: string): boolean {
  if (!(error instanceof Error)) return false;
  const { path, dest, syscall } = error as NodeJS.ErrnoException & { readonly dest?: string };
  if (path === undefined) return syscall === 'write' || syscall === 'fsync' || syscall === 'close';
  return [path, dest ?? path].every((one) => {
    const way = relative(folder, one);
    return !way.startsWith('..') && !isAbsolute(way);
  });
}
