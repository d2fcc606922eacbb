/**
 * Which keys open the workspace from this start on (section 5, how a key is obtained: not shown; `docs/contract.md`,
 * "Service").
 *
 * Keys that are given replace all that the store remembers: that is how one is revoked. A start without a key goes on
 * with the given ones of the store, forgets the one that the start before printed, and makes a random one.
 */
import { hash, randomBytes } from 'node:crypto';
import { PatchbayError } from '#src/errors.ts';

export interface SettledKeys {
  /** What the store is to remember. */
  readonly known: KnownKeys;
  /** The raw key that this start made; null where keys were given. */
  readonly printedKey: string | null;
}

const keyCountMax = 100;
const keyCharactersMax = 512;
const printedKeyBytes = 18;

/** Throws what `checkKeys` throws. */
export function settleKeys(given: readonly string[], remembered: KnownKeys): SettledKeys {
  if (given.length > 0) return { known: knownFrom(given), printedKey: null };
  const kept = remembered.keys.filter((key) => !key.printed);
  const salt = kept.length > 0 ? remembered.salt : newSalt();
  const printedKey = randomBytes(printedKeyBytes).toString('base64url');
  return { known: { salt, keys: [...kept, { hash: hashKey(salt, printedKey), printed: true }] }, printedKey };
}

/** Throws `usage` errors: `keyMalformed`, which names the key's place and never the key; `tooManyKeys`. */
export function checkKeys(given: readonly string[]): void {
  if (given.length > keyCountMax) {
    throw new PatchbayError('usage', 'tooManyKeys', `${given.length} API keys are more than ${keyCountMax}`, {
      facts: { count: given.length, max: keyCountMax },
      hint: 'Give fewer keys.',
    });
  }
  for (const [index, key] of given.entries()) requireSendable(key, index + 1, given.length);
}

function knownFrom(given: readonly string[]): KnownKeys {
  checkKeys(given);
  const salt = newSalt();
  return { salt, keys: [...new Set(given)].map((key) => ({ hash: hashKey(salt, key), printed: false })) };
}

/** A key is a header's whole value: no space, which would look like a scheme, and nothing that a header cannot carry. */
function requireSendable(key: string, place: number, count: number): void {
  const problem = problemOf(key);
  if (problem === null) return;
  const which = count === 1 ? 'the API key' : `API key ${place} of ${count}`;
  throw new PatchbayError('usage', 'keyMalformed', `${which} ${problem}`, {
    facts: { place, count },
    hint: `Give 1 to ${keyCharactersMax} visible ASCII characters without spaces, as: openssl rand -base64 24`,
  });
}

function problemOf(key: string): string | null {
  if (key === '') return 'is empty';
  if (key.length > keyCharactersMax) return `has more than ${keyCharactersMax} characters`;
  if (/\s/.test(key)) return 'holds white space';
  if (/[\x00-\x1f\x7f]/.test(key)) return 'holds a control character';
  if (!/^[\x21-\x7e]+$/.test(key)) return 'holds a character that a header cannot carry';
  return null;
}

// API keys at rest: salted hashes, never the key itself (section 5, point 2, how a key is obtained: not shown).
//
// The hash is a fast one, since it is made for every request. Its salt keeps two stores with one key from looking
// alike; against guessing, a key must be long and random, as the printed ones are.

/** SHA-256 over the salt, whose length is fixed, and the key: 32 bytes. */
type KeyHash = Uint8Array;

interface KnownKey {
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

function newSalt(): Uint8Array {
  return randomBytes(saltBytes);
}

export function hashKey(salt: Uint8Array, key: string): KeyHash {
  // Made for every request: an HMAC, whose key is made into an object each time, takes ten times as long.
  return hash('sha256', Buffer.concat([salt, Buffer.from(key)]), 'buffer');
}
