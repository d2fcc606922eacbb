/**
 * Enters files as runs: named on the command line, or found in an import folder.
 *
 * A file is known by feed and content (`contract.md`): one whose run was cut off goes on with that run. The same content
 * again, after its run has ended, is read again and found unchanged.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf, PatchbayError } from '#src/errors.ts';
import type { RunOptions } from '#src/ledger/run-options.ts';
import { noOptions } from '#src/ledger/run-options.ts';
import { activeRunStates, type NewRun, type RunRecord } from '#src/ledger/run-record.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { claimFile, copyIntoFolder } from '#src/sources/claim.ts';
import { hashFile } from '#src/sources/hash-file.ts';
import { inStep } from '#src/steps.ts';
import { fixFileOrigin } from './fix-file-origin.ts';
import type { RunParts } from './parts.ts';
import { newRunId, runIdOf } from './run-id.ts';

export type SubmitParts = Pick<RunParts, 'ledger' | 'clock' | 'log' | 'folders' | 'mapping'>;

/** The feed of the root folder and of files named on the command line. */
export const mainFeed = 'main';

export interface SubmittedRun {
  readonly run: RunRecord;
  /** The run was cut off earlier and is gone on with. */
  readonly resumed: boolean;
}

/**
 * Copies the file and enters a run for it, or finds the run that was cut off.
 * @throws PatchbayError `file`: `fileMissing`, `fileUnreadable`, `notAFile`, `changedWhileRead`.
 */
export async function submitFile(
  parts: SubmitParts,
  path: string,
  options: RunOptions,
  mapping: Mapping | null,
): Promise<SubmittedRun> {
  const { ledger, clock, folders } = parts;
  const id = newRunId(clock.nowMs());
  const copy = await copyIntoFolder(path, folders.handedOver, id);
  const known = await ledger.runs.findByContent(mainFeed, copy.sha256);
  const active = known !== null && (activeRunStates as readonly string[]).includes(known.state);
  // One that is being cancelled ends as cancelled: whoever names the file again wants it read again.
  if (active && known.state !== 'cancelling') {
    await rm(copy.path, { force: true });
    return { run: known, resumed: true };
  }
  if (known?.state === 'stopped') await replaceStopped(parts, known, id);
  const entry: NewRun = {
    id,
    feed: mainFeed,
    kind: 'file',
    fileName: basename(path),
    claimedPath: copy.path,
    importFolder: importFolderOf(parts),
    sha256: copy.sha256,
    bytes: copy.bytes,
    ...(await reading(parts, copy.path, basename(path), options, mapping)),
    createdAtMs: clock.nowMs(),
  };
  const run = await inStep('enterRun', () => ledger.runs.create(entry));
  return { run, resumed: false };
}

/** Takes back what was entered and not begun: the process that entered it could not become the engine. */
export async function withdrawRun({ ledger }: SubmitParts, run: RunRecord): Promise<void> {
  if (!(await ledger.runs.forget(run.id))) return;
  if (run.kind === 'redrive') await ledger.deadLetters.reopenUnsettled(run.id);
  if (run.claimedPath !== '') await rm(run.claimedPath, { force: true });
}

/** Takes a file out of an import folder and enters a run for it. A crash between the two is made good at the next start. */
export async function takeFile(
  parts: SubmitParts,
  importFolder: string,
  path: string,
  mapping: Mapping | null,
): Promise<RunRecord> {
  const { clock, folders } = parts;
  const claimed = await claimFile(path, folders.claimed, newRunId(clock.nowMs()));
  return enterClaimed(parts, importFolder, claimed, basename(path), mapping);
}

