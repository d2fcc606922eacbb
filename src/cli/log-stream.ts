/** Where log lines go: always to rotated files in the data folder, and to stderr where somebody watches. */
import { EventEmitter } from 'node:events';
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import pinoPretty from 'pino-pretty';
import pinoRoll from 'pino-roll';
import { messageOf, PatchbayError } from '#src/errors.ts';

export interface LogStreamOptions {
  readonly folder: string;
  /** Null: files only. `auto`: pretty on a terminal, JSON elsewhere. */
  readonly terminal: 'json' | 'pretty' | 'auto' | null;
}

/** Files of at most 10 MB, ten of them, none older than it takes to fill them. */
const fileSize = '10m';
const filesKept = 9;

export async function openLogStream(options: LogStreamOptions): Promise<pino.DestinationStream> {
  await makeFolder(options.folder);
  const file = await pinoRoll({
    file: join(options.folder, 'patchbay.ndjson'),
    size: fileSize,
    limit: { count: filesKept, removeOtherLogFiles: true },
    mkdir: true,
    sync: true,
    mode: 0o600,
  });
  dropOnError(file);
  if (options.terminal === null) return file;
  const pretty = options.terminal === 'pretty' || (options.terminal === 'auto' && process.stderr.isTTY === true);
  const terminal = pretty
    ? pinoPretty({
        destination: 2,
        sync: true,
        colorize: process.stderr.isTTY === true && process.env.NO_COLOR === undefined,
        translateTime: 'SYS:HH:MM:ss',
      })
    : pino.destination({ dest: 2, sync: true });
  dropOnError(terminal);
  return pino.multistream([
    { level: 'trace', stream: file },
    { level: 'trace', stream: terminal },
  ]);
}

/** A line that cannot be written (disk full, closed pipe) is lost; the work goes on, and the next line is tried again. */
function dropOnError(stream: pino.DestinationStream): void {
  if (stream instanceof EventEmitter) stream.on('error', () => undefined);
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new PatchbayError('usage', 'dataFolderUnusable', `the data folder cannot be written: ${messageOf(error)}`, {
      hint: 'Check its rights and its free space, or name another one with --data. Nothing was done.',
      cause: error,
    });
  }
}
