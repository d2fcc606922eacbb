/**
 * Which host a data folder is (`hosts.ts`): a random id in a file of the folder, so that it stays the same when the machine gets another
 * name, or the folder another path; and a name for people.
 */
import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import { makeFolder } from '#src/whole-file.ts';

export interface HostIdentity {
  readonly id: string;
  /** As `berlin-1:/srv/patchbay`. */
  readonly name: string;
}

const fileName = 'host.id';
const idForm = /^h[0-9a-f]{12}$/;

/** The host of a data folder; null where it has none yet. @throws PatchbayError `usage` `hostIdUnreadable`. */
export async function knownHost(root: string): Promise<HostIdentity | null> {
  const id = await readId(join(root, fileName));
  return id === null ? null : { id, name: `${hostname()}:${root}` };
}

/** The same, which is given an id where it has none. @throws PatchbayError `usage` `hostIdUnreadable`; the system's errors. */
export async function identifyHost(root: string): Promise<HostIdentity> {
  const known = await knownHost(root);
  if (known !== null) return known;
  await makeFolder(root);
  const file = join(root, fileName);
  const fresh = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(fresh, `h${randomBytes(6).toString('hex')}\n`, { mode: 0o600 });
  try {
    // Of two processes that begin at once one wins. A file system without links has the last one win.
    await link(fresh, file).catch(async (error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') await rename(fresh, file);
    });
  } finally {
    await rm(fresh, { force: true });
  }
  const found = await knownHost(root);
  if (found === null) throw unreadable(file);
  return found;
}

async function readId(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT' || systemCodeOf(error) === 'ENOTDIR') return null;
    throw error;
  });
  if (text === null) return null;
  if (idForm.test(text.trim())) return text.trim();
  throw unreadable(file);
}

function unreadable(file: string): PatchbayError {
  return new PatchbayError('usage', 'hostIdUnreadable', `${file} does not hold the id of this host`, {
    hint: 'Restore it from a backup. Without it, delete the file: the data folder counts as a new host then, and open runs of the old one wait for `patchbay hosts forget`.',
  });
}
