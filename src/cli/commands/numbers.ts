/** `patchbay numbers ls|snapshot|history|diff`. */
import type { Home } from '#src/app.ts';
import { isoInstant } from '#src/clock.ts';
import { invariant } from '#src/errors.ts';
import { phoneNumbersSchedule, type TickRecord } from '#src/ledger/schedules.ts';
import type { SnapshotRecord } from '#src/ledger/snapshots.ts';
import {
  diffDocument,
  diffNumbers,
  listNumbers,
  listSnapshots,
  type NumberHistory,
  numberDocument,
  numbersCommand,
  readNumberHistory,
  readSnapshotChanges,
  readSnapshotOf,
  requestSnapshot,
  snapshotDocument,
  type VersionStep,
  withdrawIfOdd,
} from '#src/operations/numbers.ts';
import { endedTick } from '#src/operations/schedules.ts';
import { followTick } from '#src/schedules/carry-out-tick.ts';
import { changeCounts } from '#src/snapshots/compare-snapshots.ts';
import { describeChange, describeDifferences, describeNew, numberLabel } from '#src/snapshots/describe-change.ts';
import { listenForInterrupt, reportInterrupted } from '../interrupt.ts';
import { patienceOf } from '../one-shot.ts';
import { type GlobalOptions, openCliHome } from '../open-home.ts';
import { createOutput, type Output, printable } from '../output.ts';
import { changeSummary, countedNumbers, numberColumns, numberRow, shortInstant } from '../present-numbers.ts';
import { openPatiently } from '../waiting.ts';
import { beginRequest } from '../work-session.ts';

interface NumbersOptions extends GlobalOptions {
  readonly user?: string;
}

/** Rows of one table; its head is repeated above the next ones. A single table of ten thousand rows takes a quarter of a minute. */
const tableRows = 250;
/** Changes of one snapshot that `history` lists. */
const historyChangesShown = 5;
const snapshotChangesShown = 100;

export async function numbers(options: NumbersOptions): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const { snapshot, numbers } = await listNumbers(home, options);
    if (output.json) {
      for (const number of numbers) output.document(numberDocument(number, output.values));
      return 0;
    }
    output.line(`${countedNumbers(snapshot.count)}, seen ${shortInstant(snapshot.takenAtMs)}`);
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

export async function numbersDiff(options: NumbersOptions, from?: string, to?: string): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    const ends = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const diff = await diffNumbers(home, { ...options, ...ends });
    if (output.json) output.document(diffDocument(diff, output.values));
    else {
      const counts = changeSummary(changeCounts(diff.changes));
      output.line(`${shortInstant(diff.from.takenAtMs)} → ${shortInstant(diff.to.takenAtMs)}: ${counts}`);
      for (const change of diff.changes) output.line(`  ${printable(describeChange(change, output))}`);
    }
    return 0;
  } finally {
    await home.close();
  }
}

interface HistoryOptions extends NumbersOptions {
  readonly limit: number;
}

export async function numberHistory(options: HistoryOptions, number?: string): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const output = createOutput(options);
    if (number === undefined) await printSnapshots(home, output, options);
    else await printVersions(home, output, options, number);
    return 0;
  } finally {
    await home.close();
  }
}

async function printSnapshots(home: Home, output: Output, options: HistoryOptions): Promise<void> {
  const records = await listSnapshots(home, options);
  if (output.json) {
    for (const record of records) output.document(snapshotDocument(home, record));
    return;
  }
  // Unchanged snapshots in a row are one line, so that changes stand out.
  let unchanged: SnapshotRecord[] = [];
  const printUnchanged = (): void => {
    const [newest] = unchanged;
    if (newest !== undefined) output.line(unchangedLine(newest, unchanged.length));
    unchanged = [];
  };
  for (const record of records) {
    if (!record.changed) {
      unchanged.push(record);
      continue;
    }
    printUnchanged();
    for (const line of await changedLines(home, output, record)) output.line(line);
  }
  printUnchanged();
}

function unchangedLine({ takenAtMs, count }: SnapshotRecord, times: number): string {
  const seen = times === 1 ? 'nothing changed' : `nothing changed in ${times} snapshots`;
  return `${shortInstant(takenAtMs)}  ${countedNumbers(count)}, ${seen}`;
}

