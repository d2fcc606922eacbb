/**
 * The log files of a data folder as a stream: `patchbay.<n>.ndjson`, of which the highest number is written to. A full file is
 * followed by the next one, and the oldest is removed.
 *
 * Several processes may write at the same time, each whole lines at the end of its file. One that is full is followed by the newest that is
 * there, or by the next one; a second later at most the others write there, too.
 * A line that cannot be written (disk full, folder gone) is lost; the work continues, and the next line is tried again.
 */
import { closeSync, fstatSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DestinationStream } from 'pino';
import { type Clock, systemClock } from '#src/clock.ts';
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

/** How often a writer looks whether its file is still the one to write to. */
const lookEveryMs = 1_000;

/**
 * @param folder it is there. @param clock tells when to look at the folder again. Throws what the system says where the file cannot be opened.
 */
export function openLogFiles(
  folder: string,
  { bytesMax, filesMax }: LogFileLimits = usualLimits,
  clock: Pick<Clock, 'monotonicMs'> = systemClock(),
): DestinationStream {
  const open = (number: number): OpenFile => {
    const descriptor = openSync(join(folder, `patchbay.${number}.ndjson`), 'a', 0o600);
    return { descriptor, number, bytes: fstatSync(descriptor).size };
  };
  const newest = (): number => Math.max(1, ...numbered(folder).map(([number]) => number));
  const removeOld = (kept: number): void => {
    for (const [number, name] of numbered(folder))
      if (number <= kept - filesMax) rmSync(join(folder, name), { force: true });
  };
  let file = open(newest());
  let lookedAtMs = clock.monotonicMs();
  const goTo = (number: number): void => {
    const next = open(number);
    closeSync(file.descriptor);
    file = next;
    removeOld(next.number);
  };
  /** Others may have gone on meanwhile, and removed the file that is open here. */
  const look = (): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lookedAtMs < lookEveryMs) return;
    lookedAtMs = nowMs;
    const { nlink, size } = fstatSync(file.descriptor);
    const last = newest();
    if (nlink === 0 || last > file.number) goTo(Math.max(last, file.number));
    else file.bytes = size;
  };
  return {
    write: (line) => {
      try {
        look();
        if (file.bytes >= bytesMax) goTo(Math.max(newest(), file.number + 1));
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
