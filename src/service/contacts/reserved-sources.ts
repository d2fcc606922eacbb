import { PatchbayError } from '#src/errors.ts';

/**
 * Words that `source` must not be on create, and prefixes that it must not have (4.1, section 8).
 *
 * Section 8 names three words and one prefix, which are always reserved, and leaves three words and one prefix unnamed. Those
 * are not shown: they are of `docs/facts.md`, or the operator's in their place. Case: not shown; without regard to case, so
 * that `CSV` is no way around `csv`.
 */
export interface ReservedSources {
  /** In lower case. */
  readonly words: readonly string[];
  readonly prefixes: readonly string[];
}

const named: ReservedSources = { words: ['device', 'csv', 'other'], prefixes: ['csv'] };

const unnamedByDefault: ReservedSources = {
  words: ['openphone', 'zapier', 'google-people'],
  prefixes: ['openphone'],
};

/** All that is reserved: what section 8 names, then `unnamed`; an entry that is in both is there once. */
export function allReservedSources(unnamed: ReservedSources = unnamedByDefault): ReservedSources {
  return {
    words: [...new Set([...named.words, ...unnamed.words])],
    prefixes: [...new Set([...named.prefixes, ...unnamed.prefixes])],
  };
}

/** What is wrong with a source, or null. */
export function reservedSourceProblem(source: string, reserved: ReservedSources): string | null {
  const folded = source.toLowerCase();
  if (reserved.words.includes(folded)) return `must not be the reserved word ${folded}`;
  const prefix = reserved.prefixes.find((one) => folded.startsWith(one));
  return prefix === undefined ? null : `must not begin with the reserved prefix ${prefix}`;
}

// Reads reserved words and prefixes as an operator writes them: `WORD`, or `PREFIX*`.

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
