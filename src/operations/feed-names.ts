/** Feeds by their names: which there are, and which one was probably meant by a name that is none of them. */
import { readdir } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import { closest } from '#src/config/closest.ts';
import { emptyIfMissing } from '#src/errors.ts';
import { feedNameOf } from '#src/feeds/feeds.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { phoneNumbersSchedule } from '#src/ledger/schedules.ts';
import { feedsOfAllHosts } from './hosts.ts';

type NamesHome = Pick<Home, 'ledger' | 'feeds' | 'folders'>;

/** As many as are watched. */
const foldersMax = 200;

/** Folders in the import folders, by the names of their feeds. */
export async function feedFolders({ folders }: Pick<Home, 'folders'>): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const folder of folders.importFolders) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(emptyIfMissing)) {
      if (names.size < foldersMax && entry.isDirectory() && /^[^._]/.test(entry.name))
        names.add(feedNameOf(entry.name));
    }
  }
  return [...names].toSorted();
}

/** Whether it is configured, has a folder here or on any host, or ever had a run. */
async function isKnownFeed(home: NamesHome, name: string): Promise<boolean> {
  // Notices are of it, too.
  if (name === phoneNumbersSchedule || (await feedsOfAllHosts(home))(name)) return true;
  return (await home.ledger.runs.list({ feed: name, limit: 1 })).length > 0;
}

/** The feed whose name is closest to one that is none; null where none is close. */
export async function feedMeant(home: NamesHome, name: string): Promise<string | null> {
  const { ledger, feeds } = home;
  const names = [
    mainFeed,
    ...feeds.configured.map((feed) => feed.name),
    // What uses a folder that cannot be listed names it.
    ...(await feedFolders(home).catch(() => [])),
    ...(await ledger.hosts.list()).flatMap((host) => host.feeds),
    ...(await ledger.deliveries.standings()).map(({ feed }) => feed),
  ];
  return closest(feedNameOf(name), [...new Set(names)]);
}

/** A name that is none of a feed. */
export interface UnknownFeed {
  readonly name: string;
  /** The feed that was probably meant; null where none is close. */
  readonly meant: string | null;
}

/** Null where there is such a feed. */
export async function unknownFeed(home: NamesHome, name: string): Promise<UnknownFeed | null> {
  return (await isKnownFeed(home, feedNameOf(name))) ? null : { name, meant: await feedMeant(home, name) };
}

/** `there is no feed "hubspto": did you mean hubspot?`; null where there is such a feed. */
export async function unknownFeedText(home: NamesHome, name: string): Promise<string | null> {
  const unknown = await unknownFeed(home, name);
  if (unknown === null) return null;
  const { meant } = unknown;
  return `there is no feed "${name}"${meant === null ? '' : `: did you mean ${meant}?`}`;
}
