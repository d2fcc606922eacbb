/** The secret that notices are signed with: from the environment, or from a file that only its owner may read. */
import { PatchbayError } from '../errors.ts';
import { readSecretFile } from './api-key.ts';
import type { Config } from './schema.ts';

/**
 * The secret, read anew at each call so that a replaced file takes effect; null where none is set: posts are unsigned.
 *
 * Throws `usage` / `notifySecretFileOpen` where others may read the file, and `usage` / `notifySecretMissing` where it
 * cannot be read or holds no secret.
 */
export async function readNotifySecret(notify: Config['notify']): Promise<string | null> {
  if (notify.secret !== null) return notify.secret;
  const file = notify.secretFile;
  if (file === null) return null;
  const read = await readSecretFile(file, 'secret file');
  if (read.state === 'read') return read.secret;
  const code = read.state === 'open' ? 'notifySecretFileOpen' : 'notifySecretMissing';
  throw new PatchbayError('usage', code, read.problem, {
    facts: { file },
    hint: 'Put the secret into that file (mode 0600), or set PATCHBAY_NOTIFY_SECRET.',
    ...(read.state === 'missing' ? { cause: read.cause } : {}),
  });
}
