/**
 * Enters files as runs: named on the command line, found in an import folder, or brought from elsewhere.
 *
 * A file is identified by feed and content (`docs/contract.md`): if its run was interrupted, that run continues. A command with other
 * options enters a run of its own behind it. The same content that comes after its run has ended is read again and found unchanged.
 *
 * A process may die between checking a file out and entering its run. Such files are orphans: the next start enters them.
 */
import type { Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { FeedSettings, Feeds } from '#src/feeds/feeds.ts';
import type { NewAct } from '#src/ledger/acts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { isAway } from '#src/ledger/rules/hosts.ts';
import {
  activeRunStates,
  appliesAllRows,
  type NewRun,
  noOptions,
  openRunStates,
  type RunLedger,
  type RunOptions,
  type RunRecord,
} from '#src/ledger/runs.ts';
import type { Logger } from '#src/log.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { checkOutFile, claimFile, copyIntoFolder, hashFile, nameOfEntry, readWhole } from '#src/sources/check-out.ts';
import type { EntryPath } from '#src/sources/folder-entries.ts';
import { inStep } from '#src/steps.ts';
import { chooseFeed, type FeedChoice, readingOfFile } from './choose-feed.ts';
import { removeOld } from './expire-files.ts';
import { makeFeedFolder, removeFeedFolder } from './feed-folder.ts';
import { type FileOptions, otherOptions, uncountedFlags } from './other-options.ts';
import { bringAgain } from './read-before.ts';
import {
  type ClaimedFile,
  claimedFolderOf,
  listClaimed,
  newRunId,
  type RunFolders,
  runIdOf,
  takingFolderOf,
} from './run-files.ts';

/** What files are entered with. */
export interface SubmitParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  readonly folders: RunFolders;
  readonly feeds: Feeds;
  /** The host that this data folder is; null where the ledger belongs to it alone. */
  readonly host: string | null;
  /** Ids of runs whose files this process has checked out, or is about to, and not entered yet: they are no orphans. */
  readonly entering: Set<string>;
}

export interface SubmittedRun {
  readonly run: RunRecord;
  /** It was entered before, for the same content, and has not ended: it was interrupted, or is at work or waits in another process. */
  readonly resumed: boolean;
  /** Flags of this command that do not count for the run that was entered before. */
  readonly uncounted: readonly string[];
  /** A run of the same content with other options that has not ended, and goes first. */
  readonly ahead: RunAhead | null;
}

/** A run of the same content. */
export interface RunAhead {
  readonly run: RunRecord;
  /** How it was begun, where that differs: `--limit 100`, `without --only`. */
  readonly options: readonly string[];
}

/** What a person chooses for the file, apart from its options. */
export interface SubmitChoice {
  readonly feed: FeedSettings;
  /** Instead of the feed's mapping; null is the generic layout. */
  readonly mapping?: Mapping | null;
  /** Where that one is: the path of a file, or a name. */
  readonly mappingNamed?: string;
}

/** A file that a person named, and its name for people. */
export interface NamedFile {
  readonly path: string;
  readonly name: string;
}

/** How a person brings the file. */
export interface SubmitBy {
  readonly act?: NewAct;
  /** The runs of other files that the same command brings: none of them stands for this file, also where the content is the same. */
  readonly besides?: ReadonlySet<string>;
}

/**
 * Copies the file and enters a run for it, or finds the one of the same content and options that has not ended.
 * @throws PatchbayError `file`: `fileMissing`, `fileUnreadable`, `notAFile`, `changedWhileRead`.
 */
