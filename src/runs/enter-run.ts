/**
 * Enters files as runs: named on the command line, found in an import folder, or brought from elsewhere.
 *
 * A file is known by feed and content (`contract.md`): one whose run was cut off goes on with that run. The same content
 * again, after its run has ended, is read again and found unchanged.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { emptyIfMissing, messageOf, PatchbayError } from '#src/errors.ts';
import type { FeedSettings, Feeds } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import {
  activeRunStates,
  type NewRun,
  noOptions,
  type RunLedger,
  type RunOptions,
  type RunRecord,
} from '#src/ledger/runs.ts';
import type { Logger } from '#src/log.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { checkOutFile, copyIntoFolder, hashFile } from '#src/sources/check-out.ts';
import { inStep } from '#src/steps.ts';
import { chooseFeed, type FeedChoice, readingOfFile } from './choose-feed.ts';
import { type ClaimedFile, claimedFolderOf, listClaimed, newRunId, type RunFolders, runIdOf } from './run-files.ts';

/** What files are entered with. */
export interface SubmitParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Logger;
  readonly folders: RunFolders;
  readonly feeds: Feeds;
  /** Ids of runs whose files this process has checked out, or is about to, and not entered yet: they are no orphans. */
  readonly entering: Set<string>;
}

export interface SubmittedRun {
  readonly run: RunRecord;
  /** The run was cut off earlier and is gone on with. */
  readonly resumed: boolean;
}

/** What a person says of the file besides its options. */
export interface SubmitChoice {
  readonly feed: FeedSettings;
  /** Instead of the feed's mapping; null is the generic layout. */
  readonly mapping?: Mapping | null;
}

/**
 * Copies the file and enters a run for it, or finds the run that was cut off.
 * @throws PatchbayError `file`: `fileMissing`, `fileUnreadable`, `notAFile`, `changedWhileRead`.
 */
export async function submitFile(
  parts: SubmitParts,
  path: string,
  options: RunOptions,
  choice: SubmitChoice,
): Promise<SubmittedRun> {
  const { ledger, clock, folders } = parts;
  const id = newRunId(clock.nowMs());
  const copy = await copyIntoFolder(path, folders.handedOver, id);
  const file = { path: copy.path, name: basename(path) };
  const reading = await readingOfFile(parts, file, options, { kind: 'feed', ...choice });
  const known = await newestRunOf(ledger.runs, reading.feed, copy.sha256);
  if (known !== null && isUnderWay(known)) {
    await rm(copy.path, { force: true });
    return { run: known, resumed: true };
  }
  const run = await enter(parts, known, {
    id,
    fileName: file.name,
    claimedPath: copy.path,
    importFolder: importFolderOf(parts),
    sha256: copy.sha256,
    bytes: copy.bytes,
    ...reading,
    createdAtMs: clock.nowMs(),
  });
  return { run, resumed: false };
}

/** Takes back what was entered and not begun: the process that entered it could not become the engine. */
export async function withdrawRun({ ledger }: SubmitParts, run: RunRecord): Promise<void> {
  if (!(await ledger.runs.forget(run.id))) return;
  if (run.claimedPath !== '') await rm(run.claimedPath, { force: true });
}

interface DroppedFile {
  readonly importFolder: string;
  /** The name of its folder in the import folder, which is its feed's; null is the import folder itself: feed `main`. */
  readonly folder: string | null;
  readonly path: string;
}

/**
 * Takes a file out of an import folder and enters a run for it. A crash between the two is made good at the next start.
 * Where the folder cannot be a feed, or its mapping is broken, the run fails and says so.
 */
