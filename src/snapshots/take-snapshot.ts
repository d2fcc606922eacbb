/**
 * Takes a snapshot of the phone numbers: walk, compare, publish, write the files (`docs/rules.md`, "Snapshots").
 *
 * All or nothing: nothing is written until all pages are read, so a failed walk never replaces the last good snapshot. The walk
 * gives all numbers, unique by id, or throws; `totalItems` is not read. The ledger comes first, in one transaction with the
 * delivery about the change. Files follow from it, and the next snapshot restores what a crash left out.
 */
import { type Clock, isoInstant } from '#src/clock.ts';
import { messageOf, PatchbayError, systemCodeOf } from '#src/errors.ts';
import { type NewDelivery, newDeliveryId } from '#src/ledger/deliveries.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { TickEnd } from '#src/ledger/schedules.ts';
import type { NumberChange, SnapshotRecord } from '#src/ledger/snapshots.ts';
import type { Logger } from '#src/log.ts';
import { isDiskFull, isOfFolder, removeUnfinishedFiles } from '#src/whole-file.ts';
import type { PhoneNumber } from '#src/wire/phone-number.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { deliveriesOf } from './change-events.ts';
import { settleChangeFile, trimChangeFile } from './change-file.ts';
import { changeCounts, compareSnapshots, sameValue } from './compare-snapshots.ts';
import { nextInstant, removeSnapshotFiles, seriesFolder, seriesOf, settleSnapshotFiles } from './snapshot-files.ts';

export interface SnapshotParts {
  readonly ledger: Ledger;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly log: Logger;
  /** The folder of the files, as `data/snapshots/phone-numbers`; created when missing. */
  readonly folder: string;
  /** How long a snapshot, its file and its changes are kept. */
  readonly keepMs: number;
  /** Snapshots of one series that are kept. */
  readonly keepMax: number;
  /** The deliveries of a change, one for each addressee; none where no addressee is set. */
  readonly addressed: (change: NewDelivery) => readonly NewDelivery[];
}

interface SnapshotRequest {
  /** Whose numbers; null means the whole workspace. */
  readonly user: string | null;
}

export interface TakenSnapshot {
  readonly end: Extract<TickEnd, { outcome: 'snapshot' }>;
  readonly record: SnapshotRecord;
  readonly changes: readonly NumberChange[];
}

/** Series of users whose old snapshots are forgotten together with those of the workspace. */
const otherSeriesMax = 1_000;

/**
 * One at a time for each series.
 * @throws PatchbayError what a read and `walkNumbers` throw; `usage` `userInvalid`; `file`: `snapshotFolderUnusable`, `diskFull`;
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
  { ledger, clock, addressed }: SnapshotParts,
  series: string,
  walk: Walk,
): Promise<{ readonly record: SnapshotRecord; readonly changes: readonly NumberChange[] }> {
  const latest = await ledger.snapshots.at(series);
  const takenAtMs = nextInstant(clock.nowMs(), latest?.takenAtMs ?? null);
  const { changes, numbers } = compareSnapshots(await numbersOf(ledger, latest), walk.numbers);
  const isChanged = latest === null || changes.length > 0;
  const record: SnapshotRecord = {
    series,
    takenAtMs,
    count: numbers.length,
    pages: walk.pages,
    changed: isChanged,
    // The first is the base of all comparisons: no change.
    ...changeCounts(latest === null ? [] : changes),
    contentOfMs: isChanged ? takenAtMs : latest.contentOfMs,
  };
  const deliveries = deliveriesOf(record, latest?.takenAtMs ?? null, changes, newDeliveryId()).flatMap(addressed);
  await ledger.snapshots.publish({ record, numbers, deliveries });
  return { record, changes: latest === null ? [] : changes };
}

async function numbersOf(
  ledger: SnapshotParts['ledger'],
  record: SnapshotRecord | null,
): Promise<readonly PhoneNumber[]> {
  return record === null ? [] : await ledger.snapshots.numbersOf(record.series, record.takenAtMs);
}

/** If the folder cannot be written, no snapshot is taken: the ledger would run ahead of its files. */
async function settleFiles({ ledger, folder }: SnapshotParts, series: string): Promise<void> {
  try {
    await settleSnapshotFiles(ledger.snapshots, folder, series);
    await settleChangeFile(ledger.snapshots, folder, series);
  } catch (error) {
    throw unusable(folder, error);
  }
}

/**
 * By age and by count. The series of the workspace forgets the old snapshots of all others too, since those may not be taken any
 * more. Never rejects: the snapshot is published, and what is too old now is removed after the next one.
 */
