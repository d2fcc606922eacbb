/** `patchbay logs [-f]`: the log lines of the data folder, oldest first, of one run or feed, or the important ones. */
import { existsSync } from 'node:fs';
import { dataFolders } from '#src/config/data-folders.ts';
import type { Config } from '#src/config/schema.ts';
import { feedNameOf } from '#src/feeds/feeds.ts';
import { findRun } from '../find-run.ts';
import type { GlobalOptions } from '../global-options.ts';
import { type Interrupt, listenForInterrupt } from '../interrupt.ts';
import { type LogPosition, lastLogLines, logBytesMax, nextLogLines } from '../log-files.ts';
import { type LogLevel, logLevels } from '../log-levels.ts';
import { type LogFilter, prettyLine, wantsLine } from '../log-lines.ts';
import { loadCliConfig, openCliHome } from '../open-home.ts';
import { createOutput } from '../output.ts';

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
