/** `patchbay numbers ls` and `numbers diff`: the phone numbers of the last snapshot, and what changed between two. */
import { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { SnapshotRecord } from '#src/ledger/snapshot-record.ts';
import { changeCounts, compareSnapshots } from '#src/snapshots/compare-snapshots.ts';
import { describeChange } from '#src/snapshots/describe-change.ts';
import { seriesOf, userOf } from '#src/snapshots/snapshot-files.ts';
import { findSnapshot, requireLatest } from '../find-snapshot.ts';
import type { GlobalOptions } from '../global-options.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, printable } from '../output.ts';
import {
  changeSummary,
  countedNumbers,
  diffDocument,
  numberColumns,
  numberDocument,
  numberRow,
  shortInstant,
} from '../present-numbers.ts';

export interface NumbersOptions extends GlobalOptions {
  readonly user?: string;
}

/** Rows of one table; its head stands again above the next ones. A table of ten thousand takes a quarter of a minute. */
const tableRows = 250;

export async function listNumbers(options: NumbersOptions): Promise<number> {
  const series = seriesOf(options.user ?? null);
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const { snapshots } = home.ledger;
    const latest = await requireLatest(snapshots, series);
    const numbers = await snapshots.numbersOf(series, latest.takenAtMs);
    if (output.json) {
      for (const number of numbers) output.document(numberDocument(number, output.values));
      return 0;
    }
    output.line(`${countedNumbers(latest.count)}, seen ${shortInstant(latest.takenAtMs)}`);
    // Ends: each turn takes the next rows.
    for (let from = 0; from < numbers.length; from += tableRows) {
      const rows = numbers.slice(from, from + tableRows).map((number) => numberRow(number, output.values));
      output.line(output.table(numberColumns, rows));
    }
    return 0;
  } finally {
    await home.close();
  }
}

/** `from` alone is compared with the last one; without both the last one with the one before it. */
export async function diffNumbers(options: NumbersOptions, from?: string, to?: string): Promise<number> {
  const series = seriesOf(options.user ?? null);
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    const { snapshots } = home.ledger;
    const latest = await requireLatest(snapshots, series);
    const newer = to === undefined ? latest : await findSnapshot(snapshots, series, to, 'to');
    const older =
      from === undefined ? await requireBefore(snapshots, newer) : await findSnapshot(snapshots, series, from, 'from');
    const { changes } = compareSnapshots(
      await snapshots.numbersOf(series, older.takenAtMs),
      await snapshots.numbersOf(series, newer.takenAtMs),
    );
    if (output.json) output.document(diffDocument(older, newer, changes, output.values));
    else {
      const counts = changeSummary(changeCounts(changes));
      output.line(`${shortInstant(older.takenAtMs)} → ${shortInstant(newer.takenAtMs)}: ${counts}`);
      for (const change of changes) output.line(`  ${printable(describeChange(change, output))}`);
    }
    return 0;
  } finally {
    await home.close();
  }
}

async function requireBefore(snapshots: Ledger['snapshots'], record: SnapshotRecord): Promise<SnapshotRecord> {
  const before = await snapshots.before(record.series, record.takenAtMs);
  if (before !== null) return before;
  const user = userOf(record.series);
  throw new PatchbayError('usage', 'onlyOneSnapshot', 'there is one snapshot alone, and nothing to compare it with', {
    hint: `Take another one with: patchbay numbers snapshot${user === null ? '' : ` --user ${user}`}`,
  });
}
