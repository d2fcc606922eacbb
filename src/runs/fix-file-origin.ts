/**
 * Which run wrote a fix-file that was dropped in again. Its rows are read as that run read them: same mapping, same
 * country, same rule for blank cells (`rules.md`, "Dead letters": "can be dropped in again, anywhere").
 */
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/run-record.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import { fixFileColumns, isFixFile, letterIdOf } from './fix-columns.ts';

/** Null where the file is none, or its first row's dead letter is not known here. What is wrong with a file is told when it is read. */
export async function fixFileOrigin(ledger: Ledger, path: string, fileName: string): Promise<RunRecord | null> {
  if (!/\.(csv|ndjson)$/i.test(fileName)) return null;
  let source: OpenSource | null = null;
  try {
    source = await openSource(path, { name: fileName, requiredColumn: fixFileColumns });
    for await (const [first] of source.batches()) {
      if (first === undefined || !isFixFile(first.row)) return null;
      const letter = await ledger.deadLetters.get(letterIdOf(first.row));
      return letter === null ? null : await ledger.runs.get(letter.runId);
    }
    return null;
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return null;
    throw error;
  } finally {
    await source?.close();
  }
}
