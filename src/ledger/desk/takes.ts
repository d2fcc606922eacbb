/** What feeds have taken from elsewhere, over the records of the desk. */
import { setImmediate } from 'node:timers/promises';
import { forgottenBefore, isSeenLongAgo, type KnownFile, passedOver } from '#src/ledger/rules/takes.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import type { TakeBeginning, TakeLedger, TakenFile, TakenUrl } from '#src/ledger/takes.ts';
import { type Entry, inSlices, inTransactions, recordsOf, sliceMax } from './records.ts';

type Desk = Pick<Tables, 'desk'>;

/** No name of a feed holds a blank. */
const idOf = (feed: string, path: string): string => `${feed} ${path}`;
/** Ordered by id, so that of two files of one instant that with the later path is the newest. */
const filesIn = recordsOf<KnownFile>('takenFile', ({ feed, path, sha256, modifiedAtMs }) => ({
  ...{ id: idOf(feed, path), owner: feed, state: sha256 === null ? 'passedOver' : 'taken', atMs: modifiedAtMs },
}));
const urlsIn = recordsOf<TakenUrl>('takenUrl', ({ feed }) => ({ id: feed, owner: null, state: '', atMs: null }));
const beginningsIn = recordsOf<TakeBeginning & { readonly feed: string }>('takeBegun', ({ feed }) => ({
  ...{ id: feed, owner: null, state: '', atMs: null },
}));

export function takesOver(store: Store): TakeLedger {
  const { reads } = store;
  return {
    newestFile: (feed, wanted) => newestOf(reads, feed, wanted),

    file: async (feed, path) => {
      const file = await filesIn(reads).get(idOf(feed, path));
      return file === null ? null : taken(file);
    },

    knownFiles: async (feed, files, atMs) => {
      const known = new Set<string>();
      for (let start = 0; start < files.length; start += sliceMax) {
        const looked = files.slice(start, start + sliceMax);
        const found = await filesIn(reads).many(looked.map(({ path }) => idOf(feed, path)));
        const same = looked.flatMap(({ path, fingerprint }) => {
          const file = found.get(idOf(feed, path));
          return file?.fingerprint === fingerprint ? [file] : [];
        });
        for (const { path } of same) known.add(path);
        await noteSeen(
          store,
          same.filter((file) => isSeenLongAgo(file, atMs)),
          atMs,
        );
        await setImmediate();
      }
      return known;
    },

    noteFile: (file) =>
      store.transact(async (tables) => {
        await filesIn(tables).put({ ...file, seenAtMs: file.takenAtMs });
        await beginningsIn(tables).remove(file.feed);
      }),

    passOver: async (feed, files, atMs) => {
      for (let start = 0; start < files.length; start += sliceMax) {
        const slice = files.slice(start, start + sliceMax);
        await store.transact(async (tables) => {
          const known = await filesIn(tables).many(slice.map(({ path }) => idOf(feed, path)));
          const passed = slice.map((file) => passedOver(feed, file, known.get(idOf(feed, file.path)), atMs));
          await filesIn(tables).put(...passed);
        });
        await setImmediate();
      }
    },

    url: async (feed, urlHash) => {
      const url = await urlsIn(reads).get(feed);
      return url?.urlHash === urlHash ? url : null;
    },

    noteUrl: (url) =>
      store.transact(async (tables) => {
        await urlsIn(tables).put(url);
        await beginningsIn(tables).remove(url.feed);
      }),

    begun: async (feed) => {
      const begun = await beginningsIn(reads).get(feed);
      return begun === null ? null : { sha256: begun.sha256, begunAtMs: begun.begunAtMs };
    },

    begin: (feed, beginning) => store.transact((tables) => beginningsIn(tables).put({ feed, ...beginning })),
  };
}

async function noteSeen(store: Store, files: readonly KnownFile[], atMs: number): Promise<void> {
  if (files.length === 0) return;
  await store.transact(async (tables) => {
    const now = await filesIn(tables).many(files.map(({ feed, path }) => idOf(feed, path)));
    await filesIn(tables).put(...[...now.values()].map((file) => ({ ...file, seenAtMs: atMs })));
  });
}

/** Ends with the first that is wanted, or with the feed's files. */
async function newestOf(tables: Desk, owner: string, wanted: (path: string) => boolean): Promise<TakenFile | null> {
  let after: Entry<KnownFile> | undefined;
  for (;;) {
    const page = await filesIn(tables).list({ owner, state: 'taken', order: 'latest', after, limit: sliceMax });
    const found = page.find(({ document }) => wanted(document.path));
    if (found !== undefined) return taken(found.document);
    if (page.length < sliceMax) return null;
    after = page.at(-1);
  }
}

/** Forgets, in slices, the files that were not seen for `keepMs` while their feed saw others; never the newest taken of a feed. */
export async function forgetTaken(store: Store, nowMs: number, keepMs: number): Promise<number> {
  const newestSeen = new Map<string, number>();
  const old: KnownFile[] = [];
  let after: Entry<KnownFile> | undefined;
  // Ends: each page begins behind the one before it.
  await inSlices(async () => {
    const page = await filesIn(store.reads).list({ order: 'id', after, limit: sliceMax });
    for (const { document } of page) {
      const { feed, seenAtMs } = document;
      newestSeen.set(feed, Math.max(seenAtMs, newestSeen.get(feed) ?? seenAtMs));
      if (seenAtMs < nowMs - keepMs) old.push(document);
    }
    after = page.at(-1);
    return { count: page.length, isLast: page.length < sliceMax };
  });
  const kept = new Map<string, string | undefined>();
  for (const feed of newestSeen.keys()) kept.set(feed, (await newestOf(store.reads, feed, () => true))?.path);
  const isForgotten = ({ feed, path, seenAtMs }: KnownFile): boolean =>
    path !== kept.get(feed) && seenAtMs < forgottenBefore(newestSeen.get(feed) ?? nowMs, nowMs, keepMs);
  const left = old.filter(isForgotten).map(({ feed, path }) => idOf(feed, path));
  return inTransactions(store, async (tables) => {
    // One of them may have come back since.
    const files = await filesIn(tables).many(left.splice(0, sliceMax));
    const gone = [...files].filter(([, file]) => isForgotten(file)).map(([id]) => id);
    return { count: await filesIn(tables).remove(...gone), isLast: left.length === 0 };
  });
}

function taken({ seenAtMs: _kept, sha256, ...file }: KnownFile): TakenFile | null {
  return sha256 === null ? null : { ...file, sha256 };
}
