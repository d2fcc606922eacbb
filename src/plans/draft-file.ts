/**
 * Reads a file to its end as an import would, on a draft of the ledger and in a folder of its own: nothing of it is left when the draft
 * is closed, and nothing else has changed.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '#src/clock.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunOptions, RunRecord } from '#src/ledger/runs.ts';
import { openScratch } from '#src/ledger/sqlite/ledger.ts';
import { silentLogger } from '#src/log.ts';
import { readingOfFile } from '#src/runs/choose-feed.ts';
import type { NamedFile, SubmitChoice } from '#src/runs/enter-run.ts';
import { removeStrayDrafts } from '#src/runs/expire-files.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { type StageParts, stageRun } from '#src/runs/stage.ts';
import { openFileSupply, type SupplyParts } from '#src/runs/supply.ts';
import { copyIntoFolder } from '#src/sources/check-out.ts';
import { makeFolder, storing } from '#src/whole-file.ts';

/** What files are read with: as for a run. */
export type ReadingParts = StageParts & SupplyParts;

export interface DraftedFile {
  /** Staged, or stopped by a guard; of the draft alone. */
  readonly run: RunRecord;
  readonly ledger: Ledger;
  /** Of the keys that were asked about, those whose rows are unchanged: they are not staged. */
  readonly unchangedKeys: ReadonlySet<string>;
  close(): Promise<void>;
}

/** The caller closes the draft. */
export interface Draft {
  readonly ledger: Ledger;
  readonly folder: string;
  close(): Promise<void>;
}

/** Reports and notes of the draft go with its folder, and its log lines would name runs that are in no list. */
export function onDraft(parts: ReadingParts, { ledger, folder }: Draft): ReadingParts {
  const upsert = { ...parts.upsert, ledger };
  return { ...parts, ledger, upsert, reports: folder, log: silentLogger(), isDraft: true };
}

/**
 * Opens a draft of the ledger. @param parent the folder that holds the folders of drafts.
 * @throws PatchbayError as `storing` and `openScratch`; the system's errors.
 */
export async function openDraft(
  { ledger, clock }: { readonly ledger: Pick<Ledger, 'runs' | 'draft'>; readonly clock: Pick<Clock, 'nowMs'> },
  parent: string,
): Promise<Draft> {
  // An engine says what it cannot remove, hour by hour; it is no matter of this plan.
  await removeStrayDrafts(parent, clock.nowMs(), silentLogger());
  const folder = join(parent, randomBytes(6).toString('hex'));
  await storing(parent, () => makeFolder(folder));
  const [newest] = await ledger.runs.list({ limit: 1 });
  const scratch = openScratch(join(folder, 'scratch.sqlite'), newest?.sequence ?? 0);
  return {
    ledger: ledger.draft(scratch),
    folder,
    close: async () => {
      scratch.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * @param askedKeys those that no row of the file has are noted.
 * @throws PatchbayError `file`: why the file cannot be read, or lacks something; `auth`, `unreachable` as reads do; the signal's reason.
 */
export async function draftFile(
  parts: ReadingParts,
  draftsFolder: string,
  named: NamedFile,
  options: RunOptions,
  choice: SubmitChoice,
  askedKeys: readonly string[],
  signal: AbortSignal,
): Promise<DraftedFile> {
  const draft = await openDraft(parts, draftsFolder);
  try {
    const { ledger, folder } = draft;
    const createdAtMs = parts.clock.nowMs();
    const id = newRunId(createdAtMs);
    const name = named.name || basename(named.path);
    const copy = await copyIntoFolder(named.path, folder, id, name);
    const reading = await readingOfFile(
      { ledger, feeds: parts.feeds },
      { path: copy.path, name },
      { ...options, path: named.path, origin: 'command' },
      { kind: 'feed', ...choice },
    );
    const file = { fileName: name, claimedPath: copy.path, sha256: copy.sha256, bytes: copy.bytes };
    const run = await ledger.runs.create({ id, ...file, importFolder: folder, ...reading, createdAtMs });
    const unchangedKeys = new Set<string>();
    const onUnchanged = (keys: readonly string[]): void => {
      for (const key of keys) unchangedKeys.add(key);
    };
    const drafting = { ...onDraft(parts, draft), asked: { keys: askedKeys, onUnchanged } };
    await stageRun(drafting, run, (one) => openFileSupply(drafting, one), signal);
    signal.throwIfAborted();
    const staged = (await ledger.runs.get(id)) ?? run;
    if (staged.state === 'failed') throw unreadable(staged);
    return { run: staged, ledger, unchangedKeys, close: draft.close };
  } catch (error) {
    await draft.close();
    throw error;
  }
}

function unreadable({ reason, fileName }: RunRecord): PatchbayError {
  const { code, message, hint, facts } = reason ?? { code: 'fileUnreadable', message: fileName, hint: null, facts: {} };
  return new PatchbayError('file', code, message, { facts, ...(hint === null ? {} : { hint }) });
}
