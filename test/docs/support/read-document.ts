/** The papers of the project as text, and the pieces of them that tests compare with the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../..');

/** What users read: the README and the folder `docs`. */
export const documents: readonly string[] = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => `docs/${name}`),
];

export function readDocument(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** What stands between `<!-- name -->` and `<!-- /name -->`. @throws Error where the two markers are not there once. */
export function markedPart(text: string, name: string): string {
  const parts = text.split(new RegExp(`^<!-- /?${name} -->$`, 'm'));
  const [, part] = parts;
  if (part === undefined || parts.length !== 3) throw new Error(`there is no one part <!-- ${name} -->`);
  return part.trim();
}

/** The rows of a markdown table, without its head: cells trimmed. */
export function tableRows(table: string): readonly (readonly string[])[] {
  const lines = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

/** The words of a cell that stand in backticks. */
export function codeWords(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}
