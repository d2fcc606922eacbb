/** How many keys of the file before a full file has, too (`docs/rules.md`, "Guards"). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ledger } from '#src/ledger/port.ts';
import { countBits, countShared, emptyBitmap, enterBit, without } from '#src/ledger/rules/bitmap.ts';
import { type RunRecord, rowsOfFile } from '#src/ledger/runs.ts';

type KeysLedger = Pick<Ledger, 'missing'> & {
  readonly runs: Pick<Ledger['runs'], 'keysOfRun' | 'sharedKeys'>;
};

/**
 * What a run settled has the keys of people whom its file lacks, where it changed their contacts. They are no keys of the file.
 * @param before the newest file of the feed that was accepted with all rows: whom it lacks are those who are missing now.
 */
export async function keysShared(
  { runs, missing }: KeysLedger,
  before: RunRecord,
  run: Pick<RunRecord, 'id'>,
): Promise<{ readonly keys: number; readonly shared: number }> {
  if (rowsOfFile(before) === before.counts.rows) return await runs.sharedKeys(before.id, run.id);
  const all = await runs.keysOfRun(before.id);
  const keys = without(all, await missingIn(missing, before.feed, all.length * 8));
  return { keys: countBits(keys), shared: countShared(keys, await runs.keysOfRun(run.id)) };
}

const peoplePerPage = 1_000;

async function missingIn({ list }: KeysLedger['missing'], feed: string, numberMax: number): Promise<Uint8Array> {
  const bits = emptyBitmap(numberMax);
  let after: string | null = null;
  // Ends with the first short page.
  for (;;) {
    const page: Awaited<ReturnType<typeof list>> = await list(feed, after, peoplePerPage);
    for (const { number } of page) enterBit(bits, number);
    after = page.at(-1)?.key ?? null;
    if (after === null || page.length < peoplePerPage) return bits;
    await nextTurn();
  }
}
