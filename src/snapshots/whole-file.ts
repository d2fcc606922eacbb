/** Writes a file that appears whole or not at all, mode 0600, on disk when the promise resolves. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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
