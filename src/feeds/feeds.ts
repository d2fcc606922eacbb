/**
 * All feeds: `main`, those of the configuration, and every folder in an import folder (`rules.md`, "Workspace, feed, key").
 *
 * A feed needs no entry anywhere: a name of the right form is one. Its mapping is the one that the configuration names,
 * else `_mapping.yaml` in its folder; it is read anew each time, so that an edit counts for the next file.
 */
import { join } from 'node:path';
import { isMappingName } from '#src/config/feed-checks.ts';
import { feedNameProblem } from '#src/config/feed-name.ts';
import type { Config, FeedConfig } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { labelOfFeed, mainFeed } from '#src/ledger/main-feed.ts';
import { loadMapping } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { checkSourceLabel } from '#src/mapping/source-label.ts';
import type { FeedRules, FeedSettings } from './feed-settings.ts';
import { namedMapping } from './find-mapping.ts';

/** In a feed's folder: the mapping of its files. */
export const mappingFileName = '_mapping.yaml';

export interface Feeds {
  /** Those of the configuration, in its order. Their mappings are as they were when the configuration was loaded. */
  readonly configured: readonly FeedSettings[];
  /** What the configuration says of it. Never throws. */
  rulesOf(name: string): FeedRules;
  /**
   * Its settings as they are now.
   * @throws PatchbayError `usage`: `feedRefused` where no feed can be called so, `sourceRefused`, and what `loadMapping`
   *   throws.
   */
  get(name: string): Promise<FeedSettings>;
  /** The feed of a folder in an import folder. Throws as `get`, and for a folder `main` too: `main` has none. */
  ofFolder(name: string): Promise<FeedSettings>;
}

export type FeedsConfig = Pick<Config, 'feeds' | 'guards' | 'mapping'>;

/**
 * @param importFolders where the folders of the feeds lie; the first that holds a mapping for a feed counts.
 * @throws PatchbayError `usage`: what is wrong with the mapping or the label of a configured feed, or of `main`.
 */
export async function loadFeeds(config: FeedsConfig, importFolders: readonly string[]): Promise<Feeds> {
  const names = Object.keys(config.feeds);
  const rulesOf = (name: string): FeedRules => rules(config, name);
  const get = async (name: string): Promise<FeedSettings> => {
    if (name !== mainFeed) refuseName(name, names);
    return settings(rulesOf(name), await mappingNow(config, name, importFolders));
  };
  const ofFolder = async (name: string): Promise<FeedSettings> => {
    refuseName(name, names);
    return get(name);
  };
  await get(mainFeed);
  const configured = await Promise.all(
    // A mapping in a folder may be mended at any time: it is no reason not to start.
    names.map(async (name) => settings(rulesOf(name), await configuredMapping(configOf(config.feeds, name)))),
  );
  return { configured, rulesOf, get, ofFolder };
}

function rules({ feeds, guards }: FeedsConfig, name: string): FeedRules {
  const feed = configOf(feeds, name);
  return {
    name,
    kind: feed?.kind ?? 'full',
    ownSource: feed?.source ?? null,
    guards: { ...guards, ...feed?.guards },
    expectEveryMs: feed?.expectEvery ?? null,
    take: feed?.take ?? null,
    authorizationVariable: feed?.authorization ?? null,
  };
}

/** A folder may be called `constructor`. */
function configOf(feeds: FeedsConfig['feeds'], name: string): FeedConfig | undefined {
  return Object.hasOwn(feeds, name) ? feeds[name] : undefined;
}

function settings(feed: FeedRules, mapping: Mapping | null): FeedSettings {
  return { ...feed, mapping, source: labelOf(feed, mapping) };
}

/** The label of the configuration, else the mapping's, else the feed's name. */
function labelOf({ name, ownSource }: FeedRules, mapping: Mapping | null): string {
  const chosen = ownSource ?? mapping?.source;
  if (chosen !== undefined) return checkSourceLabel(chosen);
  try {
    return checkSourceLabel(labelOfFeed(name));
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    const message = `feed "${name}": its name would be the source label of its contacts; ${error.message}`;
    throw new PatchbayError('usage', error.code, message, {
      facts: { feed: name },
      hint: `Rename the folder ${name}, or choose a label with feeds.${name}.source in the config file, or with source in ${mappingFileName} in the folder. Then drop the file again.`,
      cause: error,
    });
  }
}

/** @throws PatchbayError `usage` `feedRefused`. */
function refuseName(name: string, configured: readonly string[]): void {
  if (configured.includes(name)) return;
  const folded = foldName(name);
  const alike = configured.find((each) => foldName(each) === folded);
  const problem =
    feedNameProblem(name) ??
    (alike === undefined
      ? null
      : `there is a feed ${alike}, whose name differs only in case or in how its letters are encoded`);
  if (problem === null) return;
  throw new PatchbayError('usage', 'feedRefused', `"${name}" cannot be a feed: ${problem}`, {
    facts: { feed: name },
    hint: 'Choose another name. Where it is a folder in the import folder: rename it and drop the file again.',
  });
}

function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

async function mappingNow(
  config: FeedsConfig,
  name: string,
  importFolders: readonly string[],
): Promise<Mapping | null> {
  if (name === mainFeed) return config.mapping.file === null ? null : loadMapping(config.mapping.file);
  const feed = configOf(config.feeds, name);
  if (feed !== undefined && feed.mapping !== null) return configuredMapping(feed);
  for (const folder of importFolders) {
    const mapping = await mappingIfThere(join(folder, name, mappingFileName));
    if (mapping !== null) return mapping;
  }
  return null;
}

async function configuredMapping(feed: FeedConfig | undefined): Promise<Mapping | null> {
  if (feed === undefined || feed.mapping === null) return null;
  return isMappingName(feed.mapping) ? namedMapping(feed.mapping) : loadMapping(feed.mapping);
}

async function mappingIfThere(file: string): Promise<Mapping | null> {
  try {
    return await loadMapping(file);
  } catch (error) {
    if (error instanceof PatchbayError && error.code === 'mappingNotFound') return null;
    throw error;
  }
}
