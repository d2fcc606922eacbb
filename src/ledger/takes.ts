/**
 * The part of the ledger that remembers what feeds have taken from elsewhere: files of a path or glob, and URLs.
 *
 * A feed takes one thing at a time: it *begins* to take a content, its run is entered, and what was taken is noted. Where
 * the process dies in between, the beginning shows that a run of that content is the one it was about to enter.
 */

/** A file of a path or a glob, as it was when it was taken. */
export interface TakenFile {
  readonly feed: string;
  /** Absolute. */
  readonly path: string;
  /** Size, mtime and inode, as `src/sources/folder-entries.ts` writes them. */
  readonly fingerprint: string;
  /** Not later than `takenAtMs`: a file from the future must not block all that follow. */
  readonly modifiedAtMs: number;
  readonly sha256: string;
  readonly takenAtMs: number;
}

/** A file as it was at one look. */
export type SeenFile = Pick<TakenFile, 'path' | 'fingerprint' | 'modifiedAtMs'>;

/** What a URL answered when it was taken last: it is asked only for what is newer. */
export interface TakenUrl {
  readonly feed: string;
  /** A hash: a URL may hold what is secret. */
  readonly urlHash: string;
  /** A hash of where the answer came from in the end, without its query: validators are of that place alone. */
  readonly answeredHash: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly sha256: string;
  readonly takenAtMs: number;
}

export interface TakeBeginning {
  readonly sha256: string;
  readonly begunAtMs: number;
}

export interface TakeLedger {
  /** Of those taken whose path is wanted the newest, by modification time, then by path; null where there is none. */
  newestFile(feed: string, wanted: (path: string) => boolean): Promise<TakenFile | null>;
  /** What was taken last under that path; null where nothing was. */
  file(feed: string, path: string): Promise<TakenFile | null>;
  /** The paths of those that were taken or passed over as they are. They count as seen then, to the day. */
  knownFiles(
    feed: string,
    files: readonly { readonly path: string; readonly fingerprint: string }[],
    atMs: number,
  ): Promise<ReadonlySet<string>>;
  /** Takes the place of what was noted for its path, and ends the feed's beginning. */
  noteFile(file: TakenFile): Promise<void>;
  /** They are known as they are, and never taken; what was taken under their paths before stays remembered. */
  passOver(feed: string, files: readonly SeenFile[], atMs: number): Promise<void>;

  /** Null where the feed's last one was another URL. */
  url(feed: string, urlHash: string): Promise<TakenUrl | null>;
  /** Takes the place of the feed's last one, and ends its beginning. */
  noteUrl(url: TakenUrl): Promise<void>;

  /** Null where nothing was begun since the last note. */
  begun(feed: string): Promise<TakeBeginning | null>;
  /** Takes the place of an earlier one. Is on disk when a run is that is entered after it. */
  begin(feed: string, beginning: TakeBeginning): Promise<void>;
}
