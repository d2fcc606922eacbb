/** What is wrong with a path that a person gave, in words: the system's own errors are for those who know its codes. */
import { stat } from 'node:fs/promises';
import { fileError, systemCodeOf } from '#src/errors.ts';

/**
 * The error for what the system said when a file was to be opened or looked at: `file` `fileMissing`, `fileUnreadable`; any other as it is.
 * @param name the user's name for it.
 */
export function openingError(error: unknown, path: string, name: string): unknown {
  const facts = { file: name };
  const where = `Check the path: ${path}`;
  switch (systemCodeOf(error)) {
    case 'ENOENT':
      return fileError('fileMissing', `${name} is not there`, facts, where, error);
    case 'ENOTDIR':
      return fileError(
        'fileMissing',
        `${name} is not there: a part of its path is a file, not a folder`,
        facts,
        where,
        error,
      );
    case 'ENAMETOOLONG':
      return fileError('fileMissing', `${name} is not there: the name is too long`, facts, where, error);
    case 'ELOOP': {
      const hint = `Fix the links, or name the file itself: ${path}`;
      return fileError('fileUnreadable', `${name} cannot be opened: its links lead in a circle`, facts, hint, error);
    }
    case 'EACCES':
    case 'EPERM': {
      const hint = `Give this user the right to read it, and to enter the folders above it: ${path}`;
      return fileError('fileUnreadable', `${name} cannot be opened (${systemCodeOf(error)})`, facts, hint, error);
    }
    default:
      return error;
  }
}

/** Before the ending of its name is looked at. @throws PatchbayError `file`: `fileMissing`, `fileUnreadable`; the system's errors. */
export async function requireThere(path: string, name: string): Promise<void> {
  await stat(path).catch((error: unknown) => {
    throw openingError(error, path, name);
  });
}
