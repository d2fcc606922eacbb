/**
 * A hint may quote another cell of the row than that of its problem: the country in which a phone number was looked up. Such a text is
 * in typographic quotes, as nothing else in hints does, so that it is found again where values must not be printed.
 */

const cellCharsMax = 60;

/** `“United States of Amerika”`: on one line, and cut after 60 characters. Also for what a service says, which may repeat what it was sent. */
export function quotedCell(text: string, quotedCharsMax = cellCharsMax): string {
  const characters = [...text.replace(/[“”\s\p{Cc}]+/gu, ' ').trim()];
  const shown = characters.length <= quotedCharsMax ? characters : [...characters.slice(0, quotedCharsMax - 1), '…'];
  return `“${shown.join('')}”`;
}

/** A word as `shellWord` writes it. */
const setWord = / --set (?:'(?:[^']|'\\'')*'|\$'(?:[^'\\]|\\.)*'|\S+)/gs;

/** The hint for `--no-values`: `“…”` in place of each quoted cell, and no value in a command that sets one. */
export function withoutQuotedCells(hint: string): string {
  return hint.replace(/“[^”]*”/g, '“…”').replace(setWord, ' --set COLUMN=VALUE');
}
