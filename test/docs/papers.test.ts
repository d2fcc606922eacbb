/** Tables in the papers say what the code says. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configMarkdown } from '#src/config/document.ts';
import { configVariable } from '#src/config/layers.ts';
import { settings } from '#src/config/settings.ts';
import manifest from '../../package.json' with { type: 'json' };
import { codeWords, documents, markedPart, readDocument, root, tableRows } from './support/read-document.ts';

const readme = readDocument('README.md');
const map = readDocument('src/README.md');
const tablePart = /(?<=<!-- config -->\n)[\s\S]*?(?=<!-- \/config -->)/;

/** The anchors of the headings, as the usual pages for Markdown make them. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The table of `test/layers.test.ts`, read from its text: room → the rooms that it may import from. */
function layersOfTheTest(): Record<string, readonly string[]> {
  const text = readDocument('test/layers.test.ts');
  const literal = /const mayImport[^{]*= \{\n([\s\S]*?)\n\};/.exec(text)?.[1] ?? '';
  const entries = literal.split(/^ {2}(?=\S+: \[)/m).filter((entry) => entry !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', rest = ''] = entry.split(/: (?=\[)/);
      const rooms = [...rest.matchAll(/'([a-z-]+)'/g)].map((match) => match[1] ?? '');
      return [name.replaceAll("'", ''), rooms.toSorted()];
    }),
  );
}

describe('the README', () => {
  it('can be read in one go', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(250);
  });

  it('leads to every document', () => {
    const linked = [...readme.matchAll(/\]\((docs\/[a-z-]+\.md)/g)].map((match) => match[1] ?? '');
    expect(documents.filter((path) => path.startsWith('docs/') && !linked.includes(path))).toEqual([]);
  });

  it('says of every direct dependency why it is there, and names no other', () => {
    const { dependencies, devDependencies, optionalDependencies } = manifest;
    const part = /^## Dependencies$([\s\S]*?)^## /m.exec(readme)?.[1] ?? '';
    const named = tableRows(part).flatMap(([packages = '']) => codeWords(packages));
    const direct = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(named.toSorted()).toEqual(direct.toSorted());
  });
});

describe('docs/configuration.md', () => {
  it('holds the table of all settings, as generated', async () => {
    const text = readDocument('docs/configuration.md').replace(tablePart, () => configMarkdown());
    await expect(text).toMatchFileSnapshot('../../docs/configuration.md');
    expect(markedPart(text, 'config')).toBe(configMarkdown().trim());
  });
});

describe('src/README.md', () => {
  it('holds the same table of layers as the test that guards them', () => {
    const rows = tableRows(markedPart(map, 'layers'));
    const told = Object.fromEntries(
      rows.map(([room = '', rooms = '']) => [codeWords(room)[0] ?? '', codeWords(rooms).toSorted()]),
    );
    const held = layersOfTheTest();
    expect(Object.keys(held).length).toBeGreaterThan(15);
    expect(told).toEqual(held);
  });

  it('has a line for every folder and file beside it', () => {
    const names = readdirSync(join(root, 'src')).filter((name) => name !== 'README.md');
    const rooms = tableRows(markedPart(map, 'layers')).map(([room = '']) => codeWords(room)[0] ?? '');
    expect(names.map((name) => name.replace(/\.ts$/, '')).filter((name) => !rooms.includes(name))).toEqual([]);
  });
});

describe('the papers', () => {
  it('name only variables that there are', () => {
    const known = new Set([configVariable, ...settings.flatMap((setting) => setting.variables)]);
    const text = documents.map(readDocument).join('\n');
    const named = [...text.matchAll(/\b(?:PATCHBAY_[A-Z_]+[A-Z]|REDIS_URL)\b/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it.each([...documents, 'src/README.md'])('name only files and headings that there are: %s', (paper) => {
    const folder = dirname(join(root, paper));
    const text = readDocument(paper);
    const links = [...text.matchAll(/\]\(([^)#:]*)(?:#([^)]+))?\)/g)];
    for (const [, link = '', anchor] of links) {
      const target = link === '' ? join(root, paper) : join(folder, link);
      expect(existsSync(target), `${paper}: ${link}`).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(readFileSync(target, 'utf8')), `${paper}: ${link}`).toContain(anchor);
    }
    const files = codeWords(text.replaceAll(/^```[\s\S]*?^```$/gm, '')).filter((word) =>
      /^(?:src|jobs|test|config|docs)\/[\w./-]+$/.test(word),
    );
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('speak of the version that the package has', () => {
    expect(readDocument('CHANGELOG.md')).toContain(`## ${manifest.version}`);
  });
});