export async function submitFile(
  parts: SubmitParts,
  named: string | NamedFile,
  options: RunOptions,
  choice: SubmitChoice,
  { act, besides }: SubmitBy = {},
): Promise<SubmittedRun> {
  const { ledger, clock, folders, feeds, host } = parts;
  const id = newRunId(clock.nowMs());
  const { path, name } = typeof named === 'string' ? { path: named, name: basename(named) } : named;
  const copy = await copyIntoFolder(path, folders.handedOver, id, name);
  const file = { path: copy.path, name };
  const reading = await readingOfFile(
    parts,
    file,
    { ...options, path, origin: 'command' },
    { kind: 'feed', ...choice },
  );
  const open = await sameRuns(ledger.runs, reading, copy.sha256);
  const { same, ahead } = await meetUnderWay(parts, open, reading, besides);
  if (same !== null) {
    await bringAgain(parts, same, copy.path);
    return { run: same, resumed: true, uncounted: uncountedFlags(same.options, options), ahead: null };
  }
  // A look is no file of the feed, and a fix-file may belong to another one.
  const isOfFeed = !options.verify && reading.feed === choice.feed.name;
  const importFolder = importFolderOf(parts);
  const madeFolder = isOfFeed && (await makeFeedFolder(feeds, importFolder, reading.feed));
  const entry = {
    id,
    fileName: file.name,
    claimedPath: copy.path,
    host,
    importFolder,
    sha256: copy.sha256,
    bytes: copy.bytes,
    ...reading,
    options: { ...reading.options, madeFolder },
    createdAtMs: clock.nowMs(),
  };
  const run = await enter(parts, open.at(0) ?? null, entry, act).catch(async (error: unknown) => {
    if (madeFolder) await removeFeedFolder(importFolder, reading.feed);
    throw error;
  });
  // One that ended in vain before this one was entered has taken the folder away with it.
  if (isOfFeed) await makeFeedFolder(feeds, importFolder, reading.feed);
  return { run, resumed: false, uncounted: [], ahead };
}

/**
 * @param open runs of the same content, the newest first.
 * @returns `same`: the run that stands for the file. Where one behind it reads the file in another way, it does not: the newest one is to
 *   have the last word. One that is at rest ends the search; those of this very command are passed over.
 */
async function meetUnderWay(
  parts: SubmitParts,
  open: readonly RunRecord[],
  wanted: FileOptions,
  besides: ReadonlySet<string> | undefined,
): Promise<{ readonly same: RunRecord | null; readonly ahead: RunAhead | null }> {
  let ahead: RunAhead | null = null;
  for (const run of open) {
    if (besides?.has(run.id) === true) continue;
    if (!(await isUnderWay(parts, run))) break;
    const others = otherOptions(run, wanted);
    if (others.length === 0) return { same: run, ahead: null };
    ahead ??= { run, options: others.map(({ words }) => words) };
    if (others.some(({ isOfRows }) => !isOfRows)) break;
  }
  return { same: null, ahead };
}

export interface DroppedFile {
  readonly importFolder: string;
  /** The name of its folder in the import folder, which is its feed's; null is the import folder itself: feed `main`. */
  readonly folder: string | null;
  readonly path: EntryPath;
}

/**
 * Checks a file out of an import folder and enters a run for it. After a crash in between, the next start enters the run.
 * If the folder cannot be a feed, or its mapping is broken, the run fails and says so.
 * @throws PatchbayError `file` `takenElsewhere` where another host was faster.
 */
export async function takeFile(parts: SubmitParts, { importFolder, folder, path }: DroppedFile): Promise<RunRecord> {
  const { clock, folders, host } = parts;
  const runId = newRunId(clock.nowMs());
  return whileEntering(parts, runId, async () => {
    const own = claimedFolderOf(folders.claimed, folder);
    const claimed =
      host === null
        ? await checkOutFile(path, own, runId)
        : await claimFile(
            path,
            { folder: own, beside: claimedFolderOf(takingFolderOf(importFolder, host), folder) },
            runId,
          );
    const choice = await chooseFeed(parts.feeds, folder);
    const file = { runId, folder, name: nameOfEntry(path), path: claimed };
    return enterClaimed(parts, file, choice, { importFolder, origin: 'folder' });
  });
}

/**
 * Reads a file again that has grown since it was taken: a copy of it, by a run of its own. @param path where it is now.
 * @throws PatchbayError `file` `changedWhileRead`; what `storing` throws.
 */
export async function takeGrown(parts: SubmitParts, dropped: DroppedFile, path: string): Promise<RunRecord> {
  const { clock, folders } = parts;
  const { importFolder, folder } = dropped;
  const runId = newRunId(clock.nowMs());
  return whileEntering(parts, runId, async () => {
    const name = nameOfEntry(dropped.path);
    const copy = await copyIntoFolder(path, folders.handedOver, runId, name);
    const choice = await chooseFeed(parts.feeds, folder);
    const file = { runId, folder, name, path: copy.path };
    return enterClaimed(parts, file, choice, { importFolder, origin: 'folder', sha256: copy.sha256 });
  });
}

