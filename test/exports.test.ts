/** What a file exports is used elsewhere: a reader who sees `export` looks for who needs it. Types are left out: they tell the shape of what is exported. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const files = ['src', 'jobs', 'test'].flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name))
    .map((name) => ({ path: join(room, name), text: readFileSync(join(root, room, name), 'utf8') })),
);
const exported = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;

test('every value that a file exports is named by another one', () => {
  const namedIn = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [word] of text.matchAll(/\b[A-Za-z_]\w+\b/g)) {
      const paths = namedIn.get(word) ?? new Set();
      namedIn.set(word, paths.add(path));
    }
  }
  const unused = files
    .filter(({ path }) => !path.startsWith('test'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(exported)].flatMap(([, name = '']) =>
        (namedIn.get(name)?.size ?? 0) > 1 ? [] : [`${relative('.', path)}: ${name}`],
      ),
    );
  expect(unused).toEqual([]);
});
