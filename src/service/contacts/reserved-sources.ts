/**
 * Words that `source` must not be on create, and prefixes that it must not have (4.1, section 8).
 *
 * Section 8 leaves three words and one prefix unnamed; they are those of `facts.md`. Case: not shown; without regard
 * to case, so that `CSV` is no way around `csv`.
 */
export interface ReservedSources {
  /** In lower case. */
  readonly words: readonly string[];
  readonly prefixes: readonly string[];
}

export const defaultReservedSources: ReservedSources = {
  words: ['openphone', 'device', 'csv', 'zapier', 'google-people', 'other'],
  prefixes: ['openphone', 'csv'],
};

/** What is wrong with a source, or null. */
export function reservedSourceProblem(source: string, reserved: ReservedSources): string | null {
  const folded = source.toLowerCase();
  if (reserved.words.includes(folded)) return `must not be the reserved word ${folded}`;
  const prefix = reserved.prefixes.find((one) => folded.startsWith(one));
  return prefix === undefined ? null : `must not begin with the reserved prefix ${prefix}`;
}
