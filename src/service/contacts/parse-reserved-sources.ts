/** Reads reserved words and prefixes as an operator writes them: `WORD`, or `PREFIX*`. */
import { PatchbayError } from '#src/errors.ts';
import type { ReservedSources } from './reserved-sources.ts';

/** A longer one could reserve nothing: `source` has at most 72 characters on create (section 8). */
const charactersMax = 72;
const countMax = 1_000;

/** Throws a `usage` error `reservedSourceMalformed` that names the first entry that cannot be meant. */
export function parseReservedSources(entries: readonly string[]): ReservedSources {
  if (entries.length > countMax) throw malformed(`more than ${countMax} reserved sources`, null);
  const words: string[] = [];
  const prefixes: string[] = [];
  for (const entry of entries) {
    const isPrefix = entry.endsWith('*');
    const text = (isPrefix ? entry.slice(0, -1) : entry).toLowerCase();
    const problem = problemOf(text);
    if (problem !== null) throw malformed(`the reserved source "${entry}" ${problem}`, entry);
    (isPrefix ? prefixes : words).push(text);
  }
  return { words, prefixes };
}

function problemOf(text: string): string | null {
  if (text === '') return 'reserves nothing, or everything';
  if (text.includes('*')) return 'has a * elsewhere than at its end';
  if (text !== text.trim() || /\p{Cc}/u.test(text)) return 'has white space at its ends or a control character';
  return [...text].length > charactersMax ? `has more than ${charactersMax} characters` : null;
}

function malformed(message: string, entry: string | null): PatchbayError {
  return new PatchbayError('usage', 'reservedSourceMalformed', message, {
    facts: { entry },
    hint: 'Give a word, as partner, or a prefix with a star, as crm*. Case does not count.',
  });
}
