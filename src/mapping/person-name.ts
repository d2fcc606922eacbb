/**
 * A person's whole name → given names and family name.
 *
 * `Lovelace, Ada` is cut at its comma. Otherwise the last word is the family name, with the particles before it and the
 * suffixes after it: `Ludwig van Beethoven` → `Ludwig`, `van Beethoven`; `Sammy Davis Jr.` → `Sammy`, `Davis Jr.`. A name of
 * one word is a given name. Spanish double surnames and names with the family name first cannot be told apart from these:
 * such columns are mapped whole, or by a comma.
 */

export interface PersonName {
  /** Both may be empty. */
  readonly given: string;
  readonly family: string;
}

/** Words before a family name that belong to it. */
const particles: ReadonlySet<string> = new Set(
  `af al av bin da dal das de degli dei del della den der di do dos du el ibn la las le les lo los op san santa st
  ten ter van vande vanden vander vom von zu zum zur`.split(/\s+/),
);
const suffixes: ReadonlySet<string> = new Set('jr sr jnr snr ii iii iv phd md esq'.split(' '));

/** @param text trimmed or not. Work is linear in its length. */
export function splitPersonName(text: string): PersonName {
  const [before = '', ...after] = text.split(',').map((part) => part.trim().replace(/\s+/g, ' '));
  const behind = after.filter((part) => part !== '');
  // `Davis, Jr.` has a comma, and still its given names first.
  const isSuffix = behind.length > 0 && behind.every((part) => suffixes.has(plain(part)));
  if (behind.length > 0 && !isSuffix) {
    const [given = '', ...rest] = behind;
    return { given, family: [before, ...rest].filter((part) => part !== '').join(' ') };
  }
  return cutBeforeFamilyName([before, ...behind].join(' ').trim());
}

function cutBeforeFamilyName(text: string): PersonName {
  const words = text.split(' ').filter((word) => word !== '');
  let end = words.length - 1;
  while (end > 1 && suffixes.has(plain(words[end] ?? ''))) end -= 1;
  let start = end;
  // One word at least is a given name: `Van Morrison`.
  while (start > 1 && particles.has(plain(words[start - 1] ?? ''))) start -= 1;
  if (start < 1) return { given: words.join(' '), family: '' };
  return { given: words.slice(0, start).join(' '), family: words.slice(start).join(' ') };
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll('.', '');
}

export function givenNames(text: string): string {
  return splitPersonName(text).given;
}

export function familyName(text: string): string {
  return splitPersonName(text).family;
}
