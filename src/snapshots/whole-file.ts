/**
 * Writes a file that appears whole or not at all, mode 0600, on disk when the promise resolves. What a killed process had
 * begun lies beside it as `.<uuid>.part`, and is for others to remove.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** No file takes so long to be written. */
const unfinishedAfterMs = 3_600_000;

/** An earlier file of that name is replaced. @throws the system's errors. */
export async function writeWholeFile(path: string, content: string | AsyncIterable<string>): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `.${randomUUID()}.part`);
  try {
    await using file = await open(temporary, 'wx', 0o600);
    if (typeof content === 'string') await file.writeFile(content);
    else for await (const piece of content) await file.writeFile(piece);
    await file.sync();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Removes what was begun more than an hour ago in that folder, which need not be there. @throws the system's errors. */
export async function removeUnfinishedFiles(folder: string, nowMs: number): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const name of names.filter((one) => /^\.[\da-f-]{36}\.part$/.test(one))) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile() === true && stats.mtimeMs < nowMs - unfinishedAfterMs) await rm(path, { force: true });
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
