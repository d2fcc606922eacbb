/**
 * `reports/<run>.changes.csv`: what a run changed in contacts, one line for each value, for people with a spreadsheet.
 *
 * A value of several is joined by `; `. An empty cell is no value. No cell is a formula (`src/sources/csv-writer.ts`).
 */
import { join } from 'node:path';
import { writeCsvFile } from '#src/sources/csv-writer.ts';
import type { CustomFieldValue } from '#src/wire/contact.ts';
import { type ContactChange, changePages, type JournalReader } from './changes.ts';

/** Spreadsheets open 1,048,576 lines; what is beyond is in the journal (`runs show --json`). */
const changeLinesMax = 1_000_000;

export const changesColumns = ['key', 'contact', 'write', 'field', 'before', 'after', 'why', 'at'] as const;

export function changesPath(reports: string, runId: string): string {
  return join(reports, `${runId}.changes.csv`);
}

/**
 * Writes the file, which appears whole or not at all; none where the run changed nothing.
 * @returns its path, or null. @throws the system's errors.
 */
export async function writeChangesFile(journal: JournalReader, reports: string, runId: string): Promise<string | null> {
  if ((await journal.journal({ runId, limit: 1 })).length === 0) return null;
  const path = changesPath(reports, runId);
  const rows = firstLines(changePages(journal, { runId }), changeLinesMax);
  await writeCsvFile(path, { columns: changesColumns, rows, delimiter: ',' });
  return path;
}

/** Ends with the pages, or at `max` lines. */
async function* firstLines(
  pages: AsyncIterable<readonly ContactChange[]>,
  max: number,
): AsyncGenerator<readonly (readonly string[])[]> {
  let left = max;
  for await (const page of pages) {
    const lines = page.flatMap(linesOf).slice(0, left);
    left -= lines.length;
    if (lines.length > 0) yield lines;
    if (left === 0) return;
  }
}

/** A contact that got its key and nothing else has one line, too. */
function linesOf({ key, contact, kind, at, changes }: ContactChange): readonly (readonly string[])[] {
  if (changes.length === 0) return [[key, contact, kind, '', '', '', '', at]];
  return changes.map(({ field, from, to, why }) => [key, contact, kind, field, cellOf(from), cellOf(to), why, at]);
}

function cellOf(value: CustomFieldValue): string {
  if (value === null) return '';
  return Array.isArray(value) ? value.join('; ') : String(value);
}
