/** `patchbay logs [-f]`: the log lines of the data folder, oldest first, of one run or feed, or the important ones. */
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Interrupt, listenForInterrupt } from '#src/cli/interrupt.ts';
import { type GlobalOptions, loadCliConfig, openCliHome } from '#src/cli/open-home.ts';
import { createOutput, type LogLevel, logLevels, type Output, printable, type Style } from '#src/cli/output.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import type { Config } from '#src/config/schema.ts';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import { feedNameOf } from '#src/feeds/feeds.ts';
import { findRun } from './runs.ts';

interface LogsOptions extends GlobalOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly run?: string;
  readonly feed?: string;
  readonly level?: LogLevel;
}

const pollMs = 250;

/** @throws PatchbayError `usage` `noSuchRun`. */
export async function logs(options: LogsOptions): Promise<number> {
  const output = createOutput(options);
  const { config } = await loadCliConfig(options);
  const run = options.run === undefined ? null : await runOf(options, options.run);
  const folder = run?.folder ?? logFolder(config, options);
  const filter: LogFilter = {
    run: run?.id ?? null,
    feed: options.feed === undefined ? null : feedNameOf(options.feed),
    level: options.level ?? null,
  };
  const wanted = wantsLine(filter);
  const isPretty =
    !output.json && (config.log.format ?? (process.stdout.isTTY === true ? 'pretty' : 'json')) === 'pretty';
  const print = (line: string): void => output.line(isPretty ? prettyLine(line, output) : line);

  // Before the files are read: who presses Ctrl-C early wants the same end.
  const interrupt = options.follow === true ? listenForInterrupt(() => undefined) : null;
  const { lines, position, cut } = await lastLogLines(folder, wanted, options.lines);
  for (const line of lines) print(line);
  if (lines.length === 0 && options.lines > 0) output.note(nothingText(folder, position, filter, config));
  else if (cut)
    output.note(`older lines were left unread: ${logBytesMax / 1024 / 1024} MB is the most that is looked at`);
  if (interrupt !== null) await follow(folder, position, (line) => wanted(line) && print(line), interrupt);
  return 0;
}

/** A data folder that has met a real service is looked at as such, also where the service is not named. */
function logFolder(config: Config, { sandbox }: GlobalOptions): string {
  const real = dataFolders(config, 'real').logs;
  const isReal = sandbox !== true && (config.service.baseUrl !== null || existsSync(real));
  return isReal ? real : dataFolders(config, 'sandbox').logs;
}

async function runOf(options: GlobalOptions, text: string): Promise<{ readonly id: string; readonly folder: string }> {
  const home = await openCliHome(options, 'look');
  try {
    return { id: (await findRun(home, text)).id, folder: home.folders.logs };
  } finally {
    await home.close();
  }
}

/** Ends with Ctrl-C. */
async function follow(
  folder: string,
  from: LogPosition,
  show: (line: string) => void,
  interrupt: Interrupt,
): Promise<void> {
  let position = from;
  while (!interrupt.signal.aborted) {
    const next = await nextLogLines(folder, position);
    position = next.position;
    for (const line of next.lines) show(line);
    await Promise.race([new Promise((resolve) => setTimeout(resolve, pollMs)), interrupt.received]);
  }
  interrupt.dispose();
}

function nothingText(folder: string, position: LogPosition, { run, feed, level }: LogFilter, config: Config): string {
  if (position.size === 0) return `no log lines yet in ${folder}`;
  const asked = [
    ...(run === null ? [] : [`run ${run}`]),
    ...(feed === null ? [] : [`feed ${feed}`]),
    ...(level === null ? [] : [`level ${level} or above`]),
  ];
  if (asked.length === 0) return `no log lines yet in ${folder}`;
  const unwritten = level !== null && isBelow(level, config.log.level);
  const hint = unwritten
    ? `; what is below ${config.log.level} is written only where LOG_LEVEL says so`
    : '; the oldest lines go when ten files are full';
  return `no log line of ${asked.join(', ')} in ${folder}${hint}`;
}

