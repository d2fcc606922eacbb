/**
 * The log files of a data folder as a stream: `patchbay.<n>.ndjson`, of which the highest number is written to. A full file is
 * followed by the next one, and the oldest is removed.
 *
 * Several processes may write at the same time, each whole lines at the end of its file, and each goes on to the next file by itself.
 * A line that cannot be written (disk full, folder gone) is lost; the work continues, and the next line is tried again.
 */
import { closeSync, fstatSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DestinationStream } from 'pino';
import { logFileNumber } from '#src/operations/logs.ts';

export interface LogFileLimits {
  /** A file that has as many is full; its last line may go beyond. */
  readonly bytesMax: number;
  /** Files that are kept, with the one that is written to. */
  readonly filesMax: number;
}

/** Ten files of 10 MB. */
const usualLimits: LogFileLimits = { bytesMax: 10 * 1_024 * 1_024, filesMax: 10 };

interface OpenFile {
  readonly descriptor: number;
  readonly number: number;
  bytes: number;
}

/** @param folder it is there. Throws what the system says where the file cannot be opened. */
export function openLogFiles(folder: string, { bytesMax, filesMax }: LogFileLimits = usualLimits): DestinationStream {
  const open = (number: number): OpenFile => {
    const descriptor = openSync(join(folder, `patchbay.${number}.ndjson`), 'a', 0o600);
    return { descriptor, number, bytes: fstatSync(descriptor).size };
  };
  const removeOld = (newest: number): void => {
    for (const [number, name] of numbered(folder))
      if (number <= newest - filesMax) rmSync(join(folder, name), { force: true });
  };
  let file = open(Math.max(1, ...numbered(folder).map(([number]) => number)));
  const goOn = (): void => {
    const next = open(file.number + 1);
    closeSync(file.descriptor);
    file = next;
    removeOld(next.number);
  };
  return {
    write: (line) => {
      try {
        if (file.bytes >= bytesMax) goOn();
        file.bytes += writeSync(file.descriptor, line);
      } catch {
        // As promised above: there is no place left to tell it.
      }
    },
  };
}

function numbered(folder: string): readonly (readonly [number, string])[] {
  return readdirSync(folder).flatMap((name) => {
    const number = logFileNumber(name);
    return number === null ? [] : [[number, name] as const];
  });
}
