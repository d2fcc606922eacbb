/** What is said of YAML that cannot be read, and where. */

import { expect, it } from 'vitest';
import { type Document, isCollection, isScalar, LineCounter, type Node, visit } from 'yaml';
import { parseSettings, yamlMistakes } from '#src/yaml-mistakes.ts';

function mistakeIn(text: string): string {
  const lines = new LineCounter();
  const document = parseSettings(text, lines);
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
  ['a: ["x" "y"', '1:9 a quote, a bracket, a comma or a colon is missing here'],
  // What is closed is not blamed.
  ['a: [1]\nb:\n    c: "d"\n  e: 2\n', '4:1 this line is indented differently from its neighbours'],
  // No code of the library.
  ['log: !!js/function "x"', '1:6 tags (!name) are not supported here'],
  ['log: !foo x', '1:6 tags (!name) are not supported here'],
  ['%FOO\n---\na: 1\n', '1:1 a line that begins with % is not supported here'],
  ['a: @x\n', '1:4 a text that begins with this character needs quotes'],
  ['a: 1\n', 'none'],
  ['a: 1\nb: {c: 1, "c": 2}\na: [', '2:11 this key is here a second time'],
  ['a: 1\n"a": 2\n', '2:1 this key is here a second time'],
  ['1: 1\n"1": 2\n', 'none'],
])('%j: %s', (text, expected) => {
  expect(mistakeIn(text)).toBe(expected);
});

/** Counts how often it is asked where a value or a list of the document is. */
function countedPlaces(document: Document.Parsed): () => number {
  let asked = 0;
  visit(document, {
    Node: (_key, node) => {
      if (!isCollection(node) && !isScalar(node)) return;
      const { range } = node as Node;
      const ask = () => {
        asked += 1;
        return range;
      };
      Object.defineProperty(node, 'range', { get: ask });
    },
  });
  return () => asked;
}

it.each([
  ['lists without a comma', '- ["x" "y"]\n'],
  ['quotes that are not closed', '- "x\n'],
])('%s are each looked at a few times, whatever their number', (_what, line) => {
  const text = line.repeat(2_000);
  const document = parseSettings(text, new LineCounter());
  const asked = countedPlaces(document);
  const mistakes = yamlMistakes(text, document, document.errors);
  expect(mistakes).toHaveLength(2_000);
  expect(asked()).toBeLessThan(30_000);
});

it('the parser does not compare each key with each other one', () => {
  const document = parseSettings('a: 1\na: 2\n', new LineCounter());
  expect(document.errors).toEqual([]);
  expect(yamlMistakes('a: 1\na: 2\n', document, [])).toHaveLength(1);
});