function isBelow(level: LogLevel, written: string): boolean {
  const words: readonly string[] = logLevels;
  return words.indexOf(level) < words.indexOf(written);
}

/**
 * Log lines as they stand in the files: which of them somebody wants, and how a person reads one.
 */
export interface LogFilter {
  readonly run: string | null;
  readonly feed: string | null;
  /** This one and more important ones. */
  readonly level: LogLevel | null;
}

/** Every line of ours begins so; what else stands in a file was cut off by a crash. */
const beginning = /^\{"level":"([a-z]+)","time":"([^"]+)"/;

/** When a line was written, in ISO 8601; null for a torn one. */
export function timeOf(line: string): string | null {
  return beginning.exec(line)?.[2] ?? null;
}

/** Torn lines are wanted only where nothing is asked for. */
export function wantsLine({ run, feed, level }: LogFilter): (line: string) => boolean {
  if (run === null && feed === null && level === null) return () => true;
  const levels: ReadonlySet<string> = new Set(logLevels.slice(level === null ? 0 : logLevels.indexOf(level)));
  const texts = [run, feed].flatMap((one) => (one === null ? [] : [JSON.stringify(one)]));
  return (line) => {
    const found = beginning.exec(line)?.[1];
    if (found === undefined || !levels.has(found)) return false;
    // Most lines are none of it: that is seen before they are parsed.
    if (!texts.every((text) => line.includes(text))) return false;
    const fields = fieldsOf(line);
    return fields !== null && (run === null || fields.run === run) && (feed === null || fields.feed === feed);
  };
}

const styles: Readonly<Record<string, Style>> = {
  trace: 'gray',
  debug: 'gray',
  warn: 'yellow',
  error: 'red',
  fatal: ['bold', 'red'],
};

/** Time, level, run, feed, line and message, then what else it says. A torn line is shown as it is. */
export function prettyLine(line: string, output: Pick<Output, 'style'>): string {
  const fields = fieldsOf(line);
  if (fields === null) return printable(line);
  const { level, time, msg, run, feed, batch, line: row, ...rest } = fields;
  const word = String(level ?? '');
  const about = [
    ...(run === undefined ? [] : [String(run)]),
    ...(feed === undefined ? [] : [String(feed)]),
    ...(batch === undefined ? [] : [`batch ${batch}`]),
    ...(row === undefined ? [] : [`line ${row}`]),
  ].join(' ');
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`);
  return [
    output.style('gray', localTime(String(time ?? ''))),
    output.style(styles[word] ?? 'green', word.toUpperCase().padEnd(5)),
    ...(about === '' ? [] : [output.style('cyan', printable(about))]),
    printable(String(msg ?? '')),
    ...(facts.length === 0 ? [] : [output.style('gray', printable(facts.join(' ')))]),
  ].join('  ');
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function localTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return text;
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : null;
  } catch {
    return null;
  }
}

// The log files of a data folder, read: their last lines, and those that come.
//
// Several processes may write at the same time, and each rolls on by itself: one may still write into a file behind the
// newest one. So all files are watched, and lines are put in order by their time.
//
// Invariants: a line is given whole or not yet; none is given twice; what is read is bounded.

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

interface LogFile {
  readonly path: string;
  readonly size: number;
  readonly changedAtMs: number;
}

/** In the order they were begun: their numbers grow. One that is rolled away meanwhile is not there. */
async function logFiles(folder: string): Promise<readonly LogFile[]> {
  const names = await readdir(folder).catch((error: unknown) => noneIfMissing(error, folder) ?? []);
  const numbered = names.flatMap((name) => {
    const number = /^patchbay\.(\d+)\.ndjson$/.exec(name)?.[1];
    return number === undefined ? [] : [{ path: join(folder, name), number: Number(number) }];
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
