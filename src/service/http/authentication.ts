/**
 * Who may call: the raw key as the whole Authorization value (section 5).
 *
 * Section 5, "whether a scheme prefix is used": not shown. No prefix: `Bearer KEY` is refused (`facts.md`, measured).
 * White space around the value is no part of a header's value; two Authorization headers are joined by a comma, which
 * then is no key.
 */
import { timingSafeEqual } from 'node:crypto';
import { hashKey, type KnownKeys } from '#src/service/keys.ts';
import { Refusal } from './refusal.ts';

/** Answers which key was sent, by its place in the list. Throws `Refusal` 401. */
export type Authenticate = (authorization: string | null) => number;

export function createAuthentication({ salt, keys }: KnownKeys): Authenticate {
  const known = keys.map((key) => key.hash);
  return (authorization) => {
    const sent = hashKey(salt, authorization ?? '');
    let found = -1;
    // Hashes of equal length, and no early exit: the time says nothing about the keys.
    for (const [index, one] of known.entries()) if (timingSafeEqual(one, sent)) found = index;
    if (found < 0) throw new Refusal(401, 'The API key is missing or not known. Send it alone, without a scheme.');
    return found;
  };
}
