/**
 * What this process knows of its surroundings: the queue, the ledger's file, the disk.
 *
 * Fed by those who use them anyway, so that nothing is asked for health's sake but the free room of the disk. Invariant: one
 * log line when trouble begins, turns into another one, or ends; none for each error.
 */

import { statfs } from 'node:fs/promises';
import type { Home } from '#src/app.ts';
import type { Clock } from '#src/clock.ts';
import { dataFolders } from '#src/config/data-folders.ts';
import { messageOf, type PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';

export interface Trouble {
  readonly part: 'queue' | 'ledger' | 'disk';
  /** `queueAway`, `queueSlow`, `queueFull`, `queueRefuses`, `ledgerBusy`, `ledgerIoFails`, `ledgerDamaged`, `diskFull`. */
  readonly code: string;
  /** A sentence for people. */
  readonly message: string;
  readonly sinceMs: number;
}

export interface Health {
  /** What stands now; the oldest first. */
  troubles(): readonly Trouble[];
  /** How the queue took jobs (`QueueObserver`). */
  queueEnded(error: Error | null, tookMs: number): void;
  /** How the ledger's file was written (`LedgerObserver`). */
  ledgerEnded(trouble: PatchbayError | null): void;
  /** Looks at the disk, and forgets what has long been quiet. Never rejects. */
  look(): Promise<void>;
}

interface HealthParts {
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Logger;
  /** For people: where the queue is. */
  readonly queueDescription: string;
  /** The data folder. */
  readonly folder: string;
  readonly freeBytes?: FreeBytes;
}

/** A small write may pass between two large ones that do not: trouble ends with one so long after the last failure. */
const calmMs = 5_000;
/** Where nothing is written any more, nothing is known: trouble is forgotten. */
const silenceMs = 60_000;

interface Standing extends Trouble {
  readonly lastAtMs: number;
}

export function createHealth(parts: HealthParts): Health {
  const { clock, log, folder, queueDescription, freeBytes = freeBytesOf } = parts;
  const standing = new Map<Trouble['part'], Standing>();

  const begin = (part: Trouble['part'], code: string, message: string): void => {
    const known = standing.get(part);
    const sinceMs = known?.code === code ? known.sinceMs : clock.nowMs();
    standing.set(part, { part, code, message, sinceMs, lastAtMs: clock.monotonicMs() });
    if (known?.code !== code) log.warn({ part, code, reason: message }, 'trouble around this process');
  };
  /** Damage stands for as long as this process lives. */
  let damage: Trouble | null = null;
  const tellDamage = ({ code, message, hint }: PatchbayError): void => {
    if (damage !== null) return;
    damage = { part: 'ledger', code, message: inSentence(message), sinceMs: clock.nowMs() };
    standing.delete('ledger');
    log.error({ part: 'ledger', code, reason: message, hint }, 'all work stops');
  };
  const end = (part: Trouble['part']): void => {
    const known = standing.get(part);
    if (known === undefined) return;
    standing.delete(part);
    const seconds = Math.round((clock.nowMs() - known.sinceMs) / 1_000);
    log.info({ part, code: known.code, seconds }, 'trouble is over');
  };
  const quietMs = (part: Trouble['part']): number =>
    clock.monotonicMs() - (standing.get(part)?.lastAtMs ?? Number.NEGATIVE_INFINITY);

  return {
    troubles: () =>
      [...(damage === null ? [] : [damage]), ...standing.values()]
        .map(({ part, code, message, sinceMs }) => ({ part, code, message, sinceMs }))
        .toSorted((a, b) => a.sinceMs - b.sinceMs),
    queueEnded: (error, tookMs) => {
      const trouble = queueTrouble(queueDescription, error, tookMs);
      if (trouble === null) end('queue');
      else begin('queue', trouble.code, trouble.message);
    },
    ledgerEnded: (trouble) => {
      if (trouble?.kind === 'damaged') tellDamage(trouble);
      else if (trouble !== null) begin('ledger', trouble.code, inSentence(trouble.message));
      else if (quietMs('ledger') >= calmMs) end('ledger');
    },
    look: async () => {
      if (quietMs('ledger') >= silenceMs) end('ledger');
      try {
        const free = await freeBytes(folder);
        if (isDiskFull(free)) begin('disk', 'diskFull', roomInWords(free, folder));
        else end('disk');
      } catch (error) {
        // Not every file system tells; that is no trouble.
        log.debug({ reason: messageOf(error) }, 'free room not known');
      }
    },
  };
}

function inSentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

// How much room the disk of the data folder has.

/** Rejects where the file system does not tell. */
type FreeBytes = (folder: string) => Promise<number>;

/** Below this the ledger cannot be written for long, and files are not taken. */
const roomBytesMin = 1_000_000;

/** What this process may use, without the system's reserve. */
const freeBytesOf: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

function isDiskFull(freeBytes: number): boolean {
  return freeBytes < roomBytesMin;
}

function roomInWords(freeBytes: number, folder: string): string {
  return `The disk of ${folder} is full (${Math.floor(freeBytes / 1_000)} kB free).`;
}

// What is the matter with the queue, told from how it took jobs. Pure.

/** Jobs are taken in a few milliseconds. */
const slowMs = 2_000;

/** Null where all is well. The words of Redis come first in its errors, as in `OOM command not allowed`. */
function queueTrouble(
  description: string,
  error: Error | null,
  tookMs: number,
): { readonly code: string; readonly message: string } | null {
  const waits = 'Work waits, and nothing is lost.';
  if (error === null) {
    if (tookMs < slowMs) return null;
    return { code: 'queueSlow', message: `The queue is slow: ${description} took ${seconds(tookMs)} for a few jobs.` };
  }
  const { message } = error;
  if (message === 'Command timed out') {
    return { code: 'queueSlow', message: `The queue does not answer in time: ${description}. ${waits}` };
  }
  if (message.includes('OOM ')) {
    return { code: 'queueFull', message: `The queue has no memory left: ${description}. ${waits}` };
  }
  if (/^(MISCONF|READONLY|LOADING|BUSY|NOPERM|NOAUTH|WRONGPASS|ERR) /.test(message)) {
    return { code: 'queueRefuses', message: `The queue takes no jobs: ${description} says ${message}. ${waits}` };
  }
  return { code: 'queueAway', message: `The queue cannot be reached: ${description} (${message}). ${waits}` };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

/**
 * What a process that is no engine can see of the surroundings by itself, for people: the room on the disk, and whether a
 * Redis answers.
 */
interface Surroundings {
  /** Null where the file system does not tell. */
  readonly diskFreeBytes: number | null;
  /** Null for the embedded queue: only its engine can use it. */
  readonly queueAnswers: boolean | null;
  /** Sentences; empty where all is well. */
  readonly troubles: readonly string[];
}

const answerWithinMs = 2_000;

/** Takes two seconds at most, and changes nothing. */
export async function lookAround({ config, mode }: Pick<Home, 'config' | 'mode'>): Promise<Surroundings> {
  const { root } = dataFolders(config, mode);
  const { redisUrl } = config.queue;
  // Null: this file system does not tell. That is no trouble, only nothing to warn by.
  const diskFreeBytes = await freeBytesOf(root).catch(() => null);
  const troubles = diskFreeBytes !== null && isDiskFull(diskFreeBytes) ? [roomInWords(diskFreeBytes, root)] : [];
  if (redisUrl === null) return { diskFreeBytes, queueAnswers: null, troubles };
  // Loaded only here: most calls need no queue.
  const { pingRedis } = await import('#src/queue/connection.ts');
  const reason = await pingRedis(redisUrl, answerWithinMs);
  if (reason !== null) troubles.push(`The queue cannot be reached: Redis at ${new URL(redisUrl).host} (${reason}).`);
  return { diskFreeBytes, queueAnswers: reason === null, troubles };
}
