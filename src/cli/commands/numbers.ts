/** `patchbay numbers ls` and `numbers diff`: the phone numbers of the last snapshot, and what changed between two. */

import type { Home } from '#src/app.ts';
import { listenForInterrupt, tellInterrupted } from '#src/cli/interrupt.ts';
import { patienceOf } from '#src/cli/one-shot.ts';
import { type GlobalOptions, openCliHome } from '#src/cli/open-home.ts';
import { createOutput, type Output, printable } from '#src/cli/output.ts';
import {
  changeSummary,
  countedNumbers,
  diffCommand,
  diffDocument,
  findNumberId,
  findSnapshot,
  numberColumns,
  numberDocument,
  numberRow,
  requireLatest,
  shortInstant,
  snapshotDocument,
} from '#src/cli/present-numbers.ts';
import { takeSeatFor } from '#src/cli/seat.ts';
import { isoInstant } from '#src/clock.ts';
import { invariant, PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { phoneNumbersSchedule, type TickRecord } from '#src/ledger/schedules.ts';
import type { NumberVersion, SnapshotRecord } from '#src/ledger/snapshots.ts';
import { followTick } from '#src/schedules/carry-out-tick.ts';
import { newTickId } from '#src/schedules/tick-due.ts';
import { changesOf } from '#src/snapshots/change-file.ts';
import { changeCounts, compareSnapshots } from '#src/snapshots/compare-snapshots.ts';
import { describeChange, describeDifferences, describeNew, numberLabel } from '#src/snapshots/describe-change.ts';
import { seriesOf, snapshotFile, userOf } from '#src/snapshots/snapshot-files.ts';
import { endedTick } from './schedule.ts';

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
  throw new PatchbayError('usage', 'onlyOneSnapshot', 'there is only one snapshot, so there is nothing to compare', {
    hint: `Take another one with: patchbay numbers snapshot${user === null ? '' : ` --user ${user}`}`,
  });
}

/** `patchbay numbers history`: the snapshots and what changed, or what became of one number. */
interface HistoryOptions extends GlobalOptions {
  readonly user?: string;
  readonly limit: number;
}

/** Changes of one snapshot that the list tells. */
const changesListed = 5;

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
  const lines = changes.slice(0, changesListed).map((change) => `  ${printable(describeChange(change, output))}`);
  if (changes.length <= changesListed) return [head, ...lines];
  const before = await home.ledger.snapshots.before(record.series, takenAtMs);
  const from = isoInstant(before?.takenAtMs ?? takenAtMs);
  const more = `  … and ${changes.length - changesListed} more: ${diffCommand(record.series)} ${from} ${isoInstant(takenAtMs)}`;
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

/** `patchbay numbers snapshot`: takes a snapshot of the phone numbers now, whichever process does the work. */
interface SnapshotOptions extends GlobalOptions {
  readonly user?: string;
  readonly wait?: string;
}

const changesShown = 100;

export async function snapshotNumbers(options: SnapshotOptions): Promise<number> {
  const patienceMs = patienceOf(options.wait);
  const user = options.user ?? null;
  const series = seriesOf(user);
  const home = await openCliHome(options, 'work');
  const output = createOutput(options);
  const interrupt = listenForInterrupt(() => {
    output.note('patchbay: the next engine takes the snapshot; press Ctrl-C again to leave at once');
  });
  try {
    const id = newTickId();
    const { seat, entered } = await takeSeatFor(
      home,
      output,
      { patienceMs, interrupt },
      () => request(home, id, user),
      (tick) => withdraw(home, id, tick),
    );
    try {
      await requireRegularAnswers(home, (code, message) => withdraw(home, id, entered, code, message));
      const end = await seat.follow((following) => followTick({ ...following, tickId: entered.id }));
      await print(home, output, series, endedTick(end, phoneNumbersSchedule));
      return 0;
    } finally {
      await seat.leave();
    }
  } catch (error) {
    const code = interrupt.exitCode();
    if (code === null) throw error;
    return tellInterrupted(output, 'interrupted: the snapshot is taken by the next engine', code);
  } finally {
    interrupt.dispose();
    await home.close();
  }
}

/** Where the configuration takes none by itself, the schedule is one without a rule. */
async function request({ ledger, clock }: Home, id: string, user: string | null): Promise<TickRecord> {
  const nowMs = clock.nowMs();
  const name = phoneNumbersSchedule;
  if ((await ledger.schedules.get(name)) === null) {
    await ledger.schedules.put({ name, work: 'snapshot', rule: null, dueAtMs: null, createdAtMs: nowMs });
  }
  return ledger.schedules.request({ id, schedule: name, trigger: 'request', user, dueAtMs: nowMs });
}

/** What does not pass by waiting: the service answers, and not as its interface says. */
const oddCodes: ReadonlySet<string> = new Set([
  'pageTokenNotText',
  'pageTokenRepeated',
  'tooManyPages',
  'serviceAnswersOddly',
]);

/**
 * Where the service answers look-ups oddly, too, all work waits already, and the snapshot would wait with it.
 * @throws PatchbayError `unreachable`.
 */
async function requireRegularAnswers(
  { ledger }: Home,
  giveUp: (code: string, message: string) => Promise<void>,
): Promise<void> {
  const pause = await ledger.pause();
  if (pause?.errorCode === undefined || !oddCodes.has(pause.errorCode)) return;
  await giveUp(pause.errorCode, pause.message);
  throw new PatchbayError('unreachable', pause.errorCode, pause.message);
}

/** One that waited before is somebody else's, and stays. */
async function withdraw(
  { ledger, clock }: Home,
  id: string,
  tick: TickRecord,
  code = 'notStarted',
  message = 'no engine could be started for it',
): Promise<void> {
  if (tick.id !== id || !(await ledger.schedules.begin(id, clock.nowMs()))) return;
  await ledger.schedules.end(id, clock.nowMs(), { outcome: 'failed', code, message });
}

async function print(home: Home, output: Output, series: string, tick: TickRecord): Promise<void> {
  const { ledger, folders } = home;
  const record = tick.takenAtMs === null ? null : await ledger.snapshots.at(series, tick.takenAtMs);
  invariant(record !== null && record.takenAtMs === tick.takenAtMs, 'a snapshot that was taken is in the ledger');
  const folder = folders.phoneNumberSnapshots;
  if (output.json) {
    output.document(snapshotDocument(folder, record));
    return;
  }
  const before = await ledger.snapshots.before(series, record.takenAtMs);
  const since =
    before === null ? 'the first snapshot' : `${changeSummary(record)} since ${shortInstant(before.takenAtMs)}`;
  output.line(`${output.style('bold', countedNumbers(record.count))} ← ${home.serviceName}: ${since}`);
  const changes = await changesOf(home.ledger.snapshots, record);
  for (const change of changes.slice(0, changesShown)) output.line(`  ${printable(describeChange(change, output))}`);
  if (changes.length > changesShown)
    output.line(`  … and ${changes.length - changesShown} more: ${diffCommand(series)}`);
  if (tick.message !== null) output.line(`  ${printable(tick.message)}`);
  output.line(`  file: ${snapshotFile(folder, record)}`);
}
