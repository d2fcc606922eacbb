/** `patchbay logs [-f]`: the log lines of the data folder, oldest first. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { prettyFactory } from 'pino-pretty';
import { dataFolders } from '#src/config/data-folders.ts';
import type { GlobalOptions } from '../global-options.ts';
import { listenForInterrupt } from '../interrupt.ts';
import { loadCliConfig } from '../open-home.ts';
import { createOutput } from '../output.ts';

interface LogsOptions extends GlobalOptions {
  readonly follow?: boolean;
  readonly lines: number;
}

const pollMs = 250;

export async function logs(options: LogsOptions): Promise<number> {
  const output = createOutput(options);
  const { config } = await loadCliConfig(options);
  const sandbox = options.sandbox === true || config.service.baseUrl === null;
  const { logs: folder } = dataFolders(config, sandbox ? 'sandbox' : 'real');
  const pretty = prettyFactory({
    colorize: process.stdout.isTTY === true && options.color !== false,
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss',
  });
  const print = (line: string): void =>
    output.line(output.json || process.stdout.isTTY !== true ? line : pretty(line).trimEnd());

  const files = await logFiles(folder);
  if (files.length === 0 && options.follow !== true) {
    output.note(`no log lines yet in ${folder}`);
    return 0;
  }
  const last = await lastLines(files, options.lines);
  for (const line of last.lines) print(line);
  if (options.follow === true) await follow(folder, last.file, last.bytes, print);
  return 0;
}

/** In the order they were written: their numbers grow. */
async function logFiles(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const numbered = names.flatMap((name) => {
    const number = /^patchbay\.(\d+)\.ndjson$/.exec(name)?.[1];
    return number === undefined ? [] : [{ path: join(folder, name), number: Number(number) }];
  });
  return numbered.sort((a, b) => a.number - b.number).map((file) => file.path);
}

/** Reads the two newest files at most: each holds up to 10 MB. */
async function lastLines(
  files: readonly string[],
  count: number,
): Promise<{ lines: string[]; file: string | null; bytes: number }> {
  const lines: string[] = [];
  let bytes = 0;
  for (const path of files.slice(-2)) {
    await using file = await open(path, 'r');
    bytes = (await file.stat()).size;
    const reader = createInterface({ input: file.createReadStream({ autoClose: false, end: Math.max(0, bytes - 1) }) });
    for await (const line of reader) {
      if (line === '') continue;
      lines.push(line);
      if (lines.length > count) lines.shift();
    }
  }
  return { lines: count === 0 ? [] : lines, file: files.at(-1) ?? null, bytes };
}

/** Ends with Ctrl-C. A file that was rolled is read to its end before the next one. */
async function follow(
  folder: string,
  first: string | null,
  firstBytes: number,
  print: (line: string) => void,
): Promise<void> {
  const interrupt = listenForInterrupt(() => undefined);
  let path = first;
  let offset = firstBytes;
  let rest = '';
  while (!interrupt.signal.aborted) {
    if (path !== null) {
      const { text, bytes } = await readFrom(path, offset);
      offset += bytes;
      const pieces = (rest + text).split('\n');
      rest = pieces.pop() ?? '';
      for (const line of pieces) if (line !== '') print(line);
      if (bytes > 0) continue;
    }
    const files = await logFiles(folder);
    const next = path === null ? files[0] : files[files.indexOf(path) + 1];
    if (next !== undefined) {
      path = next;
      offset = 0;
      continue;
    }
    await Promise.race([new Promise((resolve) => setTimeout(resolve, pollMs)), interrupt.received]);
  }
  interrupt.dispose();
}

const readBytesMax = 1024 * 1024;

async function readFrom(path: string, offset: number): Promise<{ text: string; bytes: number }> {
  await using file = await open(path, 'r');
  const { bytesRead, buffer } = await file.read(Buffer.alloc(readBytesMax), 0, readBytesMax, offset);
  // Whole lines only: a character may be cut at the end of what is written so far.
  const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
  return { text: buffer.toString('utf8', 0, end), bytes: end };
}
