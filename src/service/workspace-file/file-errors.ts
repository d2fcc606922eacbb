/**
 * What can be wrong with a workspace file. All are `usage` errors: nothing was loaded, and the command must change.
 *
 * - `workspaceFileUnreadable`: it is not there, no file, or cannot be read.
 * - `workspaceFileMalformed`: it is not JSON, or not the object with the sections.
 * - `workspaceFileInvalid`: records in it are wrong; see `createProblems`.
 * - `workspaceFileNewer`: a newer program wrote it.
 * - `workspaceFileChanged`: it changed while it was read.
 */
import { messageOf, PatchbayError } from '#src/errors.ts';

const shapeHint = 'A workspace file is one JSON object, as {"contacts":[…]}; `patchbay serve --dump FILE` writes one.';

export function fileUnreadable(file: string, reason: string, hint: string, cause?: unknown): PatchbayError {
  return new PatchbayError('usage', 'workspaceFileUnreadable', `cannot read ${file}: ${reason}`, {
    facts: { file },
    hint,
    cause,
  });
}

/** `place` is null where none can be named. */
export function fileMalformed(
  file: string,
  place: { readonly line: number; readonly column: number } | null,
  reason: string,
  hint = shapeHint,
): PatchbayError {
  const where = place === null ? file : `${file}, line ${place.line}, column ${place.column}`;
  return new PatchbayError('usage', 'workspaceFileMalformed', `${where}: ${reason}`, {
    facts: { file, line: place?.line ?? null, column: place?.column ?? null },
    hint,
  });
}

export function fileNewer(file: string, format: number, known: number): PatchbayError {
  const message = `${file} has format ${format}; this program knows ${known}`;
  return new PatchbayError('usage', 'workspaceFileNewer', message, {
    facts: { file, format, known },
    hint: 'Load it with the newer program.',
  });
}

export function fileChanged(file: string): PatchbayError {
  return new PatchbayError('usage', 'workspaceFileChanged', `${file} changed while it was read`, {
    facts: { file },
    hint: 'Load it again when nobody writes to it.',
  });
}

/** An error of reading, in the words of the person who named the file. */
export function readFailure(file: string, error: unknown): PatchbayError {
  if (error instanceof PatchbayError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return fileUnreadable(file, 'it is not there', 'Check the path.', error);
  if (code === 'EISDIR') return fileUnreadable(file, 'it is a folder', 'Name a file.', error);
  if (code === 'EACCES' || code === 'EPERM') {
    return fileUnreadable(file, 'this user may not read it', 'Change its owner or its mode.', error);
  }
  if (code === 'Z_BUF_ERROR') {
    return fileUnreadable(file, 'its gzip data ends in the middle', 'Copy it again: a part is missing.', error);
  }
  if (code.startsWith('Z_')) return fileUnreadable(file, 'its gzip data is damaged', 'Copy it again.', error);
  return fileUnreadable(file, messageOf(error), 'Check the file and its disk.', error);
}
