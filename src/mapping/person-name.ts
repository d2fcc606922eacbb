/**
 * A whole name as a given and a family name: `Ada King Lovelace` → `Ada King`, `Lovelace`.
 *
 * No rule is right for every name of the world. These are right for most names in Latin letters, and they never lose a
 * word: what is not the family name is the given name.
 *
 * - `Lovelace, Ada`: the family name is before the comma.
 * - Otherwise the last word is the family name, with the particles before it: `Ludwig van Beethoven`, `Oscar de la Renta`.
 *   A particle at the beginning is one only in lower case: `van Gogh` is a family name, `Van Morrison` a whole name.
 * - `y` and `i` join two family names: `José Ortega y Gasset`.
 * - Suffixes and what is in brackets stay with the family name: `Martin King Jr.` → `King Jr.`
 * - One word is a given name. So is an East Asian name without a space (`山田太郎`), since only a dictionary could tell its
 *   parts apart; with a space its first part is the family name (`山田 太郎`).
 */

export interface PersonName {
  /** Empty where the text is a family name alone. */
  readonly given: string;
  /** Empty where the text is one word. */
  readonly family: string;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Count as particles in lower case only, since with a capital letter they are given names or surnames, too. */
const lowerCaseParticles = words(
  'av af op und zu zum zur vom te ter ten in den der die das ben san santa st st. saint al el la le lo las los les des dos das do da di de del della dello delle dei degli du van von bin ibn bint abu tot ’t ‘t',
);
/** Count as particles in any case, after the first word. */
const particles = words(
  "van von de den der del della dello delle dei degli di da das do dos du des la las le les lo los el zu zum zur ter ten vande vanden vander vom bin ibn bint abu st st. saint 't",
);
/** Join the words around them to one family name. */
const joints = words('y i e');
const suffixes = words(
  'jr sr jnr snr ii iii iv jun sen junior senior phd ph.d md m.d mba m.b.a esq cpa dds d.d.s dvm llm ll.m ba b.a ma m.a bsc b.sc msc m.sc mdm',
);
/** Surnames as well: suffixes only after a comma. */
const suffixesAfterComma = words('ba ma mdm junior senior');

/** Splits at spaces and commas only; the parts together hold every word of the text. Work is linear in its length. */
export function splitPersonName(text: string): PersonName {
  const [first = '', ...rest] = text.split(/[,，]/).map((part) => part.trim().split(/\s+/).join(' '));
  const filled = rest.filter((part) => part !== '');
  const firstSuffix = filled.findIndex((part) => part.split(' ').every((word) => isSuffix(word, true)));
  const given = (firstSuffix < 0 ? filled : filled.slice(0, firstSuffix)).join(', ');
  const titles = firstSuffix < 0 ? [] : filled.slice(firstSuffix);
  const isInverted = given !== '' || (rest.length > 0 && titles.length === 0);
  const name = isInverted ? { given, family: first } : splitWords(first);
  if (titles.length === 0) return name;
  return name.family === ''
    ? { ...name, given: `${name.given} ${titles.join(' ')}`.trim() }
    : { ...name, family: `${name.family} ${titles.join(' ')}` };
}

function splitWords(text: string): PersonName {
  const all = text.split(' ').filter((word) => word !== '');
  const length = coreLength(all);
  if (length < 2) return { given: all.join(' '), family: '' };
  const start = isFamilyFirst(all.slice(0, length)) ? null : familyStart(all, length);
  return start === null
    ? { given: all.slice(1).join(' '), family: all[0] ?? '' }
    : { given: all.slice(0, start).join(' '), family: all.slice(start).join(' ') };
}

/** The number of words before suffixes and a last group in brackets; at least one where there is any. */
function coreLength(all: readonly string[]): number {
  let length = all.length;
  if (all.at(-1)?.endsWith(')') === true) {
    const opened = all.findLastIndex((word) => word.startsWith('('));
    if (opened > 0) length = opened;
  }
  while (length > 1 && isSuffix(all[length - 1] ?? '', false)) length -= 1;
  return length;
}

function isSuffix(word: string, isAfterComma: boolean): boolean {
  const plain = word.toLowerCase().replace(/\.$/, '');
  return suffixes.has(plain) && (isAfterComma || !suffixesAfterComma.has(plain));
}

/** Two words in Chinese, Japanese or Korean script. A name in Katakana alone is a foreign one, in its own order. */
function isFamilyFirst(core: readonly string[]): boolean {
  return core.length === 2 && core.every((word) => /^[\p{sc=Han}\p{sc=Hangul}\p{sc=Hira}々ー]+$/u.test(word));
}

/** Where the family name begins, in words. */
function familyStart(all: readonly string[], length: number): number {
  const isParticle = (index: number): boolean => {
    const word = all[index] ?? '';
    return lowerCaseParticles.has(word) || (index > 0 && particles.has(word.toLowerCase()));
  };
  const withParticles = (last: number): number => {
    let start = last;
    while (start > 0 && isParticle(start - 1)) start -= 1;
    return start;
  };
  const start = withParticles(length - 1);
  // `Ortega y Gasset`: the word before the joint belongs to the family name, unless it is the only given name.
  return start > 2 && joints.has(all[start - 1] ?? '') ? withParticles(start - 2) : start;
}

export function givenNames(text: string): string {
  return splitPersonName(text).given;
}

export function familyName(text: string): string {
  return splitPersonName(text).family;
}
