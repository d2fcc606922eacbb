/** The ledger's file: check it, and back it up. Neither needs an engine, nor that none runs. */
import { resolve } from 'node:path';
import { PatchbayError } from '#src/errors.ts';
import { backUpLedger } from '#src/ledger/sqlite/back-up.ts';
import { checkLedger, type LedgerCheck, type LedgerState } from '#src/ledger/sqlite/check.ts';
import { ledgerDamaged, liftMark, markDamaged } from '#src/ledger/sqlite/damage.ts';
import { exitCodes } from '#src/runs/exit-code.ts';

const exitCodeOfState: Readonly<Record<LedgerState, number>> = {
  sound: exitCodes.done,
  damaged: exitCodes.unexpected,
  inconsistent: exitCodes.dead,
};

const hintOfState: Readonly<Record<LedgerState, string | null>> = {
  sound: null,
  damaged: ledgerDamaged('', '').hint,
  inconsistent: 'It can be read, and work continues. Keep a copy of the file, and report this with the lines above.',
};

export interface LedgerReport extends LedgerCheck {
  /** What to do next; null for a sound one. */
  readonly hint: string | null;
  readonly exitCode: number;
}

/** Marks a damaged ledger, which stops all work on it, as damage that is met during work; lifts the mark of a sound one. */
export function checkLedgerFile(file: string): LedgerReport {
  const check = checkLedger(file);
  if (check.state === 'damaged') markDamaged(file, ledgerDamaged(file, check.findings[0]?.message ?? ''));
  else liftMark(file);
  return reportOf(check);
}

/**
 * Writes a backup into a new file and checks it, also while an engine works.
 * @throws PatchbayError `damaged` where the ledger is; what `backUpLedger` throws.
 */
export async function backUpLedgerFile(file: string, target: string): Promise<LedgerReport> {
  try {
    return reportOf(await backUpLedger(file, resolve(target)));
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'damaged') markDamaged(file, error);
    throw error;
  }
}

function reportOf(check: LedgerCheck): LedgerReport {
  return { ...check, hint: hintOfState[check.state], exitCode: exitCodeOfState[check.state] };
}
