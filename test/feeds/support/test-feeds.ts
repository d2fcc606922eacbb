/** Feeds as a config file would name them, with limits of the test's own, and `main` with a mapping at hand. */
import { type ConfigInput, configSchema } from '#src/config/schema.ts';
import { createFeeds, type FeedRules, type Feeds } from '#src/feeds/feeds.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { GuardLimits } from '#src/runs/guards.ts';

export interface TestFeeds {
  readonly guards?: Partial<GuardLimits>;
  /** Of `main`. */
  readonly mapping?: Mapping | null;
  readonly configured?: NonNullable<ConfigInput['feeds']>;
  readonly importFolders?: readonly string[];
}

export async function testFeeds(given: TestFeeds = {}): Promise<Feeds> {
  const { guards = {}, mapping = null, configured = {}, importFolders = [] } = given;
  const config = configSchema.parse({ feeds: configured });
  const feeds = createFeeds({ ...config, guards: { ...config.guards, ...guards } }, importFolders);
  await feeds.check();
  const get: Feeds['get'] = async (name) => {
    const feed = await feeds.get(name);
    return name === 'main' ? { ...feed, mapping } : feed;
  };
  return { ...feeds, get };
}

/** Feeds without configuration and folders: nothing is compared with the file before. */
export function plainFeeds(guards: Partial<GuardLimits> = {}): Feeds {
  const defaults = configSchema.parse({}).guards;
  const rulesOf = (name: string): FeedRules => ({
    name,
    kind: 'delta',
    ownSource: null,
    adopt: false,
    onGone: 'skip',
    onMissing: { kind: 'report' },
    guards: { ...defaults, ...guards },
    expectEveryMs: null,
    take: null,
    authorizationVariable: null,
  });
  const get: Feeds['get'] = async (name) => ({ ...rulesOf(name), mapping: null, recognise: true, source: name });
  return {
    configured: [],
    check: async () => undefined,
    rulesOf,
    exists: () => true,
    seen: () => true,
    get,
    ofFolder: get,
  };
}