async function changedLines(home: Home, output: Output, record: SnapshotRecord): Promise<readonly string[]> {
  const { before, changes } = await readSnapshotChanges(home, record);
  const { takenAtMs, count } = record;
  const what = before === null ? 'the oldest snapshot' : changeSummary(record);
  const lines = changes.slice(0, historyChangesShown).map((change) => `  ${printable(describeChange(change, output))}`);
  const left = changes.length - lines.length;
  const ends = `${isoInstant(before?.takenAtMs ?? takenAtMs)} ${isoInstant(takenAtMs)}`;
  const more = left > 0 ? [output.paste(`  … and ${left} more: ${numbersCommand(`diff ${ends}`, record.series)}`)] : [];
  return [`${shortInstant(takenAtMs)}  ${countedNumbers(count)}, ${what}`, ...lines, ...more];
}

async function printVersions(home: Home, output: Output, options: HistoryOptions, text: string): Promise<void> {
  const histories = await readNumberHistory(home, text, options);
  if (!output.json) {
    const under = histories.length > 1 ? ' under this id' : '';
    for (const history of histories) printHistory(output, history, under);
    return;
  }
  for (const { id, steps } of histories) {
    for (const { version } of steps) {
      const until = version.untilMs === null ? null : isoInstant(version.untilMs);
      output.document({
        id,
        from: isoInstant(version.fromMs),
        until,
        data: numberDocument(version.number, output.values),
      });
    }
  }
}

/** @param under says that the number has had other ids, too. */
function printHistory(output: Output, { id, steps }: NumberHistory, under: string): void {
  const newest = steps.at(-1)?.version;
  if (newest === undefined) return;
  const label = numberLabel(newest.number, output);
  output.line(output.style('bold', printable(label === id ? id : `${label} (${id})`)));
  for (const step of steps) for (const line of versionLines(output, step, under)) output.line(`  ${printable(line)}`);
  if (newest.untilMs !== null) output.line(`  ${shortInstant(newest.untilMs)}  seen for the last time${under}`);
}

function versionLines(output: Output, { version, before, wasGone }: VersionStep, under: string): readonly string[] {
  const from = shortInstant(version.fromMs);
  if (before === null) return [`${from}  seen for the first time${under}${describeNew(version.number, output)}`];
  const words = describeDifferences(before.number, version.number, output) || 'nothing changed';
  if (!wasGone) return [`${from}  ${words}`];
  return [`${shortInstant(before.untilMs ?? version.fromMs)}  gone after this`, `${from}  back: ${words}`];
}

interface SnapshotOptions extends NumbersOptions {
  readonly wait?: string;
}

/** Takes a snapshot now, in this process or in the engine that runs. */
export async function snapshotNumbers(options: SnapshotOptions): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const home = await openPatiently(options, 'act', patienceMs);
  const output = createOutput(options);
  const interrupt = listenForInterrupt(() => {
    output.note('patchbay: the next engine takes the snapshot; press Ctrl-C again to leave at once');
  });
  try {
    const { session, entered } = await beginRequest(home, output, { patienceMs, interrupt }, () =>
      requestSnapshot(home, options),
    );
    try {
      await withdrawIfOdd(home, entered);
      const end = await session.follow((following) => followTick({ ...following, tickId: entered.tick.id }));
      await printSnapshot(home, output, endedTick(end, phoneNumbersSchedule));
      return 0;
    } finally {
      await session.leave();
    }
  } catch (error) {
    const code = interrupt.exitCode();
    if (code === null) throw error;
    return reportInterrupted(output, 'interrupted: the next engine takes the snapshot', code, error);
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

async function printSnapshot(home: Home, output: Output, tick: TickRecord): Promise<void> {
  const record = await readSnapshotOf(home, tick);
  invariant(record !== null, 'a snapshot that was taken is in the ledger');
  const document = snapshotDocument(home, record);
  if (output.json) {
    output.document(document);
    return;
  }
  const { before, changes } = await readSnapshotChanges(home, record);
  const since =
    before === null ? 'the first snapshot' : `${changeSummary(record)} since ${shortInstant(before.takenAtMs)}`;
  output.line(`${output.style('bold', countedNumbers(record.count))} ← ${home.serviceName}: ${since}`);
  for (const change of changes.slice(0, snapshotChangesShown))
    output.line(`  ${printable(describeChange(change, output))}`);
  const left = changes.length - snapshotChangesShown;
  if (left > 0) output.line(output.paste(`  … and ${left} more: ${numbersCommand('diff', record.series)}`));
  if (tick.message !== null) output.line(`  ${printable(tick.message)}`);
  output.line(`  file: ${document.file}`);
}
