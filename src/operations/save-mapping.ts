/**
 * Where a mapping is kept, and its text: beside the feed as `_mapping.yaml`, or for `main` as a file in the data folder, which `--mapping` or
 * `mapping.file` of the configuration names.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DataFolders } from '#src/config/data-folders.ts';
import { feedNameProblem } from '#src/config/feed-schema.ts';
import type { Config } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { folderNamesOf, mappingFileName } from '#src/feeds/feeds.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { loadMapping } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { changesBetween } from '#src/mapping/propose/kept-settings.ts';
import { readingLines } from '#src/mapping/propose/proposal.ts';
import { writeWholeFile } from '#src/whole-file.ts';
import type { MapReadOptions } from './read-for-map.ts';

interface SaveParts {
  readonly config: Pick<Config, 'feeds' | 'mapping'>;
  readonly folders: Pick<DataFolders, 'root' | 'importFolders'>;
}

/**
 * The text of a mapping with what a person said about its files: their sheet, encoding and delimiter, in place of what it says itself.
 * @param text of a mapping that can be read.
 */
export function withReading(text: string, reading: MapReadOptions): string {
  const lines = readingLines(reading);
  if (lines.length === 0) return text;
  const names = new Set(lines.map((line) => line.slice(0, line.indexOf(':'))));
  const kept = text.split('\n').filter((line) => !names.has(/^(\w+):/.exec(line)?.[1] ?? ''));
  return [...kept.join('\n').trimEnd().split('\n'), ...lines, ''].join('\n');
}

export interface SavedMapping {
  readonly file: string;
  /** The feed that reads its files by it from now on; null where it has to be named. */
  readonly feed: string | null;
  /** Where the one is now whose place it took; null where there was none, or the same. */
  readonly replaced: string | null;
  /** What it means that it took the place of that one: sentences. */
  readonly changes: readonly string[];
}

/**
 * @param text of a mapping: a draft, or the file of a preset.
 * @throws PatchbayError `usage`: `feedRefused`, `mappingConfigured`, `mappingExists`, `mappingInvalid`; the system's errors.
 */
export async function saveMapping(
  { config, folders }: SaveParts,
  text: string,
  { feed = mainFeed, force = false }: { readonly feed?: string; readonly force?: boolean },
): Promise<SavedMapping> {
  const file = fileOf(config, folders, feed, text);
  if (!force && existsSync(file)) {
    throw new PatchbayError('usage', 'mappingExists', `there is a mapping already: ${file}`, {
      facts: { file },
      hint: 'Rename it, or replace it with --force, which keeps a copy beside it.',
    });
  }
  // What is saved can be read: an invalid mapping would stop every file of the feed.
  const mapping = parseMapping(text, basename(file));
  const before = await mappingBefore(file);
  const replaced = await setAside(file, text);
  await writeWholeFile(file, text);
  const changes = before === null ? [] : changesBetween(before, mapping);
  return { file, feed: feed === mainFeed ? null : feed, replaced, changes };
}

/** A copy beside it of what is there, if it is another text: people write into mappings. No earlier copy is replaced. */
async function setAside(file: string, text: string): Promise<string | null> {
  if (!existsSync(file)) return null;
  const there = await readFile(file);
  if (there.equals(Buffer.from(text))) return null;
  let copy = `${file}.bak`;
  for (let number = 2; existsSync(copy); number += 1) copy = `${file}.bak${number}`;
  await writeWholeFile(copy, [there]);
  return copy;
}

/** Null where there is none, or one that cannot be read. */
async function mappingBefore(file: string): Promise<Mapping | null> {
  try {
    return await loadMapping(file);
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'usage') return null;
    throw error;
  }
}

function fileOf(config: SaveParts['config'], folders: SaveParts['folders'], feed: string, text: string): string {
  if (feed === mainFeed) return join(folders.root, 'mappings', `${parseMapping(text, 'the mapping').name}.yaml`);
  const problem = feedNameProblem(feed);
  if (problem !== null) {
    const facts = { feed };
    const hint = 'Choose another name for the feed.';
    throw new PatchbayError('usage', 'feedRefused', `"${feed}" cannot be a feed: ${problem}`, { facts, hint });
  }
  const configured = Object.hasOwn(config.feeds, feed) ? (config.feeds[feed]?.mapping ?? null) : null;
  if (configured !== null) {
    const message = `the configuration names another mapping for feed "${feed}": feeds.${feed}.mapping is ${configured}`;
    const hint = `Remove feeds.${feed}.mapping, or change that mapping.`;
    throw new PatchbayError('usage', 'mappingConfigured', message, { facts: { feed }, hint });
  }
  const there = folders.importFolders.flatMap((folder) => folderNamesOf(feed).map((name) => join(folder, name)));
  // In the sandbox, too, people drop files into the import folder of the data folder.
  const folder = there.find((each) => existsSync(each)) ?? join(folders.importFolders.at(-1) ?? '', feed);
  return join(folder, mappingFileName);
}
