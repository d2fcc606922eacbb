/**
 * Who may call: the raw key as the whole Authorization value (section 5).
 *
 * Section 5, "whether a scheme prefix is used": not shown. No prefix: `Bearer KEY` is refused (`facts.md`, measured).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { PatchbayError } from '#src/errors.ts';
import { Refusal } from './refusal.ts';

/** Answers which key was sent, by its place in the list. Throws `Refusal` 401. */
export type Authenticate = (authorization: string | null) => number;

/** Throws a `usage` error where no key is given, or an empty one. */
export function createAuthentication(apiKeys: readonly string[]): Authenticate {
  if (apiKeys.length === 0 || apiKeys.includes('')) {
    throw new PatchbayError('usage', 'keyMissing', 'the service was started without an API key', {
      hint: 'Give at least one key that is not empty.',
    });
  }
  const known = apiKeys.map(sha256);
  return (authorization) => {
    const sent = sha256(authorization ?? '');
    let found = -1;
    // Hashes of equal length, and no early exit: the time says nothing about the keys.
    for (const [index, one] of known.entries()) if (timingSafeEqual(one, sent)) found = index;
    if (found < 0) throw new Refusal(401, 'The API key is missing or not known. Send it alone, without a scheme.');
    return found;
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
