/**
 * The file before: what a full file of a named feed is compared with, so that half an export is no order to forget the
 * other half (`rules.md`, "Guards").
 */
import { mainFeed } from '#src/ledger/main-feed.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import { normaliseHeader } from '#src/mapping/header.ts';
import { namesColumn } from '#src/mapping/named-columns.ts';
import type { FileBefore } from './guards.ts';
import type { RunParts } from './parts.ts';

/** Whether the run's file is one in a row of files that each hold all contacts of its feed. */
export function isFullFile({ feeds }: Pick<RunParts, 'feeds'>, { feed, kind }: RunRecord): boolean {
  return kind === 'file' && feed !== mainFeed && feeds.rulesOf(feed).kind === 'full';
}

/** The feed's last accepted file; null where there is none, or nothing to compare. */
export async function runBefore(parts: Pick<RunParts, 'feeds' | 'ledger'>, run: RunRecord): Promise<RunRecord | null> {
  return isFullFile(parts, run) ? parts.ledger.runs.lastAccepted(run.feed, run.sequence) : null;
}

/** Compares a run that is staged to its end. */
export async function compareWithFileBefore(
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
