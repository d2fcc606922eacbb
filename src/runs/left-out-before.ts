/**
 * Columns with contact data that nothing maps stop the first file of a feed that has them (`rules.md`, "Guards"). Whoever lets
 * that file pass has decided for those that follow: the feed remembers what its accepted files left out.
 */
import type { RunRecord } from '#src/ledger/runs.ts';
import type { ContactColumn } from '#src/mapping/contact-columns.ts';
import { listNames, normaliseHeader, tidyHeader } from '#src/mapping/header.ts';
import type { GuardVerdict } from './guards.ts';
import type { RunParts } from './parts.ts';

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
