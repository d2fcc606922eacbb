/**
 * The folders of feeds in one import folder: each is watched from when it is there until it is gone.
 *
 * A folder whose name no feed can have, or whose feed has a broken mapping, is watched too: what is dropped there goes to
 * `_failed` with the reason. Nothing passes in silence.
 */
import { messageOf, PatchbayError } from '#src/errors.ts';
import { type Feeds, feedNameOf } from '#src/feeds/feeds.ts';
import type { Logger } from '#src/log.ts';
import type { ImportFolder } from '#src/sources/import-folder.ts';

export const feedFoldersMax = 200;

export interface FeedFolders {
  /** Told again and again which folders there are. */
  readonly found: (names: readonly string[]) => void;
  /** Waits for what is at work. */
  close(): Promise<void>;
}

export interface FeedFoldersOptions {
  readonly feeds: Feeds;
  readonly log: Logger;
  readonly watch: (name: string) => ImportFolder;
}

export function createFeedFolders({ feeds, log, watch }: FeedFoldersOptions): FeedFolders {
  const watched = new Map<string, ImportFolder>();
  const closing = new Set<Promise<void>>();
  let closed = false;
  let toldOfMany = false;

  const warnOfMany = (names: readonly string[]): void => {
    const count = names.length;
    const first = names.find((name) => !watched.has(name));
    if (first !== undefined && !toldOfMany) {
      const hint = 'Files in the others wait. Remove folders that are not used any more.';
      log.warn(
        { count, limit: feedFoldersMax, feed: feedNameOf(first), hint },
        'too many folders in the import folder: this feed and others are left alone',
      );
    }
    toldOfMany = first !== undefined;
  };
  /** The first look at a folder tells early what the first file in it would tell. */
  const warnOfTrouble = async (name: string): Promise<void> => {
    try {
      await feeds.ofFolder(name);
    } catch (error) {
      const [code, hint] = error instanceof PatchbayError ? [error.code, error.hint] : ['unknown', null];
      log.warn(
        { feed: feedNameOf(name), code, reason: messageOf(error), hint },
        'what is dropped into this folder of the import folder will fail',
      );
    }
  };
  const stopWatching = (name: string, folder: ImportFolder): void => {
    watched.delete(name);
    const end = folder.close().finally(() => closing.delete(end));
    closing.add(end);
  };

  return {
    found: (names) => {
      if (closed) return;
      const there = new Set(names);
      for (const [name, folder] of watched) if (!there.has(name)) stopWatching(name, folder);
      const configured = new Set(feeds.configured.map((feed) => feed.name));
      const fresh = names.filter((name) => !watched.has(name));
      // Feeds that somebody wrote down come first.
      for (const name of fresh.toSorted(
        (left, right) => Number(configured.has(right)) - Number(configured.has(left)),
      )) {
        if (watched.size >= feedFoldersMax) break;
        watched.set(name, watch(name));
        void warnOfTrouble(name);
      }
      warnOfMany(names);
    },
    close: async () => {
      closed = true;
      for (const [name, folder] of watched) stopWatching(name, folder);
      await Promise.all(closing);
    },
  };
}
