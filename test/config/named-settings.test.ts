/** What messages, hints and documents call a setting is one: a configuration with any other name is refused. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memberAt, sections, settings } from '#src/config/settings.ts';
import { documents, root } from '#test/docs/support/read-document.ts';
import { sourceTexts } from '#test/docs/support/source-texts.ts';

const sectionNames = sections.flatMap((section) => (section.kind === 'setting' ? [] : [section.name]));
const key = new RegExp(`(?<![\\w./-])(?:${sectionNames.join('|')})\\.[\\w$<>-]+(?:\\.[\\w$<>-]+)*`, 'g');
const file = /\.(?:md|ts|ya?ml|json|sqlite|service|conf|sock|damaged|dump|gz)$/;
/** It names the file of the settings. */
const variables = new Set(['PATCHBAY_CONFIG', ...settings.flatMap((setting) => setting.variables)]);

/** Keys and variables in the text that no setting has. */
function unknownIn(text: string): readonly string[] {
  const keys = [...text.matchAll(key)].map(([found]) => found);
  const named = [...text.matchAll(/\bPATCHBAY_[A-Z_]+\b/g)].map(([found]) => found);
  return [
    ...keys.filter((one) => !file.test(one) && memberAt(one.split('.')) === null),
    ...named.filter((one) => !variables.has(one)),
  ];
}

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

describe('a setting that is named', () => {
  it('in a message or a hint is one', () => {
    const hits = sources.flatMap((name) =>
      sourceTexts(readFileSync(join(root, 'src', name), 'utf8'))
        .filter(({ kind, text }) => kind === 'message' && text.includes(' '))
        .flatMap(({ line, text }) => unknownIn(text).map((one) => `src/${name}:${line} ${one}`)),
    );
    expect(hits).toEqual([]);
  });

  it.each(documents)('in %s is one', (path) => {
    expect(unknownIn(readFileSync(join(root, path), 'utf8'))).toEqual([]);
  });
});