async function forgetOld(parts: SnapshotParts, series: string): Promise<void> {
  const { ledger, clock, log, folder, keepMs, keepMax } = parts;
  const nowMs = clock.nowMs();
  const beforeMs = nowMs - keepMs;
  try {
    const others = seriesOf(null) === series ? (await ledger.snapshots.series()).slice(0, otherSeriesMax) : [];
    for (const one of new Set([series, ...others])) {
      const forgotten = await ledger.snapshots.forget(one, beforeMs, keepMax);
      if (forgotten.length > 0 || one === series)
        await removeSnapshotFiles(ledger.snapshots, folder, one, forgotten, beforeMs);
      await trimChangeFile(folder, one, nowMs, keepMs);
      await removeUnfinishedFiles(seriesFolder(folder, one), nowMs);
    }
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'old snapshots not removed');
  }
}

/** Trouble of the ledger, and an error inside Patchbay, stay as they are. */
function unusable(folder: string, error: unknown): unknown {
  if (error instanceof PatchbayError && !isOfFolder(error)) return error;
  const code = error instanceof PatchbayError ? String(error.facts.systemCode) : systemCodeOf(error);
  if (code === null) return error;
  const isFull = isDiskFull(error) || (error instanceof PatchbayError && error.code === 'diskFull');
  const [name, message, what] = isFull
    ? ['diskFull', `the disk of ${folder} is full (${code})`, 'Free space on that disk.']
    : [
        'snapshotFolderUnusable',
        `cannot write to ${folder}: ${messageOf(error)}`,
        'Check the rights and the disk of that folder.',
      ];
  return new PatchbayError('file', name, message, {
    facts: { folder, code },
    hint: `${what} The next snapshot writes the missing files.`,
    cause: error,
  });
}

function messageFor({ movedCount }: Walk): string | null {
  if (movedCount === 0) return null;
  const returned = movedCount === 1 ? '1 number was' : `${movedCount} numbers were`;
  return `the list changed while it was read: ${returned} returned twice with different content; the later one is kept`;
}

/** Far above any workspace; all numbers are held in memory. */
interface WalkLimits {
  readonly numbersMax: number;
  /** Of the numbers' JSON, in characters. */
  readonly charactersMax: number;
  readonly walkMs: number;
}
const walkLimits: WalkLimits = { numbersMax: 100_000, charactersMax: 100_000_000, walkMs: 600_000 };

interface Walk {
  /** In the service's order. */
  readonly numbers: readonly PhoneNumber[];
  readonly pages: number;
  /** Numbers returned more than once and differently: the list changed during the walk. The later one is kept. */
  readonly movedCount: number;
}

/** @throws PatchbayError what a read throws; `unreachable` `walkTooLong`, `phoneNumberListTooLarge`. */
async function walkNumbers(
  { workspace, clock }: { readonly workspace: Pick<Workspace, 'listPhoneNumberPages'>; readonly clock: Clock },
  userId: string | null,
  signal: AbortSignal,
  limits: WalkLimits = walkLimits,
): Promise<Walk> {
  const overdue = new AbortController();
  const ended = new AbortController();
  clock.sleep(limits.walkMs, ended.signal).then(
    () => overdue.abort(tooLong(limits)),
    () => undefined,
  );
  try {
    return await walkAll(workspace, userId, AbortSignal.any([signal, overdue.signal]), limits);
  } finally {
    ended.abort();
  }
}

async function walkAll(
  workspace: Pick<Workspace, 'listPhoneNumberPages'>,
  userId: string | null,
  signal: AbortSignal,
  limits: WalkLimits,
): Promise<Walk> {
  const numbers = new Map<string, PhoneNumber>();
  const moved = new Set<string>();
  let pages = 0;
  let characters = 0;
  // Ends with the list: the walker bounds its pages, and each of them is bounded.
  for await (const page of workspace.listPhoneNumberPages({ userId, signal })) {
    signal.throwIfAborted();
    pages += 1;
    for (const number of page) {
      const earlier = numbers.get(number.id);
      if (earlier !== undefined && !sameValue(earlier, number)) moved.add(number.id);
      numbers.set(number.id, number);
      characters += JSON.stringify(number).length;
    }
    if (numbers.size > limits.numbersMax || characters > limits.charactersMax) throw tooLarge(limits);
  }
  return { numbers: [...numbers.values()], pages, movedCount: moved.size };
}

function tooLong({ walkMs }: WalkLimits): PatchbayError {
  const message = `The phone numbers could not be read within ${Math.round(walkMs / 60_000)} minutes.`;
  return new PatchbayError('unreachable', 'walkTooLong', message, {
    facts: { walkMs },
    hint: 'The last good snapshot is kept. Try again later; if the rate is low, raise PATCHBAY_RATE.',
  });
}

function tooLarge({ numbersMax, charactersMax }: WalkLimits): PatchbayError {
  return new PatchbayError(
    'unreachable',
    'phoneNumberListTooLarge',
    `The service lists more than ${numbersMax} phone numbers, or more than ${charactersMax} characters of them.`,
    {
      facts: { numbersMax, charactersMax },
      hint: 'The last good snapshot is kept. Take a snapshot per user: --user ID.',
    },
  );
}
