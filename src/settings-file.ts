/**
 * Reads files with settings: configuration, mappings, secrets.
 *
 * A path may lead to a device that never ends or a pipe that never begins. So the file is opened without waiting, examined through
 * its own handle, and read up to a limit, whatever size it claims.
 */
import { constants, open } from 'node:fs/promises';

/** The largest configuration or mapping. */
const settingsBytesMax = 1024 * 1024;

export interface SettingsFileOptions {
  readonly bytesMax?: number;
  /** False where others may put links: then the last part of the path must be the file itself. */
  readonly followLinks?: boolean;
}

/** What is wrong with the file itself; the message completes "the file …". */
export class NotSettings extends Error {
  override readonly name = 'NotSettings';
}

/** By the system's code. A file that is not there is the caller's matter. */
const unopenable: Readonly<Record<string, string>> = {
  ENXIO: 'is not a regular file',
  ELOOP: 'cannot be opened: its links lead in a circle',
  ENOTDIR: 'is not there: a part of its path is a file, not a folder',
  ENAMETOOLONG: 'is not there: the name is too long',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};

/**
 * The text of the file.
 * @throws NotSettings if it is no regular file, too large, or not UTF-8; the system's errors, such as `ENOENT`.
 */
export async function readSettingsFile(path: string, options: SettingsFileOptions = {}): Promise<string> {
  const { bytesMax = settingsBytesMax, followLinks = true } = options;
  // Windows has neither flag, and no pipes or devices at ordinary paths.
  const flags = (constants.O_NONBLOCK ?? 0) | (followLinks ? 0 : (constants.O_NOFOLLOW ?? 0));
  await using file = await open(path, constants.O_RDONLY | flags).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ELOOP' && !followLinks) throw new NotSettings('is a link; put the file itself there');
    const why = unopenable[`${code}`];
    throw why === undefined ? error : new NotSettings(why);
  });
  const stats = await file.stat();
  if (!stats.isFile()) throw new NotSettings(stats.isDirectory() ? 'is a folder' : 'is not a regular file');
  const bytes = Buffer.alloc(bytesMax + 1);
  let length = 0;
  // Ends at the end of the file, or one byte behind the limit.
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > bytesMax) throw new NotSettings(`is larger than ${bytesMax} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
  } catch (cause) {
    throw new NotSettings('is not UTF-8', { cause });
  }
}
