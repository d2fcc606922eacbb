/** Puts a file that is done with where contract.md, "Data folder" says: `<folder>/<run>__<name>`. */
import { join } from 'node:path';
import { moveFile, type Rename } from '#src/sources/move-file.ts';
import { safeFileName } from '#src/sources/safe-file-name.ts';

/**
 * Moves `from` into `folder` with parents made, readable by the owner only, and gives the new path. `name` is the
 * user's own. A second call after a crash, when `from` is gone and the target is there, succeeds. Throws `fileMissing`
 * (file) where neither is there, and the system's errors such as ENOSPC.
 */
export async function archiveFile(
  from: string,
  folder: string,
  runId: string,
  name: string,
  rename?: Rename,
): Promise<string> {
  const path = join(folder, `${runId}__${safeFileName(name)}`);
  await moveFile(from, path, rename);
  return path;
}
