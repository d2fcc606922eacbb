/** Whether two rows are about two people, by their names. Pure. */
import type { DesiredContact, DesiredScalars } from './desired.ts';

/**
 * Whether the names are those of two people: both have a first and a last name, and share no word of them. Who marries keeps the first name, and who
 * swaps the columns both.
 */
export function isAnother(before: DesiredScalars, now: DesiredScalars): boolean {
  if (!before.firstName || !before.lastName || !now.firstName || !now.lastName) return false;
  return !shareWord(before, now);
}

/**
 * Whether two rows of one file that share a key name two people: the first name of neither is in the name of the other. A family may share a
 * number and the last name.
 */
export function areCalledOtherwise(
  { scalars: one }: Pick<DesiredContact, 'scalars'>,
  { scalars: other }: Pick<DesiredContact, 'scalars'>,
): boolean {
  if (!one.firstName || !other.firstName) return false;
  return !shareWord({ firstName: one.firstName }, other) && !shareWord({ firstName: other.firstName }, one);
}

/** Whether the key is made of one of these e-mail addresses or numbers, as where a row has no id. Of a number, the last digits tell, in any spelling. */
export function isKeyOf(key: string, emails: readonly string[], phones: readonly string[]): boolean {
  const digits = /\d{6}$/.exec(key)?.[0] ?? null;
  const folded = key.toLowerCase();
  return (
    emails.some((value) => folded.endsWith(value.toLowerCase())) ||
    (digits !== null && phones.some((value) => value.endsWith(digits)))
  );
}

/** The same of the values of a row. */
export function hasKeyOfValue({ key, emails, phones }: Pick<DesiredContact, 'key' | 'emails' | 'phones'>): boolean {
  const values = (slots: DesiredContact['emails']) => slots.flatMap(({ items }) => items.map(({ value }) => value));
  return isKeyOf(key, values(emails), values(phones));
}

function shareWord(one: DesiredScalars, other: DesiredScalars): boolean {
  const words = new Set(wordsOf(one));
  return wordsOf(other).some((word) => words.has(word));
}

/** Without case and accents. */
function wordsOf({ firstName, lastName }: DesiredScalars): readonly string[] {
  const text = `${firstName ?? ''} ${lastName ?? ''}`.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}
