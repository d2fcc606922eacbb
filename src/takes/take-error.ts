/**
 * The error of a take that cannot be done. Its message and its hint become a tick's, which is shown: they hold
 * no name of a file that somebody else chose, and of a URL no more than its host (`rules.md`, "Secrets and personal data").
 */
import { type ErrorKind, PatchbayError } from '#src/errors.ts';
import { systemCodeOf } from '#src/sources/file-error.ts';

export function takeError(
  kind: Exclude<ErrorKind, 'transient' | 'bug'>,
  code: string,
  message: string,
  hint: string,
  cause?: unknown,
): PatchbayError {
  return new PatchbayError(kind, code, message, { hint, ...(cause === undefined ? {} : { cause }) });
}

/** What the system said while a file was copied or written, as a take's error; others pass as they are. */
export function storageError(error: unknown): unknown {
  const code = systemCodeOf(error);
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  const hint = 'Make room on the disk of the data folder; it is taken again when it is due next.';
  return takeError('file', 'diskFull', `the disk of the data folder is full (${code})`, hint, error);
}