async function whileEntering<Result>(
  { entering }: SubmitParts,
  runId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  entering.add(runId);
  try {
    return await work();
  } finally {
    entering.delete(runId);
  }
}

interface BroughtFile {
  readonly feed: FeedSettings;
  /** A file in a private folder: it is moved out of there. */
  readonly path: string;
  /** The name that people see. */
  readonly fileName: string;
  /** The hash of its content, if it is already known. */
  readonly sha256?: string;
  readonly origin: 'schedule' | 'request';
}

/**
 * Enters a file that was downloaded or copied as a run of the feed. It can be repeated after a crash: if a run of the same
 * content is active in this feed, and a person has not begun it with other options, that run is returned and the file removed.
 */
export async function submitCopy(parts: SubmitParts, brought: BroughtFile): Promise<RunRecord> {
  const { ledger, clock, folders } = parts;
  const { feed, path, fileName, origin } = brought;
  const sha256 = brought.sha256 ?? (await hashFile(path));
  const open = await sameRuns(ledger.runs, { feed: feed.name, options: noOptions }, sha256);
  if (open.length > 0) {
    const named = { path, name: fileName };
    const wanted = await readingOfFile(parts, named, { ...noOptions, origin }, { kind: 'feed', feed });
    const { same } = await meetUnderWay(parts, open, wanted, undefined);
    if (same !== null) {
      await bringAgain(parts, same, path);
      return same;
    }
  }
  const runId = newRunId(clock.nowMs());
  const folder = feed.name === mainFeed ? null : feed.name;
  return whileEntering(parts, runId, async () => {
    const claimed = await checkOutFile(path, claimedFolderOf(folders.claimed, folder), runId, fileName);
    const file = { runId, folder, name: fileName, path: claimed };
    return enterClaimed(parts, file, { kind: 'feed', feed }, { importFolder: importFolderOf(parts), origin, sha256 });
  });
}

interface ClaimedOrigin {
  readonly importFolder: string;
  readonly origin: RunOptions['origin'];
  /** The hash of its content, if it is already known. */
  readonly sha256?: string | null;
}

/** Enters the run that a checked-out file is named after. */
async function enterClaimed(
  parts: SubmitParts,
  file: ClaimedFile,
  choice: FeedChoice,
  { importFolder, origin, sha256: knownHash = null }: ClaimedOrigin,
): Promise<RunRecord> {
  const { ledger, clock, log, host } = parts;
  const { sha256, bytes } =
    knownHash === null ? await readWhole(file.path) : { sha256: knownHash, bytes: (await stat(file.path)).size };
  const reading = await readingOfFile(parts, file, { ...noOptions, origin }, choice);
  const run = await enter(parts, await sameRun(ledger.runs, reading, sha256), {
    id: file.runId,
    fileName: file.name,
    claimedPath: file.path,
    host,
    importFolder,
    sha256,
    bytes,
    ...reading,
    createdAtMs: clock.nowMs(),
  });
  log.info({ run: run.id, feed: run.feed, bytes }, 'file taken');
  return run;
}

/** The newest run of that content in the feed; null where there is none. */
export async function newestRunOf(runs: RunLedger, feed: string, sha256: string): Promise<RunRecord | null> {
  return (await runs.list({ feed, sha256, limit: 1 })).at(0) ?? null;
}

/** The newest of `sameRuns`; null where there is none. */
async function sameRun(
  runs: RunLedger,
  reading: Pick<RunRecord, 'feed' | 'options'>,
  sha256: string,
): Promise<RunRecord | null> {
  return (await sameRuns(runs, reading, sha256)).at(0) ?? null;
}

/**
 * Runs of that content in the feed that have not ended, the newest first: one that looks and one that writes have nothing to do with each
 * other.
 */
async function sameRuns(
  runs: RunLedger,
  { feed, options }: Pick<RunRecord, 'feed' | 'options'>,
  sha256: string,
): Promise<readonly RunRecord[]> {
  const open = await runs.list({ feed, sha256, states: openRunStates, limit: sameRunsMax });
  return open.filter((one) => one.options.verify === options.verify);
}

/** Of one content, that have not ended: more than a few wait for a decision. */
const sameRunsMax = 50;

