/**
 * The log files of a data folder: their last lines, and the lines that follow.
 *
 * Several processes may write at the same time, and each rotates by itself: one may still write into a file behind the newest
 * one. So all files are watched, and lines are put in order by their time.
 *
 * Invariants: a line is returned whole or not yet; none is returned twice; what is read is bounded.
 */
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';

/** The levels of log lines, from the least important one. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogFilter {
  readonly run: string | null;
  readonly feed: string | null;
  /** This one and more important ones. */
  readonly level: LogLevel | null;
}

/** Every line of ours begins like this; anything else was cut off by a crash. */
const beginning = /^\{"level":"([a-z]+)","time":"([^"]+)"/;

/** When a line was written, in ISO 8601; null for a torn one. */
export function timeOf(line: string): string | null {
  return beginning.exec(line)?.[2] ?? null;
}

/** Torn lines are wanted only by an empty filter. */
export function wantsLine({ run, feed, level }: LogFilter): (line: string) => boolean {
  if (run === null && feed === null && level === null) return () => true;
  const levels: ReadonlySet<string> = new Set(logLevels.slice(level === null ? 0 : logLevels.indexOf(level)));
  const texts = [run, feed].flatMap((one) => (one === null ? [] : [JSON.stringify(one)]));
  return (line) => {
    const found = beginning.exec(line)?.[1];
    if (found === undefined || !levels.has(found)) return false;
    // Most lines do not fit, which is cheaper to see before they are parsed.
    if (!texts.every((text) => line.includes(text))) return false;
    const fields = fieldsOf(line);
    return fields !== null && (run === null || fields.run === run) && (feed === null || fields.feed === feed);
  };
}

/** The members of a line; null for a torn one. */
export function fieldsOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : null;
  } catch {
    return null;
  }
}

/** Up to where each file was read, in bytes: always the end of a line. */
export type LogPosition = ReadonlyMap<string, number>;

export interface LastLines {
  readonly lines: readonly string[];
  /** Where to go on for what comes later. */
  readonly position: LogPosition;
  /** Whether older lines were left unread. */
  readonly cut: boolean;
}

/** More than half of what there can be; read in about a second. */
export const logBytesMax = 64 * 1024 * 1024;
const chunkBytes = 1024 * 1024;

/** The last `count` lines that are wanted, oldest first. @throws PatchbayError `usage` `logsUnreadable`. */
export async function lastLogLines(
  folder: string,
  wanted: (line: string) => boolean,
  count: number,
): Promise<LastLines> {
  const files = (await logFiles(folder)).toReversed();
  const position = new Map<string, number>();
  for (const file of files) position.set(file.path, await endOfLines(file));
  let lines: readonly string[] = [];
  let bytesLeft = logBytesMax;
  for (const { path, changedAtMs } of files) {
    const [oldest] = lines;
    const isFull = lines.length >= count && (oldest === undefined || Date.parse(timeOf(oldest) ?? '') > changedAtMs);
    if (isFull) return { lines, position, cut: false };
    const end = position.get(path) ?? 0;
    if (end > bytesLeft) return { lines, position, cut: lines.length < count };
    bytesLeft -= end;
    const found: string[] = [];
    for await (const some of wholeLines(path, 0, end)) {
      found.push(...some.filter(wanted));
      // Cut now and then: else every line would cost a shift.
      if (found.length > count * 2) found.splice(0, found.length - count);
    }
    lines = count === 0 ? [] : inOrder([...found, ...lines]).slice(-count);
  }
  return { lines, position, cut: false };
}

/** What was written behind that position, in order, and the position behind it. Throws as `lastLogLines` does. */
export async function nextLogLines(
  folder: string,
  position: LogPosition,
): Promise<{ readonly lines: readonly string[]; readonly position: LogPosition }> {
  const next = new Map<string, number>();
  const lines: string[] = [];
  for (const { path, size } of await logFiles(folder)) {
    let offset = position.get(path) ?? 0;
    for await (const some of wholeLines(path, offset, size)) {
      lines.push(...some);
      offset += some.bytes;
    }
    next.set(path, offset);
  }
  return { lines: inOrder(lines), position: next };
}

/** Which of the log files has this name, counted in the order they were begun; null for any other file. */
export function logFileNumber(name: string): number | null {
  const number = /^patchbay\.(\d+)\.ndjson$/.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

interface LogFile {
  readonly path: string;
  readonly size: number;
  readonly changedAtMs: number;
}

/** In the order they were begun: their numbers grow. One that is rolled away meanwhile is not there. */
async function logFiles(folder: string): Promise<readonly LogFile[]> {
  const names = await readdir(folder).catch((error: unknown) => noneIfMissing(error, folder) ?? []);
  const numbered = names.flatMap((name) => {
    const number = logFileNumber(name);
    return number === null ? [] : [{ path: join(folder, name), number }];
  });
  const files: LogFile[] = [];
  for (const { path } of numbered.sort((a, b) => a.number - b.number)) {
    const found = await stat(path).catch((error: unknown) => noneIfMissing(error, path));
    if (found !== null) files.push({ path, size: found.size, changedAtMs: found.mtimeMs });
  }
  return files;
}

type Lines = string[] & { bytes: number };

/** Ends at `to`, or where the last whole line before it ends. */
async function* wholeLines(path: string, from: number, to: number): AsyncGenerator<Lines> {
  if (from >= to) return;
  const file = await openLog(path);
  if (file === null) return;
  try {
    const buffer = Buffer.alloc(Math.min(chunkBytes, to - from));
    for (let offset = from; offset < to; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - offset), offset);
      const bytes = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      if (bytes === 0) return;
      const lines = buffer.toString('utf8', 0, bytes).split('\n').filter(Boolean);
      yield Object.assign(lines, { bytes });
      offset += bytes;
    }
  } finally {
    await file.close();
  }
}

/** The last line may be on its way into the file. */
async function endOfLines({ path, size }: LogFile): Promise<number> {
  const file = await openLog(path);
  if (file === null) return 0;
  try {
    const from = Math.max(0, size - chunkBytes);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return from + buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
  } finally {
    await file.close();
  }
}

/** Null where it was rolled away meanwhile: there is nothing to read any more. */
async function openLog(path: string): Promise<FileHandle | null> {
  return open(path, 'r').catch((error: unknown) => noneIfMissing(error, path));
}

function noneIfMissing(error: unknown, path: string): null {
  const code = systemCodeOf(error) ?? 'unknown reason';
  if (code === 'ENOENT') return null;
  throw new PatchbayError('usage', 'logsUnreadable', `${path} cannot be read (${code})`, {
    facts: { path, code },
    hint: 'Run this as the user that Patchbay runs as, or give this user the right to read there.',
    cause: error,
  });
}

/** By time; lines of one moment stay as they are, and a torn line stays behind the one before it. */
function inOrder(lines: readonly string[]): readonly string[] {
  let last = '';
  const timed = lines.map((line) => {
    last = timeOf(line) ?? last;
    return { line, time: last };
  });
  return timed.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)).map(({ line }) => line);
}
