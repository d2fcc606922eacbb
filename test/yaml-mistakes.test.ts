/** What is said of YAML that cannot be read, and where. */

import { expect, it } from 'vitest';
import { LineCounter, parseDocument } from 'yaml';
import { yamlMistakes } from '#src/yaml-mistakes.ts';

function mistakeIn(text: string): string {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const [first] = yamlMistakes(text, document, [...document.errors, ...document.warnings]);
  if (first === undefined) return 'none';
  const { line, col } = lines.linePos(first.offset);
  return `${line}:${col} ${first.message}`;
}

it.each([
  // What is never closed is named where it begins.
  ['a: [', '1:4 this [ is not closed: a ] is missing'],
  ['a: [\n', '1:4 this [ is not closed: a ] is missing'],
  ['a: [1,\nb: 2\n', '1:4 this [ is not closed: a ] is missing'],
  ['x:\n  a: [1, [2, 3]\n  b: 3\n', '2:6 this [ is not closed: a ] is missing'],
  ['x:\n  a: {y: 1\n  b: 3\n', '2:6 this { is not closed: a } is missing'],
  ["a: 'x\n", "1:4 this ' is not closed: a ' is missing"],
  ['a: "x\nb: 2', '1:4 this " is not closed: a " is missing'],
  // What is closed is not blamed.
  ['a: [1]\nb:\n    c: "d"\n  e: 2\n', '4:1 this line is indented differently from its neighbours'],
  // No code of the library.
  ['log: !!js/function "x"', '1:6 tags (!name) are not supported here'],
  ['log: !foo x', '1:6 tags (!name) are not supported here'],
  ['%FOO\n---\na: 1\n', '1:1 a line that begins with % is not supported here'],
  ['a: @x\n', '1:4 a text that begins with this character needs quotes'],
  ['a: 1\n', 'none'],
])('%j: %s', (text, expected) => {
  expect(mistakeIn(text)).toBe(expected);
});
