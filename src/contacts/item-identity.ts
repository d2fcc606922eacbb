/**
 * The identity of an e-mail address or a phone number: two items of one identity are the same item.
 *
 * The service may give a value back in another dress than it was written in (`(+1) 415-555-0100`, `Ann@Example.com`),
 * so values are never compared as they are. Identities are for comparing only: what is sent is the value itself.
 */
export type ItemKind = 'email' | 'phone';

/**
 * E-mail: trimmed and in lower case as a whole, since mailboxes that differ by case alone are one in practice.
 * Phone: the plus and the digits; a text without digits stands for itself.
 */
export function itemIdentity(kind: ItemKind, value: string): string {
  const folded = value.normalize('NFC').trim().toLowerCase();
  if (kind === 'email') return folded;
  const dialled = folded.replace(/[^+\d]/g, '');
  return /\d/.test(dialled) ? dialled : folded;
}