/** Not one that is being cancelled, and not one of a host that is away: a file that comes again is to be read again. */
async function isUnderWay({ ledger, clock, host: own }: SubmitParts, { state, host }: RunRecord): Promise<boolean> {
  if (!(activeRunStates as readonly string[]).includes(state) || state === 'cancelling') return false;
  if (own === null || host === null || state === 'applying') return true;
  const [known, nowMs] = [await ledger.hosts.list(), await ledger.nowMs(clock)];
  return known.some((one) => one.id === host && !isAway(one, nowMs));
}

/**
 * @param known the newest run of the same content: where it is stopped, the file came again, perhaps with other limits, and the new run
 *   takes its place, unless it applies some rows only and the other one all.
 */
function enter({ ledger }: SubmitParts, known: RunRecord | null, entry: NewRun, act?: NewAct): Promise<RunRecord> {
  const message = `run ${entry.id} read the same file again and took its place`;
  const reason = { code: 'replaced', message, hint: null, facts: { by: entry.id } };
  const takesPlace = known !== null && (appliesAllRows(entry.options) || !appliesAllRows(known.options));
  const replaced = takesPlace ? { id: known.id, reason } : undefined;
  return inStep('enterRun', () => ledger.runs.create(entry, act, replaced));
}

/** The import folder whose `_done`, `_failed` and `_fix` hold the results of files that were not dropped into one. */
export function importFolderOf({ folders }: SubmitParts): string {
  const [first] = folders.importFolders;
  if (first === undefined) throw new PatchbayError('bug', 'noImportFolder', 'there is an import folder', {});
  return first;
}

/** Enters checked-out files without a run, each in the feed that its path names. @returns how many. */
export async function enterOrphans(parts: SubmitParts): Promise<number> {
  let entered = 0;
  for (const { file, importFolder } of await orphans(parts)) {
    try {
      const choice = await chooseFeed(parts.feeds, file.folder);
      await enterClaimed(parts, file, choice, { importFolder, origin: null });
      entered += 1;
    } catch (error) {
      // A file that cannot be read must not delay the others.
      const passes = error instanceof PatchbayError && error.kind === 'transient';
      parts.log[passes ? 'debug' : 'warn'](
        { run: file.runId, feed: file.folder ?? mainFeed, reason: messageOf(error) },
        'checked-out file could not be entered',
      );
    }
  }
  return entered;
}

/** Whether a checked-out file has no run. */
export async function hasOrphans(parts: SubmitParts): Promise<boolean> {
  return (await orphans(parts)).length > 0;
}

interface Orphan {
  readonly file: ClaimedFile;
  /** That its results go to. */
  readonly importFolder: string;
}

async function orphans(parts: SubmitParts): Promise<readonly Orphan[]> {
  const { ledger, folders, host, entering } = parts;
  const first = importFolderOf(parts);
  const places = [
    { importFolder: first, claimed: folders.claimed },
    ...(host === null
      ? []
      : folders.importFolders.map((one) => ({ importFolder: one, claimed: takingFolderOf(one, host) }))),
  ];
  const found: Orphan[] = [];
  for (const { importFolder, claimed } of places) {
    for (const file of await listClaimed(claimed)) {
      if (entering.has(file.runId) || (await ledger.runs.get(file.runId)) !== null) continue;
      found.push({ file, importFolder });
    }
  }
  return found;
}

/** The age at which a copy without a run is removed: its process died before it entered the run. */
const strayAfterMs = 3_600_000;

/** Never rejects: what cannot be removed stays. */
export async function removeStrays({ ledger, folders, clock, log }: SubmitParts): Promise<void> {
  const isStray = async (entry: Dirent, path: string): Promise<boolean> => {
    if (!entry.isFile()) return false;
    const named = runIdOf(entry.name);
    if (named !== null && (await ledger.runs.get(named.runId)) !== null) return false;
    // Another process may be writing the copy, or it is gone: it is not old then.
    const copiedAtMs = (await stat(path).catch(() => null))?.ctimeMs ?? Number.POSITIVE_INFINITY;
    return copiedAtMs < clock.nowMs() - strayAfterMs;
  };
  try {
    await removeOld(folders.handedOver, isStray, { log });
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'copies without a run not removed');
  }
}
