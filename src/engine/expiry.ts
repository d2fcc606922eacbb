/**
 * Deletes what is kept no longer (`docs/operations.md`, "How long data is kept"): files of this data folder, and what has ended in the ledger,
 * which is a matter of the engine that leads.
 *
 * An engine does it at its first sweep and once an hour. One that works for a single command may end before its first sweep, each night anew:
 * it does it before it leaves, where an hour has gone since it was done last. The ledger remembers when that was.
 */
import type { Home } from '#src/app.ts';
import { expireFiles } from '#src/runs/expire-files.ts';
import type { Standing } from './standing.ts';

export interface ExpiryParts {
  readonly home: Pick<Home, 'config' | 'ledger' | 'clock' | 'log' | 'runFolders' | 'host'>;
  readonly standing: Pick<Standing, 'leads'>;
}

export const expireEveryMs = 3_600_000;

/** What is deleted together, and remembered under that name. */
interface Expiry {
  readonly of: string;
  /** Resolves early with the signal. */
  expire(signal: AbortSignal): Promise<unknown>;
}

/** Each is tried. What the signal cuts, or what fails, counts as not done. @throws what the ledger throws. */
export async function expireAll(parts: ExpiryParts, signal: AbortSignal): Promise<void> {
  await inTurn(parts, expiriesOf(parts), signal);
}

/** The same of what was done last an hour ago or longer. */
export async function expireDue(parts: ExpiryParts, signal: AbortSignal): Promise<void> {
  const { ledger, clock } = parts.home;
  const due: Expiry[] = [];
  for (const one of expiriesOf(parts)) if (isExpiryDue(await ledger.expiredAtMs(one.of), clock.nowMs())) due.push(one);
  await inTurn(parts, due, signal);
}

/** @param lastAtMs null: never. A clock that was set back makes it due. */
function isExpiryDue(lastAtMs: number | null, nowMs: number): boolean {
  return lastAtMs === null || lastAtMs > nowMs || nowMs - lastAtMs >= expireEveryMs;
}

function expiriesOf({ home, standing }: ExpiryParts): readonly Expiry[] {
  const { config, ledger, clock, log, runFolders, host } = home;
  const { keepFilesMs, keepJournalMs, keepHistoryMs } = config.data;
  const files: Expiry = {
    of: host === null ? 'files' : `files of ${host.id}`,
    expire: (signal) =>
      expireFiles({ clock, log, runs: ledger.runs, audits: ledger.audits, signal }, runFolders, keepFilesMs),
  };
  const ended: Expiry = {
    of: 'ledger',
    expire: (signal) =>
      ledger.forget(clock.nowMs(), keepFilesMs, { journalMs: keepJournalMs, historyMs: keepHistoryMs, signal }),
  };
  return standing.leads() ? [files, ended] : [files];
}

async function inTurn({ home }: ExpiryParts, expiries: readonly Expiry[], signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  for (const { of, expire } of expiries) {
    try {
      await expire(signal);
      if (signal.aborted) return;
      await home.ledger.noteExpired(of, home.clock.nowMs());
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
