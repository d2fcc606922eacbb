/**
 * The files of a series (`docs/contract.md`, "Data folder"): `<instant>.json` for each snapshot that shows a change, and
 * `latest.json`, a copy of the newest of them. A series shows the numbers of the whole workspace, or of one user.
 *
 * The ledger is the truth: files are written after it and from it, so that the next snapshot restores what a crash left out.
 * Invariant: a file is whole, and `latest.json` is written last; snapshots that the ledger holds after it may have no file yet.
 */
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isoInstant } from '#src/clock.ts';
import { emptyIfMissing, invariant, PatchbayError, systemCodeOf } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { type SnapshotRecord, workspaceSeries } from '#src/ledger/snapshots.ts';
import { writeWholeFile } from '#src/whole-file.ts';

type SnapshotLedger = Ledger['snapshots'];

/** Snapshots whose files are checked if `latest.json` is missing. */
const restoredMax = 1_000;
/** The instant is at the beginning of a file. */
const headBytes = 100;

export function seriesFolder(folder: string, series: string): string {
  const user = userOf(series);
  return user === null ? folder : join(folder, 'users', user);
}

/** The file of the snapshot, or of the one that it refers to. */
export function snapshotFile(folder: string, { series, contentOfMs }: SnapshotRecord): string {
  return join(seriesFolder(folder, series), `${writeInstant(contentOfMs)}.json`);
}

/** Writes files that are missing, or were cut short or overwritten from outside; reads little if there are none. @throws the system's errors. */
export async function settleSnapshotFiles(snapshots: SnapshotLedger, folder: string, series: string): Promise<void> {
  const latest = await snapshots.at(series);
  if (latest === null) return;
  const latestFile = join(seriesFolder(folder, series), 'latest.json');
  const shownMs = await takenAtOf(latestFile);
  const isShown = shownMs === latest.contentOfMs;
  if (isShown && (await takenAtOf(snapshotFile(folder, latest))) === latest.contentOfMs) return;
  const content = await snapshots.at(series, latest.contentOfMs);
  invariant(content?.takenAtMs === latest.contentOfMs, 'what a snapshot refers to is kept', { series });
  const missing = isShown ? [] : await changedSince(snapshots, series, shownMs ?? 0);
  for (const record of [...missing, content]) {
    const path = snapshotFile(folder, record);
    if ((await takenAtOf(path)) !== record.takenAtMs) await writeWholeFile(path, await contentOf(snapshots, record));
    // Many may be missing, and each read blocks.
    await turn();
  }
  if (!isShown) await writeWholeFile(latestFile, await contentOf(snapshots, content));
}

/** Snapshots that show a change, oldest first. */
export async function changedSince(
  snapshots: SnapshotLedger,
  series: string,
  sinceMs: number,
): Promise<readonly SnapshotRecord[]> {
  const newest = await snapshots.list(series, restoredMax);
  return newest.filter(({ changed, takenAtMs }) => changed && takenAtMs > sinceMs).reverse();
}

async function contentOf(
  snapshots: SnapshotLedger,
  { series, takenAtMs, count, pages }: SnapshotRecord,
): Promise<string> {
  const data = await snapshots.numbersOf(series, takenAtMs);
  return `${JSON.stringify({ takenAt: isoInstant(takenAtMs), count, pages, data })}\n`;
}

/** Removes the files of forgotten snapshots, and older files than `beforeMs` that an earlier crash left. */
export async function removeSnapshotFiles(
  snapshots: SnapshotLedger,
  folder: string,
  series: string,
  forgotten: readonly number[],
  beforeMs: number,
): Promise<void> {
  const ofSeries = seriesFolder(folder, series);
  // A folder that was removed is made again with the next file.
  const names: readonly string[] = await readdir(ofSeries).catch(emptyIfMissing);
  const named = names.flatMap((name) => {
    const takenAtMs = name.endsWith('.json') ? readInstant(name.slice(0, -'.json'.length)) : null;
    return takenAtMs === null ? [] : [{ name, takenAtMs }];
  });
  const gone = new Set(forgotten);
  for (const { name, takenAtMs } of named) {
    if (!gone.has(takenAtMs) && takenAtMs >= beforeMs) continue;
    const kept = await snapshots.at(series, takenAtMs);
    if (kept?.takenAtMs !== takenAtMs) await rm(join(ofSeries, name), { force: true });
  }
}

/** Null if there is no such file, a foreign one, or one that was cut short: its one line has no end. */
async function takenAtOf(path: string): Promise<number | null> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    const head = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const end = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const [, takenAt] = /^\{"takenAt":"([^"]+)"/.exec(head.buffer.toString('utf8', 0, head.bytesRead)) ?? [];
    const atMs = Date.parse(takenAt ?? '');
    return Number.isNaN(atMs) || end.buffer.toString() !== '\n' ? null : atMs;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  } finally {
    await file?.close();
  }
}

// The names of snapshots: instants such as `20261121T140000Z`, in UTC, to the second (`docs/contract.md`, "Data folder").

const instantPattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

function writeInstant(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

/** Null for another name, and for an instant that the calendar does not have. */
export function readInstant(text: string): number | null {
  const match = instantPattern.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second] = match;
  const atMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(atMs) || writeInstant(atMs) !== text ? null : atMs;
}

/**
 * The instant of the next snapshot of a series, to the second; later than the previous one, even if the wall clock was set back.
 */
export function nextInstant(nowMs: number, latestMs: number | null): number {
  const second = Math.floor(nowMs / 1_000) * 1_000;
  return latestMs === null ? second : Math.max(second, latestMs + 1_000);
}

/** A user's id becomes part of a path, so it must not lead elsewhere (`docs/facts.md`: it begins with US). */
const userPattern = /^US[A-Za-z0-9_-]{1,100}$/;

/**
 * Null is the whole workspace.
 * @throws PatchbayError `usage` `userInvalid`.
 */
export function seriesOf(user: string | null): string {
  if (user === null) return workspaceSeries;
  if (userPattern.test(user)) return user;
  throw new PatchbayError('usage', 'userInvalid', `"${user.slice(0, 60)}" is not the id of a user`, {
    hint: 'An id begins with US, as in USa1b2c3d4e5. Find the ids of users with: patchbay numbers ls --json',
  });
}

export function userOf(series: string): string | null {
  return series === workspaceSeries ? null : series;
}
