/** The secret that deliveries are signed with, as bytes. */
import { readNotifySecret } from '#src/config/notify-secret.ts';
import type { Config } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { secretBytes } from './sign.ts';

/**
 * Null where none is set. A secret file is read anew at each call, so that a replaced one takes effect.
 * @throws PatchbayError `usage`: what `readNotifySecret` throws; `notifySecretUnusable` where what is set is no secret.
 *   Never says what it holds.
 */
export async function readSecret(notify: Config['notify']): Promise<Buffer | null> {
  const text = await readNotifySecret(notify);
  if (text === null) return null;
  const bytes = secretBytes(text);
  if (bytes !== null) return bytes;
  throw new PatchbayError('usage', 'notifySecretUnusable', 'the secret of the webhook cannot be used', {
    hint: 'A secret is whsec_ and base64 of at least 16 bytes, or any text of at least 16 characters.',
  });
}
