/**
 * What a file is compared with before the guards judge it: the earlier files of its feed (`docs/rules.md`, "Guards").
 *
 * - For a named feed, its last accepted file, so that half an export is not mistaken for a decision to drop the other half.
 * - For `main` too, the run that accepted the same content, so that an older file does not turn values back.
 * - Columns with contact data that nothing maps: they stop the first file of a feed that has them. Letting that file pass
 *   decides for the files that follow, so the columns that accepted files left out are remembered.
 */
import type { Feeds } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { namesColumn } from '#src/mapping/bind-mapping.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { normaliseHeader, tidyHeader } from '#src/mapping/header.ts';
import { listNames } from '#src/sources/row.ts';
import type { FileBefore, FileHistory, GuardVerdict, OlderFile } from './guards.ts';
import { areOfOneKind, compareHeaders, describeHeaderChanges } from './header-changes.ts';

/** Whether the run's file belongs to a series of files that each hold all contacts of their feed. */
export function isFullFile(feeds: Feeds, run: RunRecord): boolean {
  return run.feed !== mainFeed && comesInFull(feeds, run);
}

/** Fix-files, redrives and files of kind `delta` hold a part of their feed and are compared with nothing. */
function comesInFull(feeds: Feeds, { feed, kind }: RunRecord): boolean {
  return kind === 'file' && feeds.rulesOf(feed).kind === 'full';
}

/** Of a run that is staged to its end; null where the guards have nothing to compare it with. */
export async function fileHistory(ledger: Ledger, feeds: Feeds, run: RunRecord): Promise<FileHistory | null> {
  if (!comesInFull(feeds, run)) return null;
  const before = await runBefore(ledger, feeds, run);
  return {
    before: before === null ? null : await compareWithBefore(ledger, before, run),
    older: await olderFile(ledger, run),
    isNamed: run.feed !== mainFeed,
  };
}

/** The newest run that accepted the same content, unless it is the last that the feed accepted. */
async function olderFile(ledger: Ledger, { feed, sha256, sequence }: RunRecord): Promise<OlderFile | null> {
  const same = await ledger.runs.lastAccepted(feed, sequence, sha256);
  if (same === null || same.newerCount === 0) return null;
  return { runId: same.run.id, atMs: same.run.createdAtMs, newerCount: same.newerCount };
}

/** The feed's last accepted file; null where there is none, or nothing to compare. */
export async function runBefore(ledger: Ledger, feeds: Feeds, run: RunRecord): Promise<RunRecord | null> {
  if (!isFullFile(feeds, run)) return null;
  return (await ledger.runs.lastAccepted(run.feed, run.sequence))?.run ?? null;
}

async function compareWithBefore(ledger: Ledger, before: RunRecord, run: RunRecord): Promise<FileBefore> {
  const { keys, shared } = await ledger.runs.sharedKeys(before.id, run.id);
  const mapped = before.shape?.mapped ?? [];
  return {
    rows: before.counts.rows,
    keys,
    sharedKeys: shared,
    mappedColumns: mapped.length,
    // Another mapping reads other columns.
    missingColumns: before.mapping?.name === run.mapping?.name ? missingColumns(mapped, run) : [],
  };
}

/** A column that the mapping no longer names is not missing; JSON has no columns. */
function missingColumns(mappedBefore: readonly string[], { shape, mapping }: RunRecord): readonly string[] {
  const columns = shape?.columns ?? null;
  if (columns === null) return [];
  const there = new Set(columns.map(normaliseHeader));
  return mappedBefore.filter((column) => !there.has(normaliseHeader(column)) && namesColumn(mapping, column));
}

/**
 * What changed in the header since the last accepted file of the feed, as a note; null for no change, for JSON, and for rows of
 * a file that was judged before. `main` may hold files of several kinds: only one of the same kind is compared.
 */
export async function headerNote(
  ledger: Ledger,
  { feed, kind, sequence }: RunRecord,
  columns: readonly string[] | null,
): Promise<string | null> {
  if (kind !== 'file' || columns === null) return null;
  const before = (await ledger.runs.lastAccepted(feed, sequence))?.run.shape?.columns ?? null;
  if (before === null || (feed === mainFeed && !areOfOneKind(before, columns))) return null;
  return describeHeaderChanges(compareHeaders(before, columns));
}

/** How many accepted files are looked through; a column that returns after more than that counts as new. */
const filesMax = 100;

/** Those that no accepted file of the feed has left out. None for rows of a file that was judged before. */
export async function newlyLeftOut(
  ledger: Ledger,
  run: RunRecord,
  leftOut: readonly ContactColumn[],
): Promise<readonly ContactColumn[]> {
  if (run.kind !== 'file' || leftOut.length === 0) return [];
  const states = ['applying', 'done', 'doneWithDead'] as const;
  const files = (await ledger.runs.list({ feed: run.feed, states, limit: filesMax })).filter(
    ({ kind, sequence }) => kind === 'file' && sequence < run.sequence,
  );
  // Older versions did not look for such columns: all that their files had was accepted with them.
  const accepted = files.flatMap(({ shape }) => shape?.leftOut ?? shape?.columns ?? []);
  const known = new Set(accepted.map(normaliseHeader));
  return leftOut.filter(({ column }) => !known.has(normaliseHeader(column)));
}

/** No limit applies: the columns are needed, or they are not. */
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
    return `Add the columns you need to mapping "${mapping.name}", for example ${lines}; ignore the others with ${ignore}.`;
  }
  const them = columns.length === 1 ? 'it' : 'them';
  return `To import ${them}, rename ${renamedIn(columns)} in the file, or map ${them} with --mapping. To leave ${them} out, put ${ignore} into that mapping.`;
}

/** Several columns of one field are alternatives: the generic layout takes one of them. */
function renamedIn(columns: readonly ContactColumn[]): string {
  const isList = ({ kind }: ContactColumn): boolean => kind === 'phone' || kind === 'email';
  const groups = Map.groupBy(columns, (one) => (isList(one) ? one : one.generic));
  const renamed = [...groups.values()].map((group) => {
    const names = group.map(({ column }) => listNames([column])).join(' or ');
    return `${names} to "${group[0]?.generic}"`;
  });
  return renamed.join(' and ');
}
