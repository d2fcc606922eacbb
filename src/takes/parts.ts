/** What takes work with, and their limits. */
import type { Clock } from '#src/clock.ts';
import type { Config } from '#src/config/schema.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { TickTrigger } from '#src/ledger/schedules.ts';
import type { Logger } from '#src/log.ts';
import type { SubmitParts } from '#src/runs/enter-run.ts';
import type { AddressRules } from './address-guard.ts';

export interface TakeFolders {
  /** Absolute and private: copies and downloads on their way to a run, nothing else. Made where it is not there. */
  readonly downloads: string;
}

export interface TakeParts extends Pick<AddressRules, 'resolve' | 'judge'> {
  /** Why it is taken: what failed is taken again where a person asked. */
  readonly trigger: TickTrigger;
  readonly ledger: Pick<Ledger, 'takes' | 'runs'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly folders: TakeFolders;
  readonly download: Config['download'];
  /** Where `authorization` of a feed is looked up, at each take. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly submit: SubmitParts;
  /** Certificates that are trusted instead of the usual ones. */
  readonly tls?: { readonly ca: string };
  readonly limits?: Partial<TakeLimits>;
}

export interface TakeLimits {
  /** How long a file must stay the same before it is taken. */
  readonly restMs: number;
  /** How long a file that still grows is waited for. */
  readonly restWaitMaxMs: number;
  /** Files that a glob may match. */
  readonly matchesMax: number;
  /** Entries of folders that a glob may look at. */
  readonly entriesMax: number;
  readonly globMaxMs: number;
  /** Files of a `delta` feed that one tick takes; the rest waits for the next. */
  readonly filesPerTickMax: number;
  readonly connectMs: number;
  /** From the request to the last header of the answer. */
  readonly headersMs: number;
  /** Between two pieces of a download. */
  readonly stallMs: number;
  /** Tries of one download within a tick, the first included. */
  readonly triesMax: number;
  /** The wait before the second try, twice as long before the third; on top of what the server asks for. */
  readonly retryWaitMs: number;
}

export const takeLimits: TakeLimits = {
  restMs: 1_000,
  restWaitMaxMs: 10_000,
  matchesMax: 10_000,
  entriesMax: 1_000_000,
  globMaxMs: 60_000,
  // More than a day of files that come every few minutes: a daily take must not fall behind for good.
  filesPerTickMax: 500,
  connectMs: 10_000,
  headersMs: 30_000,
  stallMs: 30_000,
  triesMax: 3,
  retryWaitMs: 2_000,
};

export function limitsOf(parts: TakeParts): TakeLimits {
  return { ...takeLimits, ...parts.limits };
}
