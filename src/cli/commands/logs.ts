/**
 * `patchbay logs [-f]`: the log lines of the data folder, oldest first; of one run or feed, or from a level up. With `--acts` what people
 * did, from the ledger.
 */
import { existsSync } from 'node:fs';
import { dataFolders } from '#src/config/data-folders.ts';
import type { Config } from '#src/config/schema.ts';
import { feedNameOf } from '#src/feeds/feeds.ts';
import { actDocument, listActs } from '#src/operations/acts.ts';
import {
  fieldsOf,
  type LogFilter,
  type LogLevel,
  type LogPosition,
  lastLogLines,
  logBytesMax,
  logLevels,
  nextLogLines,
  wantsLine,
} from '#src/operations/logs.ts';
import { findRun } from '#src/operations/runs.ts';
import { noteUnknownFeed } from '../feed-notes.ts';
import { endedByCtrlC, type Interrupt, listenForInterrupt } from '../interrupt.ts';
import { type GlobalOptions, loadCliConfig, openCliHome } from '../open-home.ts';
import { createOutput, isStdoutLost, type Output, printable, type Style } from '../output.ts';
import { actLine } from '../present-story.ts';

interface LogsOptions extends GlobalOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly run?: string;
  readonly feed?: string;
  readonly level?: LogLevel;
  readonly acts?: boolean;
}

const pollMs = 250;

/** @throws PatchbayError `usage` `noSuchRun`. */
export async function logs(options: LogsOptions): Promise<number> {
  const output = createOutput(options);
  if (options.acts === true) return printActs(options, output);
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

  // Before the files are read: an early Ctrl-C ends the command in the same way.
  const interrupt = options.follow === true ? listenForInterrupt(() => undefined) : null;
  const { lines, position, cut } = await lastLogLines(folder, wanted, options.lines);
  for (const line of lines) print(line);
  if (lines.length === 0 && options.lines > 0) output.note(nothingText(folder, position, filter, config));
  else if (cut) output.note(`older lines were not read: at most ${logBytesMax / 1024 / 1024} MB are searched`);
  if (interrupt === null) return 0;
  await follow(folder, position, (line) => wanted(line) && print(line), interrupt);
  return endedByCtrlC(interrupt);
}

/** What people did, oldest first. */
async function printActs(options: LogsOptions, output: Output): Promise<number> {
  const home = await openCliHome(options, 'show');
  try {
    const run = options.run === undefined ? {} : { run: (await findRun(home, options.run)).id };
    const feed = options.feed === undefined ? {} : { feed: feedNameOf(options.feed) };
    const acts = (await listActs(home, { ...run, ...feed, limit: options.lines })).toReversed();
    for (const act of acts) {
      if (output.json) output.document(actDocument(act));
      else output.line(actLine(output, act));
    }
    if (acts.length === 0) await noteUnknownFeed(home, output, options.feed);
    if (acts.length === 0 && !output.json) output.note('no acts of people are kept here');
    return 0;
  } finally {
    await home.close();
  }
}

/** As for `openCliHome`: a data folder that belongs to a real service is read as such, even if the service is not named. */
function logFolder(config: Config, { sandbox }: GlobalOptions): string {
  const real = dataFolders(config, 'real').logs;
  const isReal = sandbox !== true && (config.service.baseUrl !== null || existsSync(real));
  return isReal ? real : dataFolders(config, 'sandbox').logs;
}

async function runOf(options: GlobalOptions, text: string): Promise<{ readonly id: string; readonly folder: string }> {
  const home = await openCliHome(options, 'show');
  try {
    return { id: (await findRun(home, text)).id, folder: home.folders.logs };
  } finally {
    await home.close();
  }
}

/** Ends with Ctrl-C, or with its reader. */
async function follow(
  folder: string,
  from: LogPosition,
  show: (line: string) => void,
  interrupt: Interrupt,
): Promise<void> {
  let position = from;
  while (!interrupt.signal.aborted && !isStdoutLost()) {
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
    ? `; lines below ${config.log.level} are written only with LOG_LEVEL=${level}`
    : '; the oldest lines are removed when ten files are full';
  return `no log line of ${asked.join(', ')} in ${folder}${hint}`;
}

function isBelow(level: LogLevel, written: string): boolean {
  const words: readonly string[] = logLevels;
  return words.indexOf(level) < words.indexOf(written);
}

const styles: Readonly<Record<string, Style>> = {
  trace: 'gray',
  debug: 'gray',
  warn: 'yellow',
  error: 'red',
  fatal: ['bold', 'red'],
};

/** Time, level, run, feed, line and message, then its other members. A torn line is shown as it is. */
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
