/**
 * All feeds: `main`, those of the configuration, and every folder in an import folder (`docs/rules.md`, "Workspace, feed, key"); and
 * what is known of a feed before any of its files is read.
 *
 * A feed needs no entry: any valid name is a feed. Its mapping is the one that the configuration names, else `_mapping.yaml` in
 * its folder; it is read each time, so that an edit applies to the next file.
 *
 * Unicode has several encodings of some letters, and a folder has that of the machine that made it. The name of a feed is in NFC,
 * so that the folder, the configuration and `--feed` mean the same feed.
 */

import { existsSync, opendirSync, readdirSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { feedNameProblem, isMappingName, type OnMissing, readOnMissing } from '#src/config/feed-schema.ts';
import type { Config, FeedConfig } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { labelOfFeed, mainFeed } from '#src/ledger/rules/feeds.ts';
import { loadMapping, mappingsFolder, readMappingText } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { checkSourceLabel, readSource } from '#src/mapping/source-label.ts';
import { closestName } from '#src/sources/column-name.ts';

/** In a feed's folder: the mapping of its files. */
export const mappingFileName = '_mapping.yaml';
/** Common misspellings. Names that begin with `_` are ignored, so such a mapping would silently not apply. */
const mappingMisnomers = ['_mapping.yml', '_Mapping.yaml', '_Mapping.yml', '_MAPPING.YAML', '_mapping.yaml.txt'];

/** What the configuration says of a feed, or the defaults: known without reading a file. */
export interface FeedRules {
  readonly name: string;
  /** `full`: each file holds all contacts of the feed. `delta`: only what changed. */
  readonly kind: 'full' | 'delta';
  /** The source label that the configuration names: it wins over the mapping's. */
  readonly ownSource: string | null;
  /** Its file wins over values that it never agreed on (`docs/rules.md`). */
  readonly adopt: boolean;
  /** What becomes of a row whose contact was deleted in the app. */
  readonly onGone: 'skip' | 'recreate';
  /** What becomes of people whom a full file no longer has. */
  readonly onMissing: OnMissing;
  readonly guards: Config['guards'];
  /** How long it may be without an accepted file before an alert. */
  readonly expectEveryMs: number | null;
  /** Absolute path, glob or URL; null: files come by the folder only. */
  readonly take: string | null;
  /** The environment variable whose value is sent as `Authorization` to the URL. */
  readonly authorizationVariable: string | null;
}

export interface FeedSettings extends FeedRules {
  /** Written into `source` when a contact is created. */
  readonly source: string;
  /** Null: the generic layout, or that of a known export. */
  readonly mapping: Mapping | null;
  /** Whether a file may be recognised as a known export: not where the feed names a mapping, `generic` included. */
  readonly recognise: boolean;
}

export interface Feeds {
  /** Those of the configuration, in its order. */
  readonly configured: readonly FeedRules[];
  /**
   * Checks the mappings and labels of `main` and the configured feeds, which must be right at the start; a mapping in a folder
   * may be corrected at any time. @throws PatchbayError `usage`.
   */
  check(): Promise<void>;
  /** Never throws. */
  rulesOf(name: string): FeedRules;
  /** Whether it is configured or has a folder, as `main` has: a feed without either no longer owns anything. */
  exists(name: string): boolean;
  /** The same, for notices about the feed: null where it has neither, and an import folder that may hold its folder cannot be listed. */
  seen(name: string): boolean | null;
  /**
   * Its current settings.
   * @throws PatchbayError `usage`: `feedRefused` for an invalid name, `sourceRefused`, and what `loadMapping` throws.
   */
  get(name: string): Promise<FeedSettings>;
  /** The feed of a folder in an import folder. Throws as `get`, and for a folder called `main`. */
  ofFolder(name: string): Promise<FeedSettings>;
}

type FeedsConfig = Pick<Config, 'feeds' | 'guards' | 'mapping'>;

/** @param importFolders hold the folders of the feeds; the first that has a mapping for a feed counts. */
export function createFeeds(config: FeedsConfig, importFolders: readonly string[]): Feeds {
  const names = Object.keys(config.feeds);
  const rulesOf = (name: string): FeedRules => rules(config, feedNameOf(name));
  const get = async (given: string): Promise<FeedSettings> => {
    const name = feedNameOf(given);
    if (name !== mainFeed) refuseName(name, names);
    const folders = importFolders.flatMap((folder) => folderNamesOf(given).map((each) => join(folder, each)));
    return settings(rulesOf(name), await mappingNow(config, name, folders), !isNamedGeneric(config, name));
  };
  const exists = (name: string): boolean =>
    name === mainFeed ||
    configOf(config.feeds, name) !== undefined ||
    // Any other name leads out of the folder, or to one of Patchbay's own.
    (/^[^._/\\][^/\\]*$/.test(name) &&
      importFolders.some((folder) => folderNamesOf(name).some((each) => existsSync(join(folder, each)))));
  const seen = (name: string): boolean | null => exists(name) || (importFolders.every(canBeListed) ? false : null);
  const ofFolder = async (name: string): Promise<FeedSettings> => {
    refuseName(feedNameOf(name), names);
    return get(name);
  };
  const check = async (): Promise<void> => {
    await get(mainFeed);
    for (const name of names) settings(rulesOf(name), await configuredMapping(configOf(config.feeds, name)), true);
  };
  return { configured: names.map(rulesOf), check, rulesOf, exists, seen, get, ofFolder };
}

function rules({ feeds, guards }: FeedsConfig, name: string): FeedRules {
  const feed = configOf(feeds, name);
  return {
    name,
    kind: feed?.kind ?? 'full',
    ownSource: feed?.source ?? null,
    adopt: feed?.adopt ?? false,
    onGone: feed?.onGone ?? 'skip',
    onMissing: (feed === undefined ? null : readOnMissing(feed.onMissing)) ?? { kind: 'report' },
    guards: { ...guards, ...feed?.guards },
    expectEveryMs: feed?.expectEveryMs ?? null,
    take: feed?.take ?? null,
    authorizationVariable: feed?.authorization ?? null,
  };
}

/** A folder may be called `constructor`. */
function configOf(feeds: FeedsConfig['feeds'], name: string): FeedConfig | undefined {
  return Object.hasOwn(feeds, name) ? feeds[name] : undefined;
}

function settings(feed: FeedRules, mapping: Mapping | null, recognise: boolean): FeedSettings {
  return { ...feed, mapping, recognise: mapping === null && recognise, source: labelOf(feed, mapping) };
}

function isNamedGeneric({ feeds }: FeedsConfig, name: string): boolean {
  return configOf(feeds, name)?.mapping === 'generic';
}

/** The label of the configuration, else the mapping's, else the feed's name. */
function labelOf({ name, ownSource }: FeedRules, mapping: Mapping | null): string {
  const chosen = ownSource ?? mapping?.source;
  if (chosen !== undefined) return checkSourceLabel(chosen);
  const reading = readSource(labelOfFeed(name));
  if (reading.ok) return reading.value;
  const { code, message } = reading.flaw;
  throw new PatchbayError('usage', code, `feed "${name}": its name cannot be its source label: ${message}`, {
    facts: { feed: name },
    hint: `Rename the folder ${name}, or choose a label with feeds.${name}.source in the config file, or with source in ${mappingFileName} in the folder. Then drop the file again.`,
  });
}

/** @throws PatchbayError `usage` `feedRefused`. */
function refuseName(name: string, configured: readonly string[]): void {
  if (configured.includes(name)) return;
  const folded = foldName(name);
  const alike = configured.find((each) => foldName(each) === folded);
  const problem =
    feedNameProblem(name) ?? (alike === undefined ? null : `its name differs only in case from the feed ${alike}`);
  if (problem === null) return;
  throw new PatchbayError('usage', 'feedRefused', `"${name}" cannot be a feed: ${problem}`, {
    facts: { feed: name },
    hint: 'Choose another name. If it is a folder in the import folder, rename it and drop the file again.',
  });
}

/** The name of a feed, in whatever encoding of its letters it was given. */
export function feedNameOf(text: string): string {
  return text.normalize('NFC');
}

/** The names that the folder of a feed may have in an import folder. */
export function folderNamesOf(feed: string): readonly string[] {
  return [...new Set([feed, feed.normalize('NFC'), feed.normalize('NFD')])];
}

function canBeListed(folder: string): boolean {
  try {
    opendirSync(folder).closeSync();
    return true;
  } catch {
    return false;
  }
}

function foldName(name: string): string {
  return feedNameOf(name).toLowerCase();
}

async function mappingNow(config: FeedsConfig, name: string, ownFolders: readonly string[]): Promise<Mapping | null> {
  if (name === mainFeed) return config.mapping.file === null ? null : loadMapping(config.mapping.file);
  const feed = configOf(config.feeds, name);
  if (feed !== undefined && feed.mapping !== null) return configuredMapping(feed);
  for (const folder of ownFolders) {
    const mapping = await mappingIfThere(join(folder, mappingFileName));
    if (mapping !== null) return mapping;
  }
  for (const folder of ownFolders) refuseMisnomer(folder);
  return null;
}

/** @throws PatchbayError `usage` `mappingMisnamed`. */
function refuseMisnomer(folder: string): void {
  const misnomer = mappingMisnomers.find((name) => existsSync(join(folder, name)));
  if (misnomer === undefined) return;
  const message = `${join(folder, misnomer)} is not read: the mapping of a feed must be called ${mappingFileName}`;
  throw new PatchbayError('usage', 'mappingMisnamed', message, {
    facts: { file: join(folder, misnomer) },
    hint: `Rename it to ${mappingFileName}.`,
  });
}

async function configuredMapping(feed: FeedConfig | undefined): Promise<Mapping | null> {
  if (feed === undefined || feed.mapping === null) return null;
  return isMappingName(feed.mapping) ? namedMapping(feed.mapping) : loadMapping(feed.mapping);
}

/** Links are not followed: anyone who may drop files could point them out of the import folder. */
async function mappingIfThere(file: string): Promise<Mapping | null> {
  try {
    return await loadMapping(file, { followLinks: false });
  } catch (error) {
    if (error instanceof PatchbayError && error.code === 'mappingNotFound') return null;
    throw error;
  }
}

/**
 * The mapping for `--mapping`: a file of that name wins over a mapping of that name. Null is the generic layout.
 * @throws PatchbayError `usage`: `mappingNotFound` with the existing names; what `loadMapping` throws.
 */
export async function findMapping(nameOrFile: string): Promise<Mapping | null> {
  const place = placeOfMapping(nameOrFile);
  return isAbsolute(place) ? loadMapping(place) : namedMapping(place);
}

/** The same, to be found from any folder: the path of the file, or the name. */
export function placeOfMapping(nameOrFile: string): string {
  const isFile = existsSync(resolve(nameOrFile)) || /[/\\]|\.ya?ml$/.test(nameOrFile);
  return nameOrFile !== 'generic' && isFile ? resolve(nameOrFile) : nameOrFile;
}

/** The text of that mapping, with its comments; `generic` is the one that describes every key. @throws PatchbayError as `findMapping`. */
export async function findMappingText(nameOrFile: string): Promise<string> {
  const place = placeOfMapping(nameOrFile);
  return readMappingText(isAbsolute(place) ? place : mappingFileOf(place));
}

/** @throws PatchbayError as `findMapping`. */
async function namedMapping(name: string): Promise<Mapping | null> {
  return name === 'generic' ? null : loadMapping(mappingFileOf(name));
}

/** @throws PatchbayError `usage` `mappingNotFound`. */
function mappingFileOf(name: string): string {
  const file = join(mappingsFolder, `${basename(name)}.yaml`);
  if (existsSync(file)) return file;
  const names = readdirSync(mappingsFolder)
    .map((each) => each.replace(/\.yaml$/, ''))
    .toSorted();
  const close = closestName(name, names);
  const meant = close === null ? '' : `Did you mean "${close}"? `;
  throw new PatchbayError('usage', 'mappingNotFound', `there is no mapping "${name}"`, {
    facts: { mapping: name },
    hint: `${meant}Name a YAML file, or one of: ${names.join(', ')}.`,
  });
}
