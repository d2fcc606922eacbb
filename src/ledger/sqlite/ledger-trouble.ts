/**
 * Trouble of the ledger's file that passes: another process holds it, or its disk has no room or fails.
 *
 * Invariant: such an error left no half transaction behind. Whoever meets it ends early and comes again.
 */
import { PatchbayError } from '#src/errors.ts';

/** Primary result codes of SQLite; the upper bits of an extended code say more. */
const primary = { busy: 5, locked: 6, ioError: 10, full: 13 } as const;
/** The shared index of the log could not grow: a full disk too. */
const shmSize = 4_874;

const hint = 'Nothing is lost: work goes on by itself.';

/**
 * The error in our words; null where it is another one.
 * Kind `transient`: `ledgerBusy`, `diskFull`, `ledgerIoFails`.
 */
export function ledgerTroubleOf(error: unknown): PatchbayError | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  const code = Number(error.errcode);
  switch (code === shmSize ? primary.full : code & 0xff) {
    case primary.busy:
    case primary.locked:
      return new PatchbayError('transient', 'ledgerBusy', 'another process holds the ledger and does not let go', {
        hint,
        cause: error,
      });
    case primary.full:
      return new PatchbayError('transient', 'diskFull', 'the disk has no room for the ledger', {
        hint: `Make room on the disk of the data folder. ${hint}`,
        cause: error,
      });
    case primary.ioError:
      return new PatchbayError('transient', 'ledgerIoFails', `the ledger's disk fails: ${error.message}`, {
        facts: { sqliteCode: code },
        hint: `Check the disk of the data folder. ${hint}`,
        cause: error,
      });
    default:
      return null;
  }
}
