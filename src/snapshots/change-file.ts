/**
 * The changes of a series as a file, `changes.ndjson`: one line for each event, with all values (mode 0600).
 *
 * Lines are only appended. Each holds its number and the count of its snapshot's events, so that the last line shows how far the
 * file has come: events that a crash left out are added, and none is added twice. Lines that are older than snapshots are kept
 * leave the file, and so does the older half of a file that has grown too large.
 */
import { type FileHandle, open, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isoInstant } from '#src/clock.ts';
import { systemCodeOf } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { NumberChange, SnapshotRecord } from '#src/ledger/snapshots.ts';
import { makeFolder, writeWholeFile } from '#src/whole-file.ts';
import { eventsOf, fullEvent } from './change-events.ts';
import { compareSnapshots } from './compare-snapshots.ts';
import { changedSince, seriesFolder } from './snapshot-files.ts';

type SnapshotLedger = Ledger['snapshots'];

const changeFileBytesMax = 128_000_000;
/** Old lines leave the file when they are a tenth of the time it covers, not one by one. */
const overdueShare = 0.1;
/** Read from the end to find the last line; more if a line is longer. */
const tailBytes = 65_536;

function changeFile(folder: string, series: string): string {
  return join(seriesFolder(folder, series), 'changes.ndjson');
}

/** How far the file has come. */
interface Tail {
  /** Of the last whole line; null if there is none. */
  readonly last: { readonly takenAtMs: number; readonly event: number; readonly events: number } | null;
  /** The end of that line: anything behind it is an interrupted write. 0: there is none. */
  readonly endBytes: number;
  readonly sizeBytes: number;
}

/** Appends the events that the file does not have. @throws the system's errors. */
export async function settleChangeFile(snapshots: SnapshotLedger, folder: string, series: string): Promise<void> {
  const latest = await snapshots.at(series);
  if (latest === null) return;
  const path = changeFile(folder, series);
  const { last, endBytes, sizeBytes } = await readTail(path);
  if (last !== null && last.event >= last.events && last.takenAtMs >= latest.contentOfMs) return;
  // Behind a foreign line the position is unknown: only the newest change is added.
  const unknownMs = endBytes === 0 ? 0 : latest.contentOfMs - 1;
  const isWhole = last !== null && last.event >= last.events;
  const knownMs = last === null ? unknownMs : last.takenAtMs - (isWhole ? 0 : 1);
  const behind = await changedSince(snapshots, series, knownMs);
  if (behind.length === 0) return;
  if (endBytes < sizeBytes) await truncate(path, endBytes);
  for (const record of behind) {
    const lines = await linesOf(snapshots, record);
    const from = record.takenAtMs === last?.takenAtMs ? last.event : 0;
    if (from < lines.length) await append(path, lines.slice(from).join(''));
    // Many may be missing, and each comparison blocks.
    await turn();
  }
}

async function append(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await using file = await open(path, 'a', 0o600);
  await file.writeFile(text);
  await file.sync();
}

/** The events of one snapshot, always the same ones. The first of a series has none. */
async function linesOf(snapshots: SnapshotLedger, record: SnapshotRecord): Promise<readonly string[]> {
  const changes = await changesOf(snapshots, record);
  const events = changes.flatMap(eventsOf);
  const takenAt = isoInstant(record.takenAtMs);
  return events.map(
    (event, place) => `${JSON.stringify({ takenAt, event: place + 1, events: events.length, ...fullEvent(event) })}\n`,
  );
}

/** What changed from the previous snapshot. */
export async function changesOf(
  snapshots: SnapshotLedger,
  { series, takenAtMs, changed }: SnapshotRecord,
): Promise<readonly NumberChange[]> {
  if (!changed || (await snapshots.before(series, takenAtMs)) === null) return [];
  const { before, after } = await snapshots.differing(series, takenAtMs);
  return compareSnapshots(before, after).changes;
}

async function readTail(path: string): Promise<Tail> {
  try {
    await using file = await open(path, 'r');
    return await tailOf(file, (await file.stat()).size);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return { last: null, endBytes: 0, sizeBytes: 0 };
    throw error;
  }
}

/** Ends: the piece grows until it holds a whole line or the whole file. */
async function tailOf(file: FileHandle, size: number): Promise<Tail> {
  for (let bytes = tailBytes; ; bytes *= 8) {
    const from = Math.max(0, size - bytes);
    const piece = Buffer.alloc(size - from);
    await file.read(piece, 0, piece.length, from);
    const end = piece.lastIndexOf('\n');
    const start = end <= 0 ? -1 : piece.lastIndexOf('\n', end - 1);
    if (from > 0 && start === -1) continue;
    if (end === -1) return { last: null, endBytes: 0, sizeBytes: size };
    return { last: readPlace(piece.toString('utf8', start + 1, end)), endBytes: from + end + 1, sizeBytes: size };
  }
}

/** Null for a foreign line. */
function readPlace(line: string): Tail['last'] {
  const match = /^\{"takenAt":"([^"]+)","event":(\d+),"events":(\d+),/.exec(line);
  if (match === null) return null;
  const takenAtMs = Date.parse(match[1] ?? '');
  return Number.isNaN(takenAtMs) ? null : { takenAtMs, event: Number(match[2]), events: Number(match[3]) };
}

/** Removes old lines, at the latest when the oldest is a tenth too old. @throws the system's errors. */
export async function trimChangeFile(
  folder: string,
  series: string,
  nowMs: number,
  keepMs: number,
  bytesMax: number = changeFileBytesMax,
): Promise<void> {
  const path = changeFile(folder, series);
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    const oldestMs = (await firstPlace(file))?.takenAtMs ?? nowMs;
    const isTooLarge = size > bytesMax;
    if (!isTooLarge && oldestMs >= nowMs - keepMs * (1 + overdueShare)) return;
    await writeWholeFile(path, youngLines(file, nowMs - keepMs, isTooLarge ? size - bytesMax / 2 : 0));
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

async function firstPlace(file: FileHandle): Promise<Tail['last']> {
  const head = Buffer.alloc(200);
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  return readPlace(head.toString('utf8', 0, bytesRead));
}

/** The lines since that time that begin behind that byte. */
async function* youngLines(file: FileHandle, fromMs: number, fromBytes: number): AsyncGenerator<string, void, void> {
  let bytes = 0;
  for await (const line of file.readLines({ start: 0, autoClose: false })) {
    const isYoung = (readPlace(line)?.takenAtMs ?? Number.MAX_SAFE_INTEGER) >= fromMs;
    if (isYoung && bytes >= fromBytes) yield `${line}\n`;
    bytes += Buffer.byteLength(line) + 1;
  }
}
