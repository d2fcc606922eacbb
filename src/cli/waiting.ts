/** What a command waits for, for people: once for each cause. */
import { formatDuration } from '#src/config/forms.ts';
import type { PatchbayError } from '#src/errors.ts';
import { printable } from './output.ts';

/** @param patienceMs infinite: until it is there, or the command is interrupted. */
export function waitingNotes(
  note: (text: string) => void,
  patienceMs: number,
): (what: 'service' | 'ledger', message: string) => void {
  const howLong = Number.isFinite(patienceMs) ? ` for up to ${formatDuration(patienceMs)} (--wait)` : '';
  let noted = '';
  return (what, message) => {
    if (message === noted) return;
    noted = message;
    note(`waiting for the ${what}${howLong}: ${printable(message)}`);
  };
}

/** The same of a ledger that is away, as `waitOut` calls it. */
export function ledgerNotes(note: (text: string) => void, patienceMs: number): (trouble: PatchbayError) => void {
  const say = waitingNotes(note, patienceMs);
  return ({ code, message }) => say('ledger', `${message} [${code}]`);
}