export async function takeFile(parts: SubmitParts, { importFolder, folder, path }: DroppedFile): Promise<RunRecord> {
  const { clock, folders } = parts;
  const runId = newRunId(clock.nowMs());
  return whileEntering(parts, runId, async () => {
    const claimed = await checkOutFile(path, claimedFolderOf(folders.claimed, folder), runId);
    const choice = await chooseFeed(parts.feeds, folder);
    return enterClaimed(parts, { runId, folder, name: basename(path), path: claimed }, choice, importFolder);
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
  /** A file of ours in a private folder: it is moved out of there. */
  readonly path: string;
  /** In the user's own words. */
  readonly fileName: string;
  /** Of its content, where it is known already. */
  readonly sha256?: string;
}

/**
 * Enters a file that was downloaded or copied as a run of the feed. Safe to be done again after a crash: where the same
 * content is under way in this feed already, that run is answered and the file removed.
 */
export async function submitCopy(parts: SubmitParts, brought: BroughtFile): Promise<RunRecord> {
  const { ledger, clock, folders } = parts;
  const { feed, path, fileName } = brought;
  const sha256 = brought.sha256 ?? (await hashFile(path));
  const known = await newestRunOf(ledger.runs, feed.name, sha256);
  if (known !== null && isUnderWay(known)) {
    await rm(path, { force: true });
    return known;
  }
  const runId = newRunId(clock.nowMs());
  const folder = feed.name === mainFeed ? null : feed.name;
  return whileEntering(parts, runId, async () => {
    const claimed = await checkOutFile(path, claimedFolderOf(folders.claimed, folder), runId, fileName);
    const file = { runId, folder, name: fileName, path: claimed };
    return enterClaimed(parts, file, { kind: 'feed', feed }, importFolderOf(parts), sha256);
  });
}

/** Enters the run that a claimed file is named after. */
async function enterClaimed(
  parts: SubmitParts,
  file: ClaimedFile,
  choice: FeedChoice,
  importFolder: string,
  knownHash: string | null = null,
): Promise<RunRecord> {
  const { ledger, clock, log } = parts;
  const { size } = await stat(file.path);
  const sha256 = knownHash ?? (await hashFile(file.path));
  const reading = await readingOfFile(parts, file, noOptions, choice);
  const run = await enter(parts, await newestRunOf(ledger.runs, reading.feed, sha256), {
    id: file.runId,
    fileName: file.name,
    claimedPath: file.path,
    importFolder,
    sha256,
    bytes: size,
    ...reading,
    createdAtMs: clock.nowMs(),
  });
  log.info({ run: run.id, feed: run.feed, bytes: size }, 'file taken');
  return run;
}

/** The newest run of that content in the feed; null where there is none. */
export async function newestRunOf(runs: RunLedger, feed: string, sha256: string): Promise<RunRecord | null> {
  return (await runs.list({ feed, sha256, limit: 1 })).at(0) ?? null;
}

/** One that is being cancelled ends as cancelled: whoever brings the file again wants it read again. */
function isUnderWay({ state }: RunRecord): boolean {
  return (activeRunStates as readonly string[]).includes(state) && state !== 'cancelling';
}

/** `known` is the newest run of the same content. */
async function enter({ ledger, clock }: SubmitParts, known: RunRecord | null, entry: NewRun): Promise<RunRecord> {
  if (known?.state === 'stopped') {
    // The same file came again, perhaps with other limits: the stopped run gives way to it.
    const message = `run ${entry.id} read the same file again and took its place`;
    await ledger.runs.move(known.id, ['stopped'], 'cancelling', {
      atMs: clock.nowMs(),
      reason: { code: 'replaced', message, hint: null, facts: { by: entry.id } },
    });
  }
  return inStep('enterRun', () => ledger.runs.create(entry));
}

/** Whose `_done`, `_failed` and `_fix` take the results of files that were not dropped. */
export function importFolderOf({ folders }: SubmitParts): string {
  const [first] = folders.importFolders;
  if (first === undefined) throw new PatchbayError('bug', 'noImportFolder', 'there is an import folder', {});
  return first;
}

// What a process left behind that died between taking a file and entering its run.

/** Enters claimed files without a run, each in the feed that its place tells. @returns how many. */
export async function enterOrphans(parts: SubmitParts): Promise<number> {
  let entered = 0;
  for (const file of await orphans(parts)) {
    try {
      await enterClaimed(parts, file, await chooseFeed(parts.feeds, file.folder), importFolderOf(parts));
      entered += 1;
    } catch (error) {
      // One file that cannot be read must not keep the others waiting.
      const passes = error instanceof PatchbayError && error.kind === 'transient';
      parts.log[passes ? 'debug' : 'warn'](
        { run: file.runId, feed: file.folder ?? mainFeed, reason: messageOf(error) },
        'claimed file could not be entered',
      );
    }
  }
  return entered;
}

/** Whether a claimed file waits for its run. */
export async function hasOrphans(parts: SubmitParts): Promise<boolean> {
  return (await orphans(parts)).length > 0;
}

async function orphans({ ledger, folders, entering }: SubmitParts): Promise<readonly ClaimedFile[]> {
  const found: ClaimedFile[] = [];
  const files = (await listClaimed(folders.claimed)).filter(({ runId }) => !entering.has(runId));
  for (const file of files) {
    if ((await ledger.runs.get(file.runId)) === null) found.push(file);
  }
  return found;
}

/** Copies whose run was never entered: the process died between the two, and the person was told so. */
const strayAfterMs = 3_600_000;

/** Never rejects: what cannot be removed stays, and takes room alone. */
export async function removeStrays(parts: SubmitParts): Promise<void> {
  try {
    await removeOld(parts);
  } catch (error) {
    parts.log.warn({ reason: messageOf(error) }, 'copies without a run not removed');
  }
}

async function removeOld({ ledger, folders, clock }: SubmitParts): Promise<void> {
  for (const name of await readdir(folders.handedOver).catch(emptyIfMissing)) {
    const named = runIdOf(name);
    if (named !== null && (await ledger.runs.get(named.runId)) !== null) continue;
    const path = join(folders.handedOver, name);
    // A copy may be under way in another process, or be gone by now: neither is old.
    const copiedAtMs = (await stat(path).catch(() => null))?.ctimeMs ?? Number.POSITIVE_INFINITY;
    if (copiedAtMs < clock.nowMs() - strayAfterMs) await rm(path, { force: true });
  }
}