async function enterClaimed(
  parts: SubmitParts,
  importFolder: string,
  claimedPath: string,
  fileName: string,
  mapping: Mapping | null,
): Promise<RunRecord> {
  const { ledger, clock, log } = parts;
  const named = runIdOf(basename(claimedPath));
  if (named === null) throw new PatchbayError('bug', 'claimedName', 'a claimed file is named by its run', {});
  const { size } = await stat(claimedPath);
  const sha256 = await hashFile(claimedPath);
  const known = await ledger.runs.findByContent(mainFeed, sha256);
  if (known?.state === 'stopped') await replaceStopped(parts, known, named.runId);
  const entry: NewRun = {
    id: named.runId,
    feed: mainFeed,
    kind: 'file',
    fileName,
    claimedPath,
    importFolder,
    sha256,
    bytes: size,
    ...(await reading(parts, claimedPath, fileName, noOptions, mapping)),
    createdAtMs: clock.nowMs(),
  };
  const run = await inStep('enterRun', () => ledger.runs.create(entry));
  log.info({ run: run.id, feed: run.feed, bytes: size }, 'file taken');
  return run;
}

/**
 * How the rows are to be read. A fix-file is read as the run that wrote it did, unless a mapping was named for it. It
 * stands in the run's record, so that the run's own dead letters and fix-file are read the same way.
 */
async function reading(
  parts: SubmitParts,
  path: string,
  fileName: string,
  options: RunOptions,
  mapping: Mapping | null,
): Promise<Pick<RunRecord, 'options' | 'mapping'>> {
  const named = JSON.stringify(mapping) !== JSON.stringify(parts.mapping);
  const origin = named ? null : await fixFileOrigin(parts.ledger, path, fileName);
  if (origin === null) return { options, mapping };
  const { defaultCountry, onBlank } = origin.options;
  return {
    options: {
      ...options,
      defaultCountry: options.defaultCountry ?? defaultCountry,
      onBlank: options.onBlank ?? onBlank,
    },
    mapping: origin.mapping,
  };
}

/** The same file came again, perhaps with other limits: the stopped run gives way to it. */
async function replaceStopped(parts: SubmitParts, stopped: RunRecord, byRunId: string): Promise<void> {
  const message = `run ${byRunId} read the same file again and took its place`;
  await parts.ledger.runs.move(stopped.id, ['stopped'], 'cancelling', {
    atMs: parts.clock.nowMs(),
    reason: { code: 'replaced', message, hint: null, facts: { by: byRunId } },
  });
}

/** Files that were claimed when the process died, before their run was entered. */
export async function enterOrphans(parts: SubmitParts): Promise<number> {
  const { ledger, folders } = parts;
  let entered = 0;
  for (const name of await readdir(folders.claimed).catch(() => [])) {
    const named = runIdOf(name);
    if (named === null || (await ledger.runs.get(named.runId)) !== null) continue;
    try {
      await enterClaimed(parts, importFolderOf(parts), join(folders.claimed, name), named.name, parts.mapping);
      entered += 1;
    } catch (error) {
      // One file that cannot be read must not keep the others waiting.
      const passes = error instanceof PatchbayError && error.kind === 'transient';
      parts.log[passes ? 'debug' : 'warn'](
        { run: named.runId, reason: messageOf(error) },
        'claimed file could not be entered',
      );
    }
  }
  return entered;
}

/** Whether a claimed file waits for its run. */
export async function hasOrphans({ ledger, folders }: SubmitParts): Promise<boolean> {
  // Without the folder nothing was claimed.
  for (const name of await readdir(folders.claimed).catch(() => [])) {
    const named = runIdOf(name);
    if (named !== null && (await ledger.runs.get(named.runId)) === null) return true;
  }
  return false;
}

/** Copies whose run was never entered: the process died between the two, and the person was told so. */
const strayAfterMs = 3_600_000;

export async function removeStrays(parts: SubmitParts): Promise<void> {
  const { ledger, folders, clock } = parts;
  for (const name of await readdir(folders.handedOver).catch(() => [])) {
    const named = runIdOf(name);
    if (named !== null && (await ledger.runs.get(named.runId)) !== null) continue;
    const path = join(folders.handedOver, name);
    // A copy may be under way in another process, or be gone by now.
    const copiedAtMs = (await stat(path).catch(() => null))?.ctimeMs ?? Number.POSITIVE_INFINITY;
    if (copiedAtMs < clock.nowMs() - strayAfterMs) await rm(path, { force: true });
  }
}

function importFolderOf({ folders }: SubmitParts): string {
  const [first] = folders.importFolders;
  if (first === undefined) throw new PatchbayError('bug', 'noImportFolder', 'there is an import folder', {});
  return first;
}
