/** Keys of forgotten people are known by a hash, salted for each ledger, so that no list of hashes tells them. Pure. */
import { createHash } from 'node:crypto';

/** @param salt in hex. */
export function forgottenHash(salt: string, key: string): string {
  return createHash('sha256').update(`${salt}\n${key}`).digest('hex');
}
