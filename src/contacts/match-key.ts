/**
 * Finds the contact of a key among those that a look-up returned.
 *
 * A service that reads a filter another way answers with other people's contacts (`facts.md`, "array encoding"), so
 * each is compared exactly, and none is taken because it came first.
 */
import type { Contact } from '#src/wire/contact.ts';

/** `strangersCount`: contacts of other keys, which were dropped. A page full of them is a reason to stop. */
export type KeyMatch = { readonly strangersCount: number } & (
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly contact: Contact }
  | { readonly kind: 'conflict'; readonly ids: readonly string[] }
);

/** One look-up may serve several keys: contacts of the other keys asked for count as strangers here. */
export function matchByKey(key: string, contacts: readonly Contact[]): KeyMatch {
  const own = contacts.filter((contact) => contact.externalId === key);
  const strangersCount = contacts.length - own.length;
  // Pages may overlap while contacts are being added: one id is one contact.
  const byId = new Map(own.map((contact) => [contact.id, contact]));
  const [contact] = byId.values();
  if (contact === undefined) return { kind: 'none', strangersCount };
  if (byId.size > 1) return { kind: 'conflict', ids: [...byId.keys()], strangersCount };
  return { kind: 'one', contact, strangersCount };
}
