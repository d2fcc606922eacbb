/**
 * The error of a take that failed. Its message and hint become those of a tick, which is shown: they contain
 * no file name that another party chose, and of a URL no more than its host (`docs/rules.md`, "Secrets and personal data").
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
 * A system error that occurred while a file was copied or written, as the error of a take; other errors are returned as they are.
 * @param folder the private folder that files are stored in.
 */
export function storageError(error: unknown, folder: string): unknown {
  // The copying may have reported it as a problem of the file itself.
  const said = error instanceof PatchbayError ? error.cause : error;
  const code = systemCodeOf(said);
  if (code === null) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const hint = 'Free space on the disk of the data folder; the file is tried again when it is due next.';
    return takeError('file', 'diskFull', `the disk of the data folder is full (${code})`, hint, error);
  }
  if (!unusableCodes.has(code) || !isOf(said, folder)) return error;
  const hint = 'Check the permissions and the disk of that folder; the file is tried again when it is due next.';
  const message = `files cannot be stored in ${folder} (${code})`;
  return new PatchbayError('file', 'downloadFolderUnusable', message, { facts: { folder, code }, hint, cause: error });
}

const unusableCodes: ReadonlySet<string> = new Set([
  ...['EACCES', 'EPERM', 'EROFS', 'EIO', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENOENT'],
]);

/** By the path in the error. A failed write to an open file has no path; such a file is always in the folder. */
function isOf(error: unknown, folder: string): boolean {
  if (!(error instanceof Error)) return false;
  const { path, dest, syscall } = error as NodeJS.ErrnoException & { readonly dest?: string };
  if (path === undefined) return syscall === 'write' || syscall === 'fsync' || syscall === 'close';
  return [path, dest ?? path].every((one) => {
    const way = relative(folder, one);
    return !way.startsWith('..') && !isAbsolute(way);
  });
}
