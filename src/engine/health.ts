/**
 * What a process knows of its surroundings: the queue, the ledger's file, the disk.
 *
 * Their users report how each operation ended; only the free disk space is queried. Invariant: one log line when a problem
 * begins, changes or ends, not one for each error.
 */

import { statfs } from 'node:fs/promises';
import type { Clock } from '#src/clock.ts';
import { messageOf, type PatchbayError } from '#src/errors.ts';
import type { Logger } from '#src/log.ts';

export interface Trouble {
  readonly part: 'queue' | 'queueIdentity' | 'queueLedger' | 'ledger' | 'disk';
  /** `otherQueue`; `ledgerTwice`; `queueAway`, `queueSlow`, `queueFull`, `queueRefuses`; a code of `src/ledger/trouble.ts`; `diskFull`. */
  readonly code: string;
  /** A sentence for people. */
  readonly message: string;
  readonly sinceMs: number;
}

/** A trouble of any part, as it is shown. */
export interface KnownTrouble extends Pick<Trouble, 'code' | 'message'> {
  /** The message without what an error inside Patchbay says: for readers without a token. Left out: the message itself. */
  readonly plainMessage?: string;
}

export interface Health {
  /** Current problems, oldest first. */
  troubles(): readonly Trouble[];
  /** A `QueueObserver`. */
  queueEnded(error: Error | null, tookMs: number): void;
  /** Whether the queue has the identity that the ledger knows: all hosts use one. */
  queueShared(isShared: boolean): void;
  /** Whether no copy of the ledger is at work on the queue; null where that is not known. */
  queueClaimed(isOurs: boolean | null): void;
  /** A `LedgerObserver`. */
  ledgerEnded(trouble: PatchbayError | null): void;
  /** Checks the disk, and drops problems without news. Never rejects. */
  look(): Promise<void>;
}

interface HealthParts {
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly log: Logger;
  /** For people: which queue it is. */
  readonly queueDescription: string;
  /** The data folder. */
  readonly folder: string;
  readonly freeBytes?: FreeBytes;
}

/** A problem ends with a success this long after the last failure: a small write may succeed between two large ones that fail. */
const calmMs = 5_000;
/** Without any write for this time, the state is unknown, and the problem is dropped. */
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
    if (known?.code !== code) log.warn({ part, code, reason: message }, 'a problem began');
  };
  /** Damage lasts as long as this process. */
  let damage: Trouble | null = null;
  const reportDamage = ({ code, message, hint }: PatchbayError): void => {
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
    log.info({ part, code: known.code, seconds }, 'a problem ended');
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
    queueShared: (isShared) => {
      if (isShared) end('queueIdentity');
      else
        begin(
          'queueIdentity',
          'otherQueue',
          `Another host on this ledger uses another queue than ${queueDescription}: set REDIS_URL to the same Redis everywhere, and start again.`,
        );
    },
    queueClaimed: (isOurs) => {
      if (isOurs === null) return;
      if (isOurs) end('queueLedger');
      else
        begin(
          'queueLedger',
          'ledgerTwice',
          `A copy of this ledger uses ${queueDescription}, too, and each takes jobs of the other: stop the engines of one of them, and set REDIS_URL to another Redis for it.`,
        );
    },
    ledgerEnded: (trouble) => {
      if (trouble?.kind === 'damaged') reportDamage(trouble);
      else if (trouble !== null) begin('ledger', trouble.code, inSentence(trouble.message));
      else if (quietMs('ledger') >= calmMs) end('ledger');
    },
    look: async () => {
      if (quietMs('ledger') >= silenceMs) end('ledger');
      try {
        const free = await freeBytes(folder);
        if (isDiskFull(free)) begin('disk', 'diskFull', diskFullMessage(free, folder));
        else end('disk');
      } catch (error) {
        // Not every file system reports it; that is not a problem.
        log.debug({ reason: messageOf(error) }, 'free disk space not known');
      }
    },
  };
}

export function inSentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

/** Rejects if the file system does not report it. */
type FreeBytes = (folder: string) => Promise<number>;

/** With less space the ledger cannot be written for long, and files are not taken. */
const freeBytesMin = 1_000_000;

/** Space that this process may use, without the system's reserve. */
export const freeBytesOf: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

export function isDiskFull(freeBytes: number): boolean {
  return freeBytes < freeBytesMin;
}

export function diskFullMessage(freeBytes: number, folder: string): string {
  return `The disk of ${folder} is full (${Math.floor(freeBytes / 1_000)} kB free).`;
}

/** Adding jobs normally takes a few milliseconds. */
const slowMs = 2_000;

/** What the end of an operation says about the queue; null: no problem. An error of Redis begins with a code, as in `OOM command not allowed`. */
export function queueTrouble(
  description: string,
  error: Error | null,
  tookMs: number,
): { readonly code: string; readonly message: string } | null {
  const waits = 'Work waits, and nothing is lost.';
  if (error === null) {
    if (tookMs < slowMs) return null;
    return { code: 'queueSlow', message: `The queue is slow: ${description} took ${seconds(tookMs)} for a few jobs.` };
  }
  const message = wordsOfRedis(error.message);
  if (message === 'Command timed out') {
    return { code: 'queueSlow', message: `The queue does not answer in time: ${description}. ${waits}` };
  }
  if (message.includes('OOM ')) {
    return { code: 'queueFull', message: `The queue is out of memory: ${description}. ${waits}` };
  }
  if (/^[A-Z]{3,} /.test(message)) {
    return {
      code: 'queueRefuses',
      message: `The queue does not accept jobs: ${description} answers ${message}. ${waits}`,
    };
  }
  return { code: 'queueAway', message: `The queue cannot be reached: ${description} (${message}). ${waits}` };
}

/** Without what Redis adds about the script that met the error, and without a full stop. */
function wordsOfRedis(message: string): string {
  return message
    .replace(/^ERR Error running script \(call to \w+\): (?:@user_script: ?\d+: )*-?/, '')
    .replace(/ script: [0-9a-f]+, on @user_script:\d+\.?\s*$/, '')
    .replace(/[.\s]+$/, '');
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
