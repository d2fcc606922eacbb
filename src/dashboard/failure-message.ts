/** What a page says in its place where it cannot be made. */
import { PatchbayError } from '#src/errors.ts';
import type { Message } from './message-page.ts';

/** The page asks again this soon where the trouble passes by itself. */
const againSeconds = 5;

/** What to do about trouble that passes, for people who look at the page. */
const passingAdvice: Readonly<Record<string, string>> = {
  ledgerAway: 'Check that PostgreSQL runs where DATABASE_URL names it.',
  ledgerReadOnly:
    'Give this user the right to write the file and its folder. A database may be a standby, or set to read-only: let it take writes.',
  ledgerBusy: 'Another process keeps the ledger locked, perhaps a backup.',
  ledgerSlow: 'The database is overloaded, or a statement waits for a lock of another program.',
  ledgerIoFails: 'Check the disk of the ledger.',
  diskFull: 'Free some space on the disk of the ledger.',
};
const workWaits = 'Work waits and nothing is lost: it goes on by itself once that is over, and so does this page.';

/**
 * Null for an error that is to be logged: neither its message nor the address is shown or logged, since both may hold what a person typed. All
 * others were reported where they were met.
 */
export function failureMessage(error: unknown): Message | null {
  if (!(error instanceof PatchbayError)) return null;
  const { kind, code, message, hint } = error;
  switch (kind) {
    case 'damaged':
      // Every page would fail with it.
      return { status: 503, code, message, hint: hint ?? '' };
    case 'transient':
    case 'unreachable': {
      const advice = hint ?? passingAdvice[code];
      return {
        status: 503,
        code,
        message,
        hint: advice === undefined ? workWaits : `${advice} ${workWaits}`,
        againSeconds,
      };
    }
    case 'usage':
      return { status: 400, code, message, hint: hint ?? '' };
    default:
      return null;
  }
}

export const broken: Message = {
  status: 500,
  code: 'unexpected',
  message: 'the page could not be made',
  hint: 'Try again; see the log for what happened: patchbay logs --level error. Runs are not affected.',
};
