/** Whether a text names a person, and the same text without that. Pure. */
import { forgottenWord } from '#src/ledger/erased-rows.ts';

/** One of these as a word of its own: `a-17` is not in `a-170`. Null where there are none. */
export function wordsOf(texts: readonly string[], flags = 'u'): RegExp | null {
  if (texts.length === 0) return null;
  return new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${texts.map(escaped).join('|')})(?![\\p{L}\\p{N}_-])`, flags);
}

/** As text of a regular expression. */
function escaped(text: string): string {
  return text.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, '\\$&');
}

/**
 * A reason that was given, with the words of a person who is forgotten replaced; the same text where it has none.
 * @param texts each is replaced as a word, however it is spelled. The key alone may be shorter, and is replaced where it is the whole reason.
 */
export function withoutPerson(
  reason: string,
  { key, texts }: { readonly key: string; readonly texts: readonly string[] },
): string {
  if (reason.trim() === key) return forgottenWord;
  const words = wordsOf(texts, 'giu');
  return words === null ? reason : reason.replaceAll(words, forgottenWord);
}
