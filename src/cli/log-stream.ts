/** Where log lines go: always to rotated files in the data folder, and to stderr where somebody watches. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import pinoPretty from 'pino-pretty';
import pinoRoll from 'pino-roll';

export interface LogStreamOptions {
  readonly folder: string;
  /** Null: files only. `auto`: pretty on a terminal, JSON elsewhere. */
  readonly terminal: 'json' | 'pretty' | 'auto' | null;
}

/** Files of at most 10 MB, ten of them, none older than it takes to fill them. */
const fileSize = '10m';
const filesKept = 9;

export async function openLogStream(options: LogStreamOptions): Promise<pino.DestinationStream> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const file = await pinoRoll({
    file: join(options.folder, 'patchbay.ndjson'),
    size: fileSize,
    limit: { count: filesKept, removeOtherLogFiles: true },
    mkdir: true,
    sync: true,
    mode: 0o600,
  });
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
  return pino.multistream([
    { level: 'trace', stream: file },
    { level: 'trace', stream: terminal },
  ]);
}
