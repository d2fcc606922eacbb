/**
 * The files before: what a file that holds all contacts of its feed is compared with (`rules.md`, "Guards"). For a named feed
 * that is its last accepted file, so that half an export is no order to forget the other half; for `main` too, the run
 * that accepted the same content, so that an older file does not turn values back.
 */
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { listNames, normaliseHeader, tidyHeader } from '#src/mapping/header.ts';
import { namesColumn } from '#src/mapping/layout.ts';
import type { FileBefore, FileHistory, GuardVerdict, OlderFile } from './guards.ts';
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
  const same = await ledger.runs.lastAccepted(feed, sequence, sha256);
  if (same === null || same.newerCount === 0) return null;
  return { runId: same.run.id, atMs: same.run.createdAtMs, newerCount: same.newerCount };
}

/** The feed's last accepted file; null where there is none, or nothing to compare. */
export async function runBefore(parts: Pick<RunParts, 'feeds' | 'ledger'>, run: RunRecord): Promise<RunRecord | null> {
  if (!isFullFile(parts, run)) return null;
  return (await parts.ledger.runs.lastAccepted(run.feed, run.sequence))?.run ?? null;
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

// Columns with contact data that nothing maps stop the first file of a feed that has them (`rules.md`, "Guards"). Whoever lets
// that file pass has decided for those that follow: the feed remembers what its accepted files left out.

/** Of so many accepted files; a column that comes back after more is news again. */
const filesMax = 100;

/** Those that no accepted file of the feed has left out. None for rows that come from a file that was looked at before. */
export async function newlyLeftOut(
  { ledger }: Pick<RunParts, 'ledger'>,
  run: RunRecord,
  leftOut: readonly ContactColumn[],
): Promise<readonly ContactColumn[]> {
  if (run.kind !== 'file' || leftOut.length === 0) return [];
  const states = ['applying', 'done', 'doneWithDead'] as const;
  const files = (await ledger.runs.list({ feed: run.feed, states, limit: filesMax })).filter(
    ({ kind, sequence }) => kind === 'file' && sequence < run.sequence,
  );
  // Older versions did not look: what stood in their files was accepted with them.
  const accepted = files.flatMap(({ shape }) => shape?.leftOut ?? shape?.columns ?? []);
  const known = new Set(accepted.map(normaliseHeader));
  return leftOut.filter(({ column }) => !known.has(normaliseHeader(column)));
}

/** No figure raises this one: the columns are needed, or they are not. */
export function leftOutVerdict(columns: readonly ContactColumn[], run: RunRecord): readonly GuardVerdict[] {
  if (columns.length === 0 || run.options.accept) return [];
  const names = columns.map(({ column }) => column);
  const count = columns.length;
  return [{ guard: 'unmapped', count, base: count, limit: 0, names, advice: adviceFor(columns, run) }];
}

function adviceFor(columns: readonly ContactColumn[], { mapping }: RunRecord): string {
  const ignore = `ignore: [${columns.map(({ column }) => JSON.stringify(tidyHeader(column))).join(', ')}]`;
  if (mapping !== null) {
    const lines = columns.map(({ line }) => line).join(' and ');
    return `Add to mapping "${mapping.name}" what is needed, as in ${lines}, or what is not: ${ignore}.`;
  }
  const renamed = columns.map(({ column, generic }) => `${listNames([column])} to "${generic}"`).join(', ');
  return `Rename what is needed, ${renamed}, or use a mapping (--mapping), which may also say ${ignore}.`;
}
