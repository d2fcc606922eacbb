/**
 * Trouble of the ledger's database, whichever it is: what passes by itself (kind `transient`), and damage, which does not.
 *
 * Invariant: such an error leaves no half transaction behind. Work that meets passing trouble ends early and is tried again.
 */
import { type Facts, PatchbayError } from '#src/errors.ts';

/** Told of each trouble of the database, and by null of each commit that changed it. Must not throw. */
export type LedgerObserver = (trouble: PatchbayError | null) => void;

/**
 * `ledgerBusy`: another process holds it; `diskFull`, `ledgerIoFails`: its disk; `ledgerReadOnly` takes no writes, or not of this user. Of a
 * database server alone: `ledgerAway` does not answer, or not now; `ledgerSlow` did not end a statement in time; `commitUnanswered` may have
 * committed or not.
 */
export type PassingCode =
  | ('ledgerBusy' | 'diskFull' | 'ledgerIoFails')
  | ('ledgerAway' | 'ledgerReadOnly' | 'ledgerSlow' | 'commitUnanswered');

/** What to do depends on whether a person waits or a command ends: the command line and the page say it. */
export function passing(code: PassingCode, message: string, cause: unknown, facts: Facts = {}): PatchbayError {
  return new PatchbayError('transient', code, message, { cause, facts });
}

/** Whether an error is trouble of the ledger's database. The engine reports it once; other processes that meet it may keep quiet. */
export function isLedgerTrouble(error: unknown): boolean {
  return error instanceof PatchbayError && Object.hasOwn(told, error.code);
}

const told: Readonly<Record<PassingCode | 'ledgerDamaged', true>> = {
  ...{ ledgerBusy: true, diskFull: true, ledgerIoFails: true, ledgerDamaged: true },
  ...{ ledgerAway: true, ledgerReadOnly: true, ledgerSlow: true, commitUnanswered: true },
};

/** Trouble of the ledger's database that passes by itself: what can wait does. */
export function isPassingTrouble(error: unknown): error is PatchbayError {
  return isLedgerTrouble(error) && error instanceof PatchbayError && error.kind === 'transient';
}

/**
 * Trouble that a command waits for before it begins: the database is away, or taken. A disk needs a person, who learns of it at once; and after a
 * commit without an answer something may have been entered.
 */
export function isLedgerAway(error: unknown): error is PatchbayError {
  return isPassingTrouble(error) && waitedForAtBeginning.includes(error.code);
}

const waitedForAtBeginning: readonly string[] = ['ledgerAway', 'ledgerReadOnly', 'ledgerBusy', 'ledgerSlow'];
