/**
 * API keys at rest: salted hashes, never the key itself (section 5, point 2, how a key is obtained: not shown).
 *
 * The hash is a fast one, since it is made for every request. Its salt keeps two stores with one key from looking
 * alike; against guessing, a key must be long and random, as the printed ones are.
 */
import { hash, randomBytes } from 'node:crypto';

/** SHA-256 over the salt, whose length is fixed, and the key: 32 bytes. */
export type KeyHash = Uint8Array;

export interface KnownKey {
  readonly hash: KeyHash;
  /** Made and printed by a start that was given no key; holds until the next start. */
  readonly printed: boolean;
}

/** Invariant: one salt for all keys, so that a request costs one hash. */
export interface KnownKeys {
  readonly salt: Uint8Array;
  readonly keys: readonly KnownKey[];
}

export const noKeys: KnownKeys = { salt: new Uint8Array(), keys: [] };

const saltBytes = 16;

export function newSalt(): Uint8Array {
  return randomBytes(saltBytes);
}

export function hashKey(salt: Uint8Array, key: string): KeyHash {
  // Made for every request: an HMAC, whose key is made into an object each time, takes ten times as long.
  return hash('sha256', Buffer.concat([salt, Buffer.from(key)]), 'buffer');
}
