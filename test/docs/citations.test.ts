/**
 * Every document that a comment, a test or a document cites is in the repository, and so is the section it names; and every
 * file of code that a comment names.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './support/read-document.ts';

const folders = ['src', 'jobs', 'test', 'config', 'docs', 'deploy'];

/** `docs/rules.md`, "Guards" and "Schedules"; the name alone; `docs/interface.md`, section 2.3 (several: 2.1 and 4.4). */
const citation =
  /(?<![\w/.<*-])`?((?:[\w.-]+\/)*[\w-]+\.md)\b`?(?:,? \(?"([^"]+)"(?: and "([^"]+)")?|, (?:sections? )?(\d(?:\.\d)?)\b)?/g;

interface Citation {
  readonly from: string;
  readonly path: string;
  readonly sections: readonly string[];
}

function citationsOf(from: string): readonly Citation[] {
  const text = readFileSync(join(root, from), 'utf8').replace(/\n\s*(?:\*|\/\/|#(?= ))? ?/g, ' ');
  return [...text.matchAll(citation)].map(([, path = '', one, two, number]) => ({
    from,
    path,
    sections: [one, two, number].filter((section) => section !== undefined),
  }));
}

/** From the root, or beside the file that cites it. */
function target({ from, path }: Citation): string | null {
  const places = [join(root, path), join(root, dirname(from), path)];
  return places.find((place) => existsSync(place)) ?? null;
}

/** What can be cited: headings, their numbers, and the first cells of tables. */
function sectionsOf(file: string): ReadonlySet<string> {
  const text = readFileSync(file, 'utf8').replaceAll('`', '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  const numbers = headings.map((heading) => /^(\d(?:\.\d)?)\.? /.exec(heading)?.[1] ?? '');
  const rows = [...text.matchAll(/^\| ([^|]+?) \|/gm)].map((match) => match[1] ?? '');
  return new Set([...headings, ...numbers, ...rows]);
}

const inFolders = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|tsx|mjs|md|yaml|yml|service|css)$/.test(name))
    .map((name) => join(folder, name)),
);
const files = [...inFolders, 'docker-compose.yml'];
// The template of `docs/commands.md` links as its output does: the test of papers checks that.
const citations = files.filter((file) => file !== 'test/docs/support/command-reference.ts').flatMap(citationsOf);

it('every cited document is in the repository', () => {
  expect(citations.length).toBeGreaterThan(200);
  expect(citations.filter((one) => target(one) === null).map(({ from, path }) => `${from}: ${path}`)).toEqual([]);
});

it('every cited section is in its document', () => {
  const missing = citations.flatMap((one) => {
    const file = target(one);
    if (file === null) return [];
    const known = sectionsOf(file);
    return one.sections
      .filter((section) => !known.has(section))
      .map((section) => `${one.from}: ${one.path}, "${section}"`);
  });
  expect(missing).toEqual([]);
});

it('every file of code that a comment names is in the repository', () => {
  const code = files.filter((file) => /\.(?:ts|mjs)$/.test(file));
  const named = code.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm)].flatMap(([line]) =>
      [...line.matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)].map(([, name = '']) => ({ file, name })),
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  const isThere = (name: string) => existsSync(join(root, name)) || code.some((file) => file.endsWith(`/${name}`));
  expect(named.filter(({ name }) => !isThere(name)).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
