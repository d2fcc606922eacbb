/**
 * Which run wrote a fix-file that was dropped in again. Its rows belong to that run's feed, wherever they are dropped, and
 * are read as that run read them: same mapping, same label, same country, same rule for blank cells (`rules.md`, "Dead
 * letters").
 */
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import type { SourceItem } from '#src/sources/row.ts';
import { fixFileReading, isFixFile, letterIdOf } from './fix-columns.ts';

export interface FixFile {
  /** Null where no dead letter of its first rows is known here. */
  readonly origin: RunRecord | null;
}

/** Null where the file is none. What is wrong with a file is told when it is read. */
export async function readFixFile(ledger: Ledger, path: string, fileName: string): Promise<FixFile | null> {
  if (!/\.(csv|tsv|txt|ndjson|jsonl)$/i.test(fileName)) return null;
  let source: OpenSource | null = null;
  try {
    source = await openSource(path, { name: fileName, ...fixFileReading });
    for await (const [first, ...others] of source.slices()) {
      if (first === undefined || !isFixFile(first.row)) return null;
      return { origin: await originOf(ledger, [first, ...others]) };
    }
    return null;
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return null;
    throw error;
  } finally {
    await source?.close();
  }
}

/** Of the first row whose letter is known: somebody may have emptied a cell. */
async function originOf(ledger: Ledger, items: readonly SourceItem[]): Promise<RunRecord | null> {
  for (const { row } of items) {
    const id = letterIdOf(row);
    const letter = id === '' ? null : await ledger.deadLetters.get(id);
    if (letter !== null) return await ledger.runs.get(letter.runId);
  }
  return null;
}
