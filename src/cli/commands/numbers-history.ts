/** `patchbay numbers history`: the snapshots and what changed, or what became of one number. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import type { NumberVersion } from '#src/ledger/snapshot-ledger.ts';
import type { SnapshotRecord } from '#src/ledger/snapshot-record.ts';
import { changesOf } from '#src/snapshots/change-file.ts';
import { describeChange, describeDifferences, describeNew, numberLabel } from '#src/snapshots/describe-change.ts';
import { seriesOf } from '#src/snapshots/snapshot-files.ts';
import { findNumberId, requireLatest } from '../find-snapshot.ts';
import type { GlobalOptions } from '../global-options.ts';
import { openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import {
  changeSummary,
  countedNumbers,
  diffCommand,
  numberDocument,
  shortInstant,
  snapshotDocument,
} from '../present-numbers.ts';

interface HistoryOptions extends GlobalOptions {
  readonly user?: string;
  readonly limit: number;
}

/** Changes of one snapshot that the list tells. */
const changesShown = 5;

export async function numberHistory(options: HistoryOptions, number?: string): Promise<number> {
  const series = seriesOf(options.user ?? null);
  const home = await openCliHome(options, 'look');
  try {
    const output = createOutput(options);
    await requireLatest(home.ledger.snapshots, series);
    if (number === undefined) await printSnapshots(home, output, series, options.limit);
    else await printVersions(home, output, series, number, options.limit);
    return 0;
  } finally {
    await home.close();
  }
}

async function printSnapshots(home: Home, output: Output, series: string, limit: number): Promise<void> {
  const records = await home.ledger.snapshots.list(series, limit);
  if (output.json) {
    for (const record of records) output.document(snapshotDocument(home.folders.phoneNumberSnapshots, record));
    return;
  }
  // Unchanged ones in a row are one line: what changed must not drown in hours of peace.
  let unchanged: SnapshotRecord[] = [];
  const tellUnchanged = (): void => {
    const [newest] = unchanged;
    if (newest !== undefined) output.line(unchangedLine(newest, unchanged.length));
    unchanged = [];
  };
  for (const record of records) {
    if (!record.changed) {
      unchanged.push(record);
      continue;
    }
    tellUnchanged();
    for (const line of await changedLines(home, output, record)) output.line(line);
  }
  tellUnchanged();
}

function unchangedLine({ takenAtMs, count }: SnapshotRecord, times: number): string {
  const seen = times === 1 ? 'nothing changed' : `nothing changed in ${times} snapshots`;
  return `${shortInstant(takenAtMs)}  ${countedNumbers(count)}, ${seen}`;
}

async function changedLines(home: Home, output: Output, record: SnapshotRecord): Promise<readonly string[]> {
  const changes = await changesOf(home.ledger.snapshots, record);
  const { takenAtMs, count } = record;
  const isFirst = (await home.ledger.snapshots.before(record.series, takenAtMs)) === null;
  const head = `${shortInstant(takenAtMs)}  ${countedNumbers(count)}, ${isFirst ? 'the oldest snapshot' : changeSummary(record)}`;
  const lines = changes.slice(0, changesShown).map((change) => `  ${printable(describeChange(change, output))}`);
  if (changes.length <= changesShown) return [head, ...lines];
  const before = await home.ledger.snapshots.before(record.series, takenAtMs);
  const from = isoInstant(before?.takenAtMs ?? takenAtMs);
  const more = `  … and ${changes.length - changesShown} more: ${diffCommand(record.series)} ${from} ${isoInstant(takenAtMs)}`;
  return [head, ...lines, more];
}

async function printVersions(home: Home, output: Output, series: string, text: string, limit: number): Promise<void> {
  const { snapshots } = home.ledger;
  const id = await findNumberId(snapshots, series, text);
  const all = await snapshots.versionsOf(series, id);
  const versions = all.slice(-limit);
  if (output.json) {
    for (const { number, fromMs, untilMs } of versions) {
      const until = untilMs === null ? null : isoInstant(untilMs);
      output.document({ id, from: isoInstant(fromMs), until, data: numberDocument(number, output.values) });
    }
    return;
  }
  const newest = versions.at(-1);
  if (newest === undefined) return;
  const label = numberLabel(newest.number, output);
  output.line(output.style('bold', printable(label === id ? id : `${label} (${id})`)));
  // The one before the first that is shown tells what that one changed.
  let before: NumberVersion | null = all.at(-limit - 1) ?? null;
  for (const version of versions) {
    for (const line of await versionLines(home, output, series, before, version)) output.line(`  ${printable(line)}`);
    before = version;
  }
  if (newest.untilMs !== null) output.line(`  ${shortInstant(newest.untilMs)}  seen for the last time`);
}

async function versionLines(
  home: Home,
  output: Output,
  series: string,
  before: NumberVersion | null,
  version: NumberVersion,
): Promise<readonly string[]> {
  const from = shortInstant(version.fromMs);
  const words = (old: NumberVersion): string =>
    describeDifferences(old.number, version.number, output) || 'nothing changed';
  if (before === null) {
    return [`${from}  seen for the first time${describeNew(version.number, output)}`];
  }
  const lastBefore = await home.ledger.snapshots.before(series, version.fromMs);
  if (lastBefore === null || before.untilMs === null || lastBefore.takenAtMs === before.untilMs) {
    return [`${from}  ${words(before)}`];
  }
  return [`${shortInstant(before.untilMs)}  gone after this`, `${from}  back: ${words(before)}`];
}
