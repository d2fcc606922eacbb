/**
 * The files before: what a file that holds all contacts of its feed is compared with (`rules.md`, "Guards"). For a named feed
 * that is its last accepted file, so that half an export is no order to forget the other half; for `main` too, the run
 * that accepted the same content, so that an older file does not turn values back.
 */
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { normaliseHeader } from '#src/mapping/header.ts';
import { namesColumn } from '#src/mapping/layout.ts';
import type { FileBefore, FileHistory, OlderFile } from './guards.ts';
import type { RunParts } from './parts.ts';

/** Whether the run's file is one in a row of files that each hold all contacts of its feed. */
export function isFullFile(parts: Pick<RunParts, 'feeds'>, run: RunRecord): boolean {
  return run.feed !== mainFeed && comesInFull(parts, run);
}

/** Fix-files and redrives are no part of their feed's history, and files of kind `delta` are no pictures of it. */
function comesInFull({ feeds }: Pick<RunParts, 'feeds'>, { feed, kind }: RunRecord): boolean {
  return kind === 'file' && feeds.rulesOf(feed).kind === 'full';
}

/** Of a run that is staged to its end; null where the guards have nothing to compare it with. */
export async function fileHistory(
  parts: Pick<RunParts, 'feeds' | 'ledger'>,
  run: RunRecord,
): Promise<FileHistory | null> {
  if (!comesInFull(parts, run)) return null;
  return {
    before: await compareWithFileBefore(parts, run),
    older: await olderFile(parts, run),
    isNamed: run.feed !== mainFeed,
  };
}

/** The newest run that accepted the same content, unless it is the last that the feed accepted. */
async function olderFile(
  { ledger }: Pick<RunParts, 'ledger'>,
  { feed, sha256, sequence }: RunRecord,
): Promise<OlderFile | null> {
  const same = await ledger.runs.acceptedContent(feed, sha256, sequence);
  if (same === null || same.newerCount === 0) return null;
  return { runId: same.run.id, atMs: same.run.createdAtMs, newerCount: same.newerCount };
}

/** The feed's last accepted file; null where there is none, or nothing to compare. */
export async function runBefore(parts: Pick<RunParts, 'feeds' | 'ledger'>, run: RunRecord): Promise<RunRecord | null> {
  return isFullFile(parts, run) ? parts.ledger.runs.lastAccepted(run.feed, run.sequence) : null;
}

async function compareWithFileBefore(
  parts: Pick<RunParts, 'feeds' | 'ledger'>,
  run: RunRecord,
): Promise<FileBefore | null> {
  const before = await runBefore(parts, run);
  if (before === null) return null;
  const { keys, shared } = await parts.ledger.staging.sharedKeys(before.id, run.id);
  const mapped = before.shape?.mapped ?? [];
  return {
    rows: before.counts.rows,
    keys,
    sharedKeys: shared,
    mappedColumns: mapped.length,
    missingColumns: missingColumns(mapped, run),
  };
}

/** A column that the mapping does not name any more is not missed; JSON has no columns. */
function missingColumns(mappedBefore: readonly string[], { shape, mapping }: RunRecord): readonly string[] {
  const columns = shape?.columns ?? null;
  if (columns === null) return [];
  const there = new Set(columns.map(normaliseHeader));
  return mappedBefore.filter((column) => !there.has(normaliseHeader(column)) && namesColumn(mapping, column));
}
