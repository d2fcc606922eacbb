/** Words of the commands that hints and other texts name: what is printed can be pasted into a shell, whatever people call their things. */

/** What moves the cursor of a terminal, or turns the direction of what follows. */
const unprintable = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A value as one word of a shell. Characters that no text may hold are written as bash and zsh read them: `$'\u202e'`.
 * A value of an option may begin with `-`; for what stands by itself there is `operands`.
 */
export function shellWord(text: string): string {
  if (/^[\w@.+:/-]+$/.test(text)) return text;
  if (text.search(unprintable) === -1) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replace(unprintable, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}

/** Keys, files and ids as the last words of a command: `c-17`, or `-- -17`, since a word with `-` in front would be an option. */
export function operands(...words: readonly string[]): string {
  const isOption = words.some((word) => word.startsWith('-') && word !== '-');
  return [...(isOption ? ['--'] : []), ...words.map(shellWord)].join(' ');
}
