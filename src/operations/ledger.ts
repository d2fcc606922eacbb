/** The ledger: check it, and back it up. Neither needs an engine, nor that none runs. */
import { resolve } from 'node:path';
import type { ServiceMode } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import type { LedgerPlace } from '#src/ledger/place.ts';
import type { LedgerCheck, LedgerState } from '#src/ledger/soundness.ts';
import { backUpLedger } from '#src/ledger/sqlite/back-up.ts';
import { checkLedger } from '#src/ledger/sqlite/check.ts';
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

/** @param mode whose ledger it is. @throws PatchbayError what checking throws. */
export async function checkTheLedgerAt(place: LedgerPlace, mode: ServiceMode): Promise<LedgerReport> {
  return await withAdvice(place, mode, async () => {
    if (place.kind === 'file') return checkLedgerFile(place.file);
    const { checkPostgresLedger } = await import('#src/ledger/postgres/check.ts');
    return reportOf(await checkPostgresLedger(place.url, place.suffix));
  });
}

/**
 * @param mode whose ledger it is.
 * @throws PatchbayError as `backUpLedgerFile`; `usage` `backupByServer`: a database is backed up by its own program.
 */
export async function backUpTheLedgerAt(place: LedgerPlace, mode: ServiceMode, target: string): Promise<LedgerReport> {
  if (place.kind === 'file') {
    const { file } = place;
    return await withAdvice(place, mode, () => backUpLedgerFile(file, target));
  }
  const { dumpCommand } = await import('#src/ledger/postgres/check.ts');
  throw new PatchbayError('usage', 'backupByServer', 'the ledger is in PostgreSQL, whose own program backs it up', {
    hint: `Run: ${dumpCommand(place.url, place.suffix, resolve(target))}`,
  });
}

/** Where there is no ledger (`ledgerMissing`), the advice depends on whose was looked for, and where. */
export async function withAdvice<Result>(
  { kind }: LedgerPlace,
  mode: ServiceMode,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.code !== 'ledgerMissing') throw error;
    const hint = `${missingHints[kind][mode]}. A ledger is made by the first command that works: patchbay start`;
    throw new PatchbayError('usage', error.code, error.message, { hint, cause: error });
  }
}

const missingHints: Readonly<Record<LedgerPlace['kind'], Readonly<Record<ServiceMode, string>>>> = {
  file: {
    real: 'Check the name of the data folder (--data), and whether the ledger of the sandbox is meant (--sandbox)',
    sandbox: 'Check the name of the data folder (--data); this would be the ledger of the sandbox',
  },
  database: {
    real: 'Name its schema with schema=NAME in DATABASE_URL, or say --sandbox for that of the sandbox',
    sandbox: 'Name its schema with schema=NAME in DATABASE_URL; that of the sandbox is NAME_sandbox',
  },
};

/** Marks a damaged ledger, which stops all work on it, as damage that is met during work; lifts the mark of a sound one. */
function checkLedgerFile(file: string): LedgerReport {
  const check = checkLedger(file);
  if (check.state === 'damaged') markDamaged(file, ledgerDamaged(file, check.findings[0]?.message ?? ''));
  else liftMark(file);
  return reportOf(check);
}

/**
 * Writes a backup into a new file and checks it, also while an engine works.
 * @throws PatchbayError `damaged` where the ledger is; what `backUpLedger` throws.
 */
async function backUpLedgerFile(file: string, target: string): Promise<LedgerReport> {
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
