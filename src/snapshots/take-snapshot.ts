/**
 * Takes a snapshot of the phone numbers: walk, compare, publish, write the files (`rules.md`, "Snapshots").
 *
 * All or nothing: until all pages were read nothing is written, so a failed walk never replaces the last good one. The
 * ledger comes first, in one transaction with what is told of the change; files follow from it, and what a crash left out
 * is restored by whoever takes the next one.
 */
import { isoInstant } from '#src/clock.ts';
import { messageOf, PatchbayError } from '#src/errors.ts';
import { newDeliveryId } from '#src/ledger/delivery-id.ts';
import type { TickEnd } from '#src/ledger/schedule-record.ts';
import type { NumberChange, SnapshotRecord } from '#src/ledger/snapshot-record.ts';
import { removeUnfinishedFiles } from '#src/whole-file.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import { deliveriesOf } from './change-events.ts';
import { settleChangeFile, trimChangeFile } from './change-file.ts';
import { changeCounts, compareSnapshots } from './compare-snapshots.ts';
import { nextInstant } from './instant.ts';
import type { SnapshotParts } from './parts.ts';
import { seriesOf } from './series.ts';
import { removeSnapshotFiles, seriesFolder, settleSnapshotFiles } from './snapshot-files.ts';
import { type Walk, walkNumbers } from './walk-numbers.ts';

export interface SnapshotRequest {
  /** Whose numbers; null is the whole workspace. */
  readonly user: string | null;
}

export interface TakenSnapshot {
  readonly end: Extract<TickEnd, { outcome: 'snapshot' }>;
  readonly record: SnapshotRecord;
  readonly changes: readonly NumberChange[];
}

/** Other series whose old snapshots are forgotten with those of the workspace. */
const otherSeriesMax = 1_000;

/**
 * One at a time for each series.
 * @throws PatchbayError what a read and `walkNumbers` throw; `usage` `userInvalid`; `transient` `snapshotFolderUnusable`;
 *   what the ledger throws; the signal's reason.
 */
export async function takeSnapshot(
  parts: SnapshotParts,
  { user }: SnapshotRequest,
  signal: AbortSignal,
): Promise<TakenSnapshot> {
  const series = seriesOf(user);
  await settleFiles(parts, series);
  const walk = await walkNumbers(parts, user, signal);
  signal.throwIfAborted();
  const { record, changes } = await publishWalk(parts, series, walk);
  await settleFiles(parts, series);
  await forgetOld(parts, series);
  const { count, pages, changed, added, removed, changedNumbers } = record;
  const { movedCount } = walk;
  parts.log.info(
    { user, takenAt: isoInstant(record.takenAtMs), count, pages, changed, added, removed, changedNumbers, movedCount },
    'snapshot taken',
  );
  return { end: { outcome: 'snapshot', takenAtMs: record.takenAtMs, message: messageFor(walk) }, record, changes };
}

async function publishWalk(
  { ledger, clock, notifies }: SnapshotParts,
  series: string,
  walk: Walk,
): Promise<{ readonly record: SnapshotRecord; readonly changes: readonly NumberChange[] }> {
  const latest = await ledger.snapshots.latest(series);
  const takenAtMs = nextInstant(clock.nowMs(), latest?.takenAtMs ?? null);
  const { changes, numbers } = compareSnapshots(await numbersOf(ledger, latest), walk.numbers);
  const isChanged = latest === null || changes.length > 0;
  const record: SnapshotRecord = {
    series,
    takenAtMs,
    count: numbers.length,
    pages: walk.pages,
    changed: isChanged,
    // The first is what the others are compared with: nothing came or went.
    ...changeCounts(latest === null ? [] : changes),
    contentOfMs: isChanged ? takenAtMs : latest.contentOfMs,
  };
  const deliveries = notifies ? deliveriesOf(record, latest?.takenAtMs ?? null, changes, newDeliveryId()) : [];
  await ledger.snapshots.publish({ record, numbers, deliveries });
  return { record, changes: latest === null ? [] : changes };
}

async function numbersOf(
  ledger: SnapshotParts['ledger'],
  record: SnapshotRecord | null,
): Promise<readonly PhoneNumber[]> {
  return record === null ? [] : await ledger.snapshots.numbersOf(record.series, record.takenAtMs);
}

/** Where the folder cannot be written, nothing new is taken: the ledger would run ahead of its files. */
async function settleFiles(parts: SnapshotParts, series: string): Promise<void> {
  try {
    await settleSnapshotFiles(parts, series);
    await settleChangeFile(parts, series);
  } catch (error) {
    throw unusable(parts, error);
  }
}

/**
 * By age and by count. With the workspace's, series that nobody takes any more are forgotten, too.
 *
 * Never rejects: the snapshot is published, and what is too old now is too old after the next one.
 */
async function forgetOld(parts: SnapshotParts, series: string): Promise<void> {
  const { ledger, clock, log, keepMs, keepMax } = parts;
  const nowMs = clock.nowMs();
  const beforeMs = nowMs - keepMs;
  try {
    const others = seriesOf(null) === series ? (await ledger.snapshots.series()).slice(0, otherSeriesMax) : [];
    for (const one of new Set([series, ...others])) {
      const forgotten = await ledger.snapshots.forget(one, beforeMs, keepMax);
      if (forgotten.length > 0 || one === series) await removeSnapshotFiles(parts, one, forgotten, beforeMs);
      await trimChangeFile(parts, one, nowMs);
      await removeUnfinishedFiles(seriesFolder(parts.folder, one), nowMs);
    }
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'old snapshots are kept for now');
  }
}

function unusable({ folder }: SnapshotParts, error: unknown): unknown {
  if (error instanceof PatchbayError || !(error instanceof Error) || !('code' in error)) return error;
  return new PatchbayError('transient', 'snapshotFolderUnusable', `cannot write to ${folder}: ${messageOf(error)}`, {
    facts: { folder, code: String(error.code) },
    hint: 'Check the rights and the free space of that folder. The next snapshot writes the files that are missing.',
    cause: error,
  });
}

function messageFor({ movedCount }: Walk): string | null {
  if (movedCount === 0) return null;
  const came = movedCount === 1 ? '1 number came' : `${movedCount} numbers came`;
  return `the list changed while it was read: ${came} twice with different content, and the later one counts`;
}
